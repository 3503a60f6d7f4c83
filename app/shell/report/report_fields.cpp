#include "app/shell/report/report_fields.h"

#include "app/shell/report/report_parts.h"
#include "app/state/model_document.h"
#include "app/state/screens/screen.h"
#include "app/views/action_context.h"
#include "app/views/files/file_views.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using nlohmann::json;
using ReportedState = ReportSource;

/// Returns the texts of queries and keys; the second is empty if both come from one text.
std::pair<std::string, std::string> reported_texts(const Document& document) {
    if (document.is_given())
        return {};
    if (!document.is_checkpoint())
        return {document.recipe.sentence, document.recipe.kv_sentence};
    const RunSpec& part = *document.part();
    if (!part.two_texts() || document.stack() == checkpoint::Stack::encoder)
        return {part.prompt, ""};
    return {part.target, document.stack() == checkpoint::Stack::cross ? part.prompt : ""};
}

/// Returns the preset; empty if the numbers come from a file.
std::string reported_preset(const Document& document) {
    const bool built = document.is_experiment() && document.recipe.base == nullptr;
    return built ? document.recipe.preset : "";
}

std::string_view document_kind(const Document& document) {
    return document.is_given()               ? "attention weights"
           : document.is_checkpoint()        ? "checkpoint"
           : document.recipe.base != nullptr ? "problem"
                                             : "sentence";
}

std::string_view screen_on_canvas(const AppState& state) {
    const Screen screen = screen_of(state.shown, state.view);
    if (screen == state.view.attention.screen)
        return screen_name(state.view.attention);
    for (const NamedScreen& one : named_screens())
        if (one.screen == screen)
            return one.name;
    return "stages";
}

std::string_view open_stack_name(const AppState& state) {
    constexpr std::string_view names[] = {"decoder", "encoder", "cross"};
    const bool several = state.document->is_checkpoint() && state.document->part()->two_texts();
    return several ? names[static_cast<std::size_t>(state.document->stack())] : "";
}

std::string dialog_on_screen(const AppState& state) {
    const std::string dialog = dialog_name(state.files);
    return !dialog.empty() ? dialog : state.settings_open ? "settings" : state.palette.open ? "commands" : "";
}

/// Returns the side of the comparison on screen; the atlas has its own, because it is computed later.
Compare compared_side(const AppState& state) {
    const bool atlas = screen_of(state.shown, state.view) == Screen::atlas && state.shown.atlas != nullptr;
    return atlas ? state.shown.atlas->side : side_on_screen(state);
}

json shown_attention(const AppState& state) {
    if (!state.document->shows_weights())
        return nullptr;
    json shown{{"file", state.document->is_given() ? state.document->given()->set->info().title
                                                   : state.document->title},
               {"layer", state.view.attention.layer},
               {"head", state.view.head},
               {"ready", state.head_grid->ready()}};
    if (state.document->is_given() && state.document->given()->set->info().options != nullptr) {
        const AttentionChoice& choice = state.document->given()->set->info().choice;
        shown["part"] = choice.part;
        shown["text"] = choice.text.value_or(0);
    }
    return shown;
}

json selected_weight(const Shown& shown) {
    if (shown.map == nullptr || !shown.map->selected)
        return nullptr;
    return {{"query", shown.map->selected->query},
            {"key", shown.map->selected->key},
            {"value", shown.map->selected->weight}};
}

json gains_of(const AppState& state) {
    if (state.document->is_given())
        return nullptr;
    auto gains = json::array();
    for (std::int64_t h = 0; h < state.document->problem.dims.H; ++h)
        gains.push_back(number_json(state.document->problem.gain(h)));
    return gains;
}

json temperature_of(const AppState& state) {
    return state.document->is_given() ? json() : number_json(state.document->recipe.temperature);
}

json rect_json(const figure::Rect& area, float scale) {
    return {area.x * scale, area.y * scale, area.w * scale, area.h * scale};
}

json numbers_field(const GridSource& grid, const char* name) {
    if (!grid.numbers.is_object())
        return nullptr;
    const auto found = grid.numbers.find(name);
    return found == grid.numbers.end() ? json() : *found;
}

} // namespace

const std::vector<ReportField<ReportSource>>& report_fields() {
    // clang-format off
    static const std::vector<ReportField<ReportedState>> all{
        {"revision", "integer", "the number of documents shown so far; grows with every change, undo and filter, and never falls; 0 before the first", [](const ReportedState& s) { return json(s.facts.revision); }},
        {"settled", "bool", "the newest document is computed and shown, and no animation runs", [](const ReportedState& s) { return json(s.facts.settled); }},
        {"document", "string", "`sentence`, `problem` (from a file), `checkpoint` or `attention weights`", [](const ReportedState& s) { return json(document_kind(*s.state.document)); }},
        {"checkpoint", "object", "of a checkpoint: `path`, `name`, `family`, `layers` and `heads` of the open stack, and `edited`; otherwise left out", [](const ReportedState& s) { return checkpoint_part(s.state); }},
        {"sentence", "string", "the sentence of the newest valid document; the text in the field may be newer, or invalid. For a checkpoint its prompt, for a decoder with an encoder the decoder's text; empty for a file of attention weights", [](const ReportedState& s) { return json(reported_texts(*s.state.document).first); }},
        {"text_pair", "string", "the second of [two texts](checkpoints.md#two-texts) of a checkpoint; empty: none", [](const ReportedState& s) { return json(s.state.document->is_checkpoint() ? s.state.document->part()->pair : ""); }},
        {"typed_pair", "2 strings", "the texts around a separator in the prompt, while the window asks if they are two texts; otherwise left out", [](const ReportedState& s) { return s.state.model.typed_pair ? json{s.state.model.typed_pair->first, s.state.model.typed_pair->second} : json(); }},
        {"preset", "string", "its preset's id, for example `first-lesson`; empty when the numbers come from a file or a checkpoint", [](const ReportedState& s) { return json(reported_preset(*s.state.document)); }},
        {"tokens", "strings", "its query tokens, Tq of them", [](const ReportedState& s) { return json(s.state.document->problem.tokens); }},
        {"kv_sentence", "string", "the second sentence, the source of keys and values; in the cross-attention of a checkpoint the encoder's text; empty: self-attention", [](const ReportedState& s) { return json(reported_texts(*s.state.document).second); }},
        {"kv_tokens", "strings", "its tokens, Tk of them; empty in self-attention", [](const ReportedState& s) { return json(s.state.document->problem.kv_tokens); }},
        {"screen", "string", "the screen on the canvas, by the names of `--screen` of `headscope render`", [](const ReportedState& s) { return json(screen_on_canvas(s.state)); }},
        {"stack", "string", "`encoder`, `decoder` or `cross` for a checkpoint with an encoder and a decoder; otherwise empty", [](const ReportedState& s) { return json(open_stack_name(s.state)); }},
        {"layer", "integer", "the open layer of that stack or file, from 0; 0 for a sentence", [](const ReportedState& s) { return json(s.state.document->has_head_grid() ? s.state.view.attention.layer : 0); }},
        {"head", "integer", "the head in focus, from 0; a mean of heads has the number after the last head", [](const ReportedState& s) { return json(s.state.view.head); }},
        {"gains", "numbers", "the head gains of the open attention; left out for a file of attention weights", [](const ReportedState& s) { return gains_of(s.state); }},
        {"temperature", "number", "what the scores are divided by; left out likewise", [](const ReportedState& s) { return temperature_of(s.state); }},
        {"stage", "string", "the name on the strip: `x`, `q k v`, `split`, `c2p`, `p2c`, `scores`, `scaled`, `masked`, `weights`, `head_out`, `gate`, `concat`, `contributions`, `output`; for a checkpoint also, around its attention, `embedding`, `position`, `resid_in`, `norm1`, `delta`, `state`, `out`, `attn_out`, `resid_mid`, `norm2`, `mlp_pre`, `mlp_gate`, `mlp_act`, `mlp_shared`, `routing`, `mlp_experts`, `mlp_raw`, `mlp_out`, `resid_out`, of models with several copies of the residual stream `predicted`, `laurel_out`, `mlp_sparse`, `activated`, `corrected`, `layer_out`, `merged`, then `final_norm`, `logits`, `probabilities`", [](const ReportedState& s) { return json(group_info(s.state.view.group).label); }},
        {"row", "integer", "the query row stepped through; -1: the whole stage", [](const ReportedState& s) { return json(s.state.view.row); }},
        {"position", "integer", "for a checkpoint: the token after which predictions are shown; otherwise left out", [](const ReportedState& s) { return s.state.document->is_checkpoint() ? json(s.state.shown.position) : json(); }},
        {"selected", "object", "the selected number or block: `tensor`, `at` (its first index on each axis), `rows`, `cols`, `cell` (as `select` takes it) and `value` of the first number; left out while none is selected", [](const ReportedState& s) { return selected_part(s.state); }},
        {"inspector", "strings", "the lines of the inspector, which explain the number under the mouse, otherwise the selected one, otherwise one of the stage; line breaks may differ from the window. Left out while the window is not settled", inspector_part},
        {"attention", "object", "for a file of attention weights, and for a checkpoint while its weights are filtered: `file` (its name), `layer`, `head` and `ready` (all heads of the grid are read), and, of a file with several texts or attentions, `part` and `text` (from 0); otherwise left out", [](const ReportedState& s) { return shown_attention(s.state); }},
        {"compare", "string", "what is on screen: `now`, `baseline` (A) or `difference` (B − A)", [](const ReportedState& s) {
             static constexpr const char* comparisons[] = {"now", "baseline", "difference"};
             return json(comparisons[static_cast<std::size_t>(compared_side(s.state))]);
         }},
        {"weight", "object", "the weight selected on a [map of a long text](maps.md): `query`, `key` (from 0) and `value` (null: not finite); left out while none is selected", [](const ReportedState& s) { return selected_weight(s.state.shown); }},
        {"error", "string", "the message about the last input, otherwise about numbers of the current screen that cannot be computed; or empty", [](const ReportedState& s) {
             const std::vector<std::string> faults = visible_errors(s.state);
             return json(faults.empty() ? "" : faults.front());
         }},
        {"notice", "string", "the message in the bottom bar or over the canvas about the last action; or empty", [](const ReportedState& s) { return json(s.state.files.notice.empty() ? s.state.notice : s.state.files.notice); }},
        {"dark", "bool", "the dark theme", [](const ReportedState& s) { return json(s.state.view.dark); }},
        {"playing", "bool", "playback is running", [](const ReportedState& s) { return json(s.state.view.playing); }},
        {"project", "string", "the path of the project's file; empty while it has none", [](const ReportedState& s) { return json(s.state.files.path); }},
        {"unsaved", "bool", "the document differs from that file, or from the document that the window opened with", [](const ReportedState& s) { return json(s.state.files.unsaved); }},
        {"saved", "string", "the state in the bottom bar: `saved`, `autosaved`, `not saved`, or empty", [](const ReportedState& s) { return json(save_status(s.state.files).text); }},
        {"typing", "bool", "a text field has the keyboard", [](const ReportedState& s) { return json(s.state.typing); }},
        {"dialog", "string", "the dialog in front of the window: `unsaved changes`, `damaged project`, `file chooser`, `hub` (*Open from the Hub*), `attention choice`, `recovery`, `settings`, `commands` (the command palette), or empty", [](const ReportedState& s) { return json(dialog_on_screen(s.state)); }},
        {"question", "object", "the open [question](#a-question) or dialog; left out while there is none", question_part},
        {"jobs", "objects", "the work in progress: `kind` (`file`, `hub`, `run`, `writing`, `map`, `devices`, `comparison of devices` or `check`), `label` and `fraction` from 0 to 1 (null: not known)", [](const ReportedState& s) { return jobs_part(s.state); }},
        {"presenting", "bool", "the canvas is presented without panels", [](const ReportedState& s) { return json(s.state.presentation.on); }},
        {"lesson", "object", "the open lesson: `id`, `page` and `pages` (page 0 is the opening), and `questions`, the questions of the open step with `id`, `answered`, `shown` (the program gave the answer) and `tries` (answers that were not accepted); left out while no lesson is open", lesson_part},
        {"actions", "objects", "what can be done on this screen, see below", actions_part},
        {"table", "object", "the numbers of a screen other than the stages and the Flow, as *Numbers of this stage* writes them: `columns`, the number of `rows`, and `values` row by row. With more than 64 rows or columns, `extremes` of each column instead: `min`, `max` and their rows. On the map of a long text, its strongest far weights. Left out while they are not known", table_part},
        {"grids", "objects", "the matrices of the canvas, in drawing order", grids_part},
    };
    // clang-format on
    return all;
}

const std::vector<ReportField<GridSource>>& grid_fields() {
    using Grid = GridSource;
    // clang-format off
    static const std::vector<ReportField<Grid>> all{
        {"tensor", "string", "its name in `headscope trace`", [](const Grid& g) { return json(tensor_info(g.grid.tensor).name); }},
        {"origin", "4 integers", "index of the first cell, outermost axis first; unused axes are 0", [](const Grid& g) { return json(g.grid.origin); }},
        {"row_axis", "integer", "the axis of the tensor that runs down", [](const Grid& g) { return json(g.grid.row_axis); }},
        {"col_axis", "integer", "the axis of the tensor that runs across", [](const Grid& g) { return json(g.grid.col_axis); }},
        {"rows", "integer", "number of rows", [](const Grid& g) { return json(g.grid.rows); }},
        {"cols", "integer", "number of columns", [](const Grid& g) { return json(g.grid.cols); }},
        {"area", "4 numbers", "left, top, width, height of all cells", [](const Grid& g) { return rect_json(g.grid.area, g.all.facts.scale); }},
        {"pitch", "2 numbers", "the distance from one cell to the next, across and down", [](const Grid& g) { return json{g.grid.pitch_x * g.all.facts.scale, g.grid.pitch_y * g.all.facts.scale}; }},
        {"gap", "number", "the part of the pitch between two cells", [](const Grid& g) { return json(g.grid.gap * g.all.facts.scale); }},
        {"heatmap", "bool", "cells are colored by value", [](const Grid& g) { return json(g.grid.heatmap); }},
        {"map", "string", "color map: `head` (the ramp of the head at `origin[1]`; with more than 8 heads, the ramp of `neutral`), `neutral` (also the mean of heads, and an ablated head), `diverging`, `viridis`, `cividis`, `magma`", [](const Grid& g) { return json(g.grid.map); }},
        {"by_row", "bool", "`low` and `high` are distances from the largest value of the row (scores)", [](const Grid& g) { return json(g.grid.relative_to_row_max); }},
        {"low", "number", "value at the first color", [](const Grid& g) { return json(g.grid.low); }},
        {"high", "number", "value at the last color", [](const Grid& g) { return json(g.grid.high); }},
        {"actual", "bool", "cells show the tensor's own values, not a difference or a mean", [](const Grid& g) { return json(g.grid.shows_own_values); }},
        {"values", "rows of numbers", "the numbers of a matrix with at most 64 rows and 64 columns, for at most 16,384 numbers of a report; with `compare` as `baseline` or `difference` those of A or of B − A; null: not finite. Left out while the window is not settled, and for means and differences of heads", [](const Grid& g) { return numbers_field(g, "values"); }},
        {"min", "number", "of a larger matrix: its smallest finite number", [](const Grid& g) { return numbers_field(g, "min"); }},
        {"min_at", "2 integers", "row and column of that number in the matrix", [](const Grid& g) { return numbers_field(g, "min_at"); }},
        {"max", "number", "of a larger matrix: its largest finite number", [](const Grid& g) { return numbers_field(g, "max"); }},
        {"max_at", "2 integers", "row and column of that number in the matrix", [](const Grid& g) { return numbers_field(g, "max_at"); }},
        {"not_finite", "integer", "of a larger matrix: how many numbers are not finite; left out if there are none", [](const Grid& g) { return numbers_field(g, "not_finite"); }},
    };
    // clang-format on
    return all;
}

template<class Source>
json object_of(const std::vector<ReportField<Source>>& fields, const Source& source) {
    json out = json::object();
    for (const ReportField<Source>& field : fields)
        if (json value = field.value(source); !value.is_null())
            out[std::string(field.name)] = std::move(value);
    return out;
}

template json object_of(const std::vector<ReportField<ReportSource>>& fields, const ReportSource& source);
template json object_of(const std::vector<ReportField<GridSource>>& fields, const GridSource& source);

} // namespace headscope::app
