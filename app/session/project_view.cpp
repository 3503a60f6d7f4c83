#include "app/session/project_view.h"

#include "app/commands/attention_change.h"
#include "app/commands/view_change.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/trace/find_stop.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

using nlohmann::json;

// Indexed by the values of the enums.
constexpr std::array<std::string_view, 4> weights_views{"heatmap", "arcs", "text", "graph"};
constexpr std::array<std::string_view, 3> heads_views{"each", "difference", "mean"};
constexpr std::array<std::string_view, 3> projections{"q", "k", "v"};
constexpr std::array<std::string_view, 3> stack_names{"decoder", "encoder", "cross"};

template<class Names, class Value>
std::string name_of(const Names& names, Value value) {
    return std::string(names[static_cast<std::size_t>(value)]);
}

/// Returns the field of an object; null if there is none.
json field(const json& object, std::string_view key) {
    const auto at = object.find(std::string(key));
    return at == object.end() ? json() : *at;
}

template<class Names, class Value>
void read_name(const json& name, const Names& names, Value& into) {
    if (name.is_string())
        if (const auto at = std::ranges::find(names, name.get<std::string>()); at != names.end())
            into = static_cast<Value>(at - names.begin());
}

void read_whole(const json& number, std::int64_t& into) {
    if (number.is_number_integer())
        into = number.get<std::int64_t>();
}

json cell_json(const CellAddress& cell) {
    json at = json::array();
    for (int axis = 0; axis < tensor_info(cell.tensor).rank(); ++axis)
        at.push_back(cell.at[static_cast<std::size_t>(axis)]);
    return {{"tensor", tensor_info(cell.tensor).name}, {"at", at}};
}

/// Returns a cell that the problem has; otherwise nothing.
std::optional<CellAddress> read_cell(const json& value, const Problem& problem) {
    const json name = value.is_object() ? field(value, "tensor") : json();
    const auto tensor = name.is_string() ? find_tensor(name.get<std::string>()) : std::nullopt;
    if (!tensor || is_block_weight(*tensor) || is_around(tensor_info(*tensor).group) ||
        !has_tensor(*tensor, problem.parts()))
        return std::nullopt;
    const Shape shape = tensor_info(*tensor).shape(problem.dims);
    const json at = field(value, "at");
    if (!at.is_array() || at.size() != static_cast<std::size_t>(shape.rank()))
        return std::nullopt;
    CellAddress cell{.tensor = *tensor};
    for (int axis = 0; axis < shape.rank(); ++axis) {
        std::int64_t index = -1;
        read_whole(at[static_cast<std::size_t>(axis)], index);
        if (index < 0 || index >= shape[axis])
            return std::nullopt;
        cell.at[static_cast<std::size_t>(axis)] = index;
    }
    return cell;
}

void read_map(const json& map, MapWindow& into) {
    const auto read = [&](std::string_view key, float low, float high, float& number) {
        if (const json value = field(map, key); value.is_number())
            number = std::clamp(value.get<float>(), low, high);
    };
    if (!map.is_object())
        return;
    read("zoom", 1, largest_map_zoom, into.zoom);
    const float half = 0.5F / into.zoom;
    read("x", half, 1 - half, into.x);
    read("y", half, 1 - half, into.y);
}

void read_flag(const json& value, bool& into) {
    if (value.is_boolean())
        into = value.get<bool>();
}

/// Reads the list of sentences. A project without one keeps the list of the window.
void read_list(ViewState& view, const json& saved) {
    const json lines = field(saved, "sentences");
    if (!lines.is_array())
        return;
    std::string text;
    for (const json& line : lines)
        if (line.is_string())
            text += line.get<std::string>() + '\n';
    try {
        view.sentences = parse_sentences(text, "the view of a project");
    } catch (const Error&) {
        return; // not a list that this program wrote
    }
    std::int64_t at = -1;
    read_whole(field(saved, "sentence"), at);
    view.sentence = static_cast<int>(std::clamp<std::int64_t>(at, -1, std::ssize(*view.sentences) - 1));
}

json checkpoint_json(const ViewState& view) {
    const AttentionView& attention = view.attention;
    json reading = json::array();
    for (const analysis::ReadingInfo& info : analysis::readings())
        if (attention.reading.*info.option)
            reading.push_back(info.id);
    json saved{{"screen", screen_name(attention)},
               {"stack", stack_names[static_cast<std::size_t>(attention.stack)]},
               {"layer", attention.layer},
               {"patch", attention.patch},
               {"board", attention.head_grid_open},
               {"log_colours", attention.log_colours},
               {"one_head", view.one_head},
               {"reading", reading}};
    if (attention.first_source_token)
        saved["brought_from"] = *attention.first_source_token;
    if (attention.join_components)
        saved["join_writers"] = *attention.join_components;
    return saved;
}

/// Reads screen, layer and reading options. Must run before the stage is read, because not every layer has
/// every stage.
void read_checkpoint_view(ViewState& view, const json& saved, const Document& document) {
    AttentionView& attention = view.attention;
    const RunSpec& part = *document.part();
    if (part.two_texts())
        read_name(field(saved, "stack"), stack_names, attention.stack);
    std::int64_t layer = attention.layer;
    read_whole(field(saved, "layer"), layer);
    const std::int64_t last = in_stack(part.config(), attention.stack).layers - 1;
    attention.layer = std::clamp<std::int64_t>(layer, 0, last);
    view.step_strip = step_strip_of(part, attention.stack, attention.layer);
    if (const json name = field(saved, "screen"); name.is_string())
        if (const NamedScreen* const screen = find_screen(name.get<std::string>());
            screen != nullptr && has_screen(document, screen->screen)) {
            attention.screen = screen->screen;
            attention.effects = screen->effects;
        }
    if (const json cell = field(saved, "patch"); cell.is_array() && cell.size() == attention.patch.size())
        for (std::size_t n = 0; n < cell.size(); ++n)
            read_whole(cell[n], attention.patch[n]);
    read_flag(field(saved, "board"), attention.head_grid_open);
    read_flag(field(saved, "log_colours"), attention.log_colours);
    read_flag(field(saved, "one_head"), view.one_head);
    if (const json first = field(saved, "brought_from"); first.is_number_integer())
        attention.first_source_token =
            std::clamp<std::int64_t>(first.get<std::int64_t>(), 0, part.inputs->T - 1);
    if (const json joined = field(saved, "join_writers"); joined.is_boolean())
        attention.join_components = joined.get<bool>();
    if (const json reading = field(saved, "reading"); reading.is_array())
        for (const analysis::ReadingInfo& info : analysis::readings())
            if (!(attention.reading.*info.option) &&
                std::ranges::find(reading, json(info.id)) != reading.end())
                attention.reading = analysis::turned(attention.reading, info.option);
}

void read_view(ViewState& view, const json& saved, const Document& document) {
    const Problem& problem = document.problem;
    if (document.is_checkpoint())
        read_checkpoint_view(view, saved, document);
    if (const json stage = field(saved, "stage"); stage.is_string())
        if (const auto step = find_stop(stage.get<std::string>()); step && view.step_strip.has(*step))
            view.group = view.previous_step = *step;
    read_whole(field(saved, "head"), view.head);
    read_whole(field(saved, "other"), view.compared_head);
    read_whole(field(saved, "batch"), view.batch);
    read_whole(field(saved, "row"), view.row);
    read_name(field(saved, "weights"), weights_views, view.weights_view);
    read_name(field(saved, "heads"), heads_views, view.heads_view);
    read_name(field(saved, "projection"), projections, view.projection);
    read_map(field(saved, "map"), view.attention.map);
    view.selected = read_cell(field(saved, "selected"), problem);
    view.block_end = read_cell(field(saved, "block_end"), problem);
    if (view.selected && view.block_end && view.selected->tensor != view.block_end->tensor)
        view.block_end.reset();
    read_list(view, saved);
    clamp_to(view, problem.dims);
}

} // namespace

std::string project_view_json(const ViewState& view, const Document& document,
                              const std::vector<std::string>& steps) {
    const MapWindow& map = view.attention.map;
    json saved{{"stage", group_info(view.group).label},
               {"head", view.head},
               {"other", view.compared_head},
               {"batch", view.batch},
               {"row", view.row},
               {"weights", name_of(weights_views, view.weights_view)},
               {"heads", name_of(heads_views, view.heads_view)},
               {"projection", name_of(projections, view.projection)},
               {"map", {{"zoom", map.zoom}, {"x", map.x}, {"y", map.y}}},
               {"steps", steps}};
    if (view.selected)
        saved["selected"] = cell_json(*view.selected);
    if (view.selected && view.block_end)
        saved["block_end"] = cell_json(*view.block_end);
    if (view.sentences != nullptr) {
        saved["sentences"] = *view.sentences;
        saved["sentence"] = view.sentence;
    }
    if (document.is_checkpoint())
        saved.update(checkpoint_json(view));
    return dump_json(saved);
}

std::vector<std::string> apply_saved_view(ViewState& view, const std::string& text,
                                          const Document& document) {
    json saved;
    try {
        saved = parse_json_with_bytes(text, "the view of a project");
    } catch (const Error&) {
        return {}; // open the numbers with the default view
    }
    std::vector<std::string> steps;
    if (!saved.is_object())
        return steps;
    read_view(view, saved, document);
    if (const json labels = field(saved, "steps"); labels.is_array())
        for (const json& label : labels)
            if (label.is_string())
                steps.push_back(label.get<std::string>());
    return steps;
}

} // namespace headscope::app
