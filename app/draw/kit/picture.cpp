#include "app/draw/kit/picture.h"

#include "app/state/model_document.h"
#include "core/text/shaping.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace headscope::app {

namespace {

/// The cell with the largest value (scores, weights, logits) or magnitude (other tensors) in a row along the
/// last axis. If heads are concatenated, only the columns of the focused head count.
CellAddress largest_of_row(const Shown& shown, const ViewState& view, TensorId id, std::int64_t row) {
    const TensorInfo& info = tensor_info(id);
    const Dims& dims = shown.dims();
    Index at{view.batch, row, 0, 0};
    if (info.rank() == 4)
        at = {view.batch, info.axes[1] == Axis::Hkv ? dims.kv_head(view.head) : view.head, row, 0};
    const auto last = static_cast<std::size_t>(info.rank() - 1);
    std::int64_t begin = 0, end = extent(info.axes[last], dims);
    if (info.axes[last] == Axis::H_dk) {
        begin = view.head * dims.dk;
        end = begin + dims.dk;
    } else if (info.axes[last] == Axis::H_dv) {
        begin = view.head * dims.dv;
        end = begin + dims.dv;
    }
    // For logits the largest value: it is the likeliest token, while a low logit says little.
    const bool by_size = info.scale == Scale::values && id != TensorId::logits;
    CellAddress best{id, at};
    best.at[last] = begin;
    float largest = -INFINITY;
    for (std::int64_t c = begin; c < end; ++c) {
        at[last] = c;
        const float value = shown.value({id, at});
        const float rank = by_size ? std::abs(value) : value;
        if (rank > largest) {
            largest = rank;
            best.at = at;
        }
    }
    return best;
}

} // namespace

TensorId main_tensor(const ViewState& view) {
    const GroupInfo& group = group_info(view.group);
    return group.page == Page::projection ? group.by_projection[static_cast<std::size_t>(view.projection)]
                                          : group.main;
}

figure::Rect MatrixGrid::cell(std::int64_t row, std::int64_t col) const {
    return {area.x + pitch_x * static_cast<float>(col), area.y + pitch_y * static_cast<float>(row),
            pitch_x - gap, pitch_y - gap};
}

Index MatrixGrid::index(std::int64_t row, std::int64_t col) const {
    Index out = origin;
    out[static_cast<std::size_t>(row_axis)] += row;
    if (column_indices.empty())
        out[static_cast<std::size_t>(col_axis)] += col;
    else
        out[static_cast<std::size_t>(col_axis)] = column_indices[static_cast<std::size_t>(col)];
    return out;
}

std::optional<CellAddress> MatrixGrid::at(float x, float y) const {
    if (!area.contains(x, y))
        return std::nullopt;
    const auto col = std::min(static_cast<std::int64_t>((x - area.x) / pitch_x), cols - 1);
    const auto row = std::min(static_cast<std::int64_t>((y - area.y) / pitch_y), rows - 1);
    return CellAddress{tensor, index(row, col)};
}

std::optional<std::pair<std::int64_t, std::int64_t>> MatrixGrid::find(const Index& wanted) const {
    const auto row = wanted[static_cast<std::size_t>(row_axis)] - origin[static_cast<std::size_t>(row_axis)];
    const std::int64_t across = wanted[static_cast<std::size_t>(col_axis)];
    const auto col = column_indices.empty()
                         ? across - origin[static_cast<std::size_t>(col_axis)]
                         : std::ranges::find(column_indices, across) - column_indices.begin();
    if (row < 0 || row >= rows || col < 0 || col >= cols || index(row, col) != wanted)
        return std::nullopt;
    return std::pair(row, col);
}

void Picture::add_hotspot(const figure::Rect& area, std::string label, Action action, std::string tip) {
    hotspots.push_back({area, std::move(label), std::move(action), std::move(tip)});
}

void Picture::move_by(float dx, float dy) {
    const auto move = [dx, dy](figure::Rect& area) {
        area.x += dx;
        area.y += dy;
    };
    scene.move_by(dx, dy);
    std::ranges::for_each(grids, move, &MatrixGrid::area);
    std::ranges::for_each(hotspots, move, &Hotspot::area);
    std::ranges::for_each(sliders, move, &Slider::track);
    std::ranges::for_each(drags, move, &DragArea::area);
    std::ranges::for_each(drags, move, &DragArea::reference_area);
    std::ranges::for_each(fields, move, &TextField::area);
    std::ranges::for_each(lists, move, &DropDown::area);
    std::ranges::for_each(token_words, move, &TokenWord::area);
    std::ranges::for_each(tips, move, &Tip::area);
    std::ranges::for_each(tags, move, &CellTag::area);
    if (pointed_area.w > 0)
        move(pointed_area);
}

void Picture::append(Picture other, float dx, float dy) {
    other.move_by(dx, dy);
    scene.append(std::move(other.scene), 0, 0);
    const auto all_of = [](auto& from, auto& to) { std::ranges::move(from, std::back_inserter(to)); };
    all_of(other.grids, grids);
    all_of(other.hotspots, hotspots);
    all_of(other.sliders, sliders);
    all_of(other.drags, drags);
    all_of(other.fields, fields);
    all_of(other.lists, lists);
    all_of(other.token_words, token_words);
    all_of(other.tips, tips);
    all_of(other.tags, tags);
}

std::optional<CellAddress> current_cell(const Shown& shown, const ViewState& view) {
    if (const auto focus = view.focus(); focus && shown.is_known(*focus))
        return focus;
    const TensorId id = main_tensor(view);
    if (shown.trace == nullptr || shown.tensor(id) == nullptr)
        return std::nullopt;
    if (const auto change = std::ranges::find(shown.largest, id, &CellAddress::tensor);
        change != shown.largest.end() && view.row < 0)
        return *change;
    if (is_around(view.group)) {
        if (tensor_info(id).axes[2] == Axis::vocab)
            return largest_of_row(shown, view, id, shown.block->position);
        // The row may belong to another stack with more tokens.
        const std::int64_t row = current_row(view, shown.position);
        return largest_of_row(shown, view, id, std::clamp<std::int64_t>(row, 0, shown.dims().Tq - 1));
    }
    const bool over_keys = tensor_info(id).axes[1] == Axis::Tk;
    const std::int64_t rows = over_keys ? shown.dims().Tk : shown.dims().Tq;
    const std::int64_t row = view.row >= 0 ? std::min(view.row, rows - 1)
                             // With a grid of heads, the last row: only the last token of a text attends to
                             // the whole text.
                             : shown.document->has_head_grid() ? rows - 1
                                                               : std::min<std::int64_t>(2, rows - 1);
    return largest_of_row(shown, view, id, row);
}

std::string word_label(const std::vector<std::string>& tokens, std::int64_t i) {
    if (tokens.empty())
        return std::to_string(i);
    const std::string& word = tokens[static_cast<std::size_t>(i)];
    return std::ranges::count(tokens, word) == 1 ? word : word + "@" + std::to_string(i);
}

std::string query_word(const Problem& problem, std::int64_t i) {
    return word_label(problem.tokens, i);
}

std::string key_word(const Problem& problem, std::int64_t j) {
    return word_label(problem.cross() ? problem.kv_tokens : problem.tokens, j);
}

std::string address_text(const Shown& shown, const CellAddress& cell) {
    const TensorInfo& info = tensor_info(cell.tensor);
    const Problem& problem = shown.problem();
    const AttentionSetPtr& given = shown.document->shown_weights();
    const std::int64_t own_heads = given == nullptr ? problem.dims.H : given->info().own_heads();
    std::string heads, inner;
    for (int axis = 0; axis < info.rank(); ++axis) {
        const std::int64_t i = cell.at[static_cast<std::size_t>(axis)];
        switch (info.axes[static_cast<std::size_t>(axis)]) {
        case Axis::B:
            if (problem.dims.B > 1)
                heads += "[b " + std::to_string(i) + "]";
            break;
        case Axis::H:
        case Axis::Hkv:
            heads += "[" +
                     (i < own_heads ? std::to_string(i) : std::string(given->info().made_head.english)) + "]";
            break;
        case Axis::Tq:
            inner += (inner.empty() ? "" : ", ") + text::isolated(query_word(problem, i));
            break;
        case Axis::Tk:
            inner += (inner.empty() ? "" : ", ") + text::isolated(key_word(problem, i));
            break;
        case Axis::none:
        case Axis::D:
        case Axis::Dq:
        case Axis::Dkv:
        case Axis::dk:
        case Axis::dv:
        case Axis::d_ff:
        case Axis::d_expert:
        case Axis::experts:
        case Axis::vocab:
        case Axis::positions:
        case Axis::token_types:
        case Axis::d_embed:
        case Axis::H_dk:
        case Axis::Hkv_dk:
        case Axis::Hkv_dv:
        case Axis::H_dv:
        case Axis::delta_H:
        case Axis::delta_Hqk:
        case Axis::delta_dk:
        case Axis::delta_dv:
        case Axis::delta_Hqk_dk:
        case Axis::delta_H_dv:
        case Axis::distances:
            inner += (inner.empty() ? "" : ", ") + std::to_string(i);
        }
    }
    const Document& document = *shown.document;
    const bool around = is_block_stage(info.id);
    const bool in_layer = around && shown.block != nullptr && shown.block->place.layer >= 0;
    if (in_layer) {
        heads = "[" + std::to_string(shown.block->place.layer) + "]";
    } else if (document.is_checkpoint() && !around && is_of_layer(cell.tensor)) {
        heads = "[" + std::to_string(document.layer()) + "]" + heads;
    } else if (given != nullptr && given->info().L > 1) {
        const std::int64_t number = given->info().numbers[static_cast<std::size_t>(document.layer())];
        heads = "[" + (number < 0 ? "mean" : std::to_string(number)) + "]" + heads;
    }
    std::string stack;
    if (document.is_checkpoint() && (!around || in_layer))
        stack = stack_prefix(document.part()->config(), around ? shown.block->place.stack : document.stack());
    return stack + std::string(info.name) + heads + (inner.empty() ? "" : "[" + inner + "]");
}

const HeadColours& DrawContext::head_colours(std::int64_t h) const {
    const AttentionSetPtr& given = shown.document->shown_weights();
    const std::int64_t own = given == nullptr ? dims().H : given->info().own_heads();
    return h < own ? theme.head(h, own) : theme.no_head;
}

const Ramp& DrawContext::head_ramp(std::int64_t h) const {
    if (view.colour_map == ColourMap::head && shown.problem().gain(h) == 0.0F)
        return theme.neutral; // a head with head gain 0 is shown without its color
    return view.colour_map == ColourMap::head ? head_colours(h).ramp
                                              : theme.heat(h, dims().H, view.colour_map);
}

bool DrawContext::log_colours() const {
    return shown.document->has_head_grid() && view.attention.log_colours && !difference();
}

} // namespace headscope::app
