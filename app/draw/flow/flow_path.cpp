#include "app/draw/flow/flow_path.h"

#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_ribbons.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float least_share = 0.05F; ///< smaller parts of a sum stay pale
constexpr float pale = 0.74F;        ///< the opacity of what hides the rest
constexpr float lit_faint = 0.12F, lit_strong = 0.6F;

FlowPath path_of_query(const FlowPage& page, std::int64_t query) {
    const Dims& dims = page.dims();
    FlowPath path{
        .query = query, .heads = std::vector<bool>(static_cast<std::size_t>(dims.H), true), .keys = {}};
    for (std::int64_t h = 0; h < dims.H; ++h) {
        std::vector<float>& keys = path.keys.emplace_back();
        for (std::int64_t j = 0; j < dims.Tk; ++j)
            keys.push_back(page.weight(h, query, j));
    }
    return path;
}

void keep_head(FlowPath& path, std::int64_t head) {
    for (std::size_t h = 0; h < path.heads.size(); ++h)
        path.heads[h] = static_cast<std::int64_t>(h) == head;
}

void keep_key(FlowPath& path, std::int64_t key) {
    for (std::vector<float>& keys : path.keys)
        for (std::size_t j = 0; j < keys.size(); ++j)
            keys[j] = static_cast<std::int64_t>(j) == key ? std::max(keys[j], 2 * least_share) : 0;
}

FlowPath path_of_cell(const FlowPage& page, const CellAddress& cell) {
    const Dims& dims = page.dims();
    const Index& at = cell.at;
    const auto of_kv_head = [&](FlowPath& path, std::int64_t kv) {
        for (std::size_t h = 0; h < path.heads.size(); ++h)
            path.heads[h] = dims.kv_head(static_cast<std::int64_t>(h)) == kv;
    };
    FlowPath path = path_of_query(page, page.word);
    switch (cell.tensor) {
    case TensorId::x:
    case TensorId::output:
    case TensorId::concat:
        path = path_of_query(page, at[1]);
        if (cell.tensor == TensorId::concat)
            keep_head(path, at[2] / dims.dv);
        break;
    case TensorId::x_kv:
        keep_key(path, at[1]);
        break;
    case TensorId::q_heads:
    case TensorId::head_out:
        path = path_of_query(page, at[2]);
        keep_head(path, at[1]);
        path.scores = true;
        break;
    case TensorId::k_heads:
    case TensorId::v_heads:
        keep_key(path, at[2]);
        of_kv_head(path, at[1]);
        path.values = cell.tensor == TensorId::v_heads;
        path.scores = cell.tensor == TensorId::k_heads;
        break;
    case TensorId::weights:
        path = path_of_query(page, at[2]);
        keep_head(path, at[1]);
        keep_key(path, at[3]);
        break;
    case TensorId::W_O:
        keep_head(path, at[0] / dims.dv);
        break;
    default:
        break;
    }
    path.cell = cell;
    return path;
}

void light_source(const FlowPage& page, const figure::Rect& from, const figure::Rect& to, std::int64_t h,
                  float share) {
    const float opacity = lit_faint + (lit_strong - lit_faint) * share;
    page.picture.scene.add(ribbon(right_of(from, with_opacity(page.theme().muted, opacity), from.h),
                                  left_of(to, with_opacity(page.color(h), opacity), to.h)));
}

void light_open_head(const FlowPage& page, const FlowPath& path, std::int64_t h, const FlowHead& head) {
    const Dims& dims = page.dims();
    const FlowLayout& layout = page.layout;
    figure::Scene& scene = page.picture.scene;
    const figure::Color color = page.color(h);
    const FlowRows& sources = page.problem().cross() ? layout.x_kv : layout.x;
    const float thick = flow_strand(head, dims.Tk), cell = head.map.area.w / static_cast<float>(dims.Tk);
    const std::vector<float>& keys = path.keys[static_cast<std::size_t>(h)];
    if (path.scores) {
        light_source(page, layout.x.at(path.query), head.q.at(path.query), h, 1);
        const figure::Color tint = with_opacity(color, lit_strong);
        scene.add(ribbon(right_of(head.q.at(path.query), tint, head.q.row),
                         left_of(head.map.at(path.query), tint, head.map.row)));
    }
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const float share = keys[static_cast<std::size_t>(j)];
        if (share < least_share)
            continue;
        const figure::Color tint = with_opacity(color, lit_faint + (lit_strong - lit_faint) * share);
        if (path.scores) {
            light_source(page, sources.at(j), head.k.at(j), h, share);
            const figure::Rect key = head.k.at(j);
            scene.add(turning_strand(
                {key.right(), key.y + key.h / 2},
                {head.map.area.x + cell * (static_cast<float>(j) + 0.5F), head.map.area.bottom()}, thick,
                tint, tint));
        }
        if (!path.values)
            continue;
        light_source(page, sources.at(j), head.v.at(j), h, share);
        const figure::Rect value = head.v.at(j), gate = flow_gate(head, j);
        const float high = std::max(std::min(value.h * 0.5F, 11.0F), 1.0F);
        scene.add(ribbon(right_of(value, tint, high), left_of(gate, tint, high)));
        const FlowSlice slice = flow_output_slice(page, h, path.query, j);
        scene.add(ribbon(right_of(gate, tint, slice.bottom - slice.top),
                         {head.out.area.x, slice.top, slice.bottom, tint}));
    }
    const auto row = [&](TensorId id, const FlowRows& rows, std::int64_t index) {
        draw_flow_rows(page, flow_tensor(page, id, h), rows, index, 1);
        frame_flow_part(page, rows.at(index));
    };
    if (path.scores)
        row(TensorId::q_heads, head.q, path.query);
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        if (keys[static_cast<std::size_t>(j)] < least_share)
            continue;
        if (path.scores)
            row(TensorId::k_heads, head.k, j);
        if (path.values)
            row(TensorId::v_heads, head.v, j);
        draw_flow_gate(page, flow_gate(head, j), h, page.weight(h, path.query, j),
                       page.is_forbidden(h, path.query, j));
    }
    draw_flow_map(page, h, head.map, path.query, 1);
    frame_flow_part(page, head.map.at(path.query));
    row(TensorId::head_out, head.out, path.query);
}

void light_joining(const FlowPage& page, const FlowPath& path, std::int64_t h, const FlowHead& head) {
    const FlowLayout& layout = page.layout;
    const bool joined = layout.concat.area.w > 0;
    const figure::Rect row = head.out.at(path.query),
                       end = (joined ? layout.concat : layout.output).at(path.query);
    const float share = 1 / static_cast<float>(page.dims().H),
                top = end.y + end.h * share * static_cast<float>(h);
    const figure::Color tint = with_opacity(page.color(h), lit_strong);
    page.picture.scene.add(ribbon(right_of(row, tint, row.h), {end.x, top, top + end.h * share, tint}));
}

void light_ends(const FlowPage& page, const FlowPath& path) {
    const FlowLayout& layout = page.layout;
    const Dims& dims = page.dims();
    draw_flow_rows(page, flow_tensor(page, TensorId::x), layout.x, path.query, 1);
    frame_flow_part(page, layout.x.at(path.query));
    const FlowRows& sources = page.problem().cross() ? layout.x_kv : layout.x;
    const TensorId source = page.problem().cross() ? TensorId::x_kv : TensorId::x;
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        float share = 0;
        for (std::size_t h = 0; h < path.heads.size(); ++h)
            share = path.heads[h] ? std::max(share, path.keys[h][static_cast<std::size_t>(j)]) : share;
        if (share < least_share)
            continue;
        draw_flow_rows(page, flow_tensor(page, source), sources, j, 1);
        frame_flow_part(page, sources.at(j), 1);
    }
    if (layout.concat.area.w > 0) {
        const figure::Rect from = layout.concat.at(path.query), to = layout.output.at(path.query);
        const figure::Color tint = with_opacity(page.theme().muted, 0.4F);
        page.picture.scene.add(ribbon(right_of(from, tint, from.h - 2), left_of(to, tint, to.h - 2)));
        for (std::int64_t h = 0; h < dims.H; ++h)
            if (path.heads[static_cast<std::size_t>(h)])
                draw_flow_concat(page, h, path.query, 1);
        frame_flow_part(page, from);
    }
    draw_flow_rows(page, flow_tensor(page, TensorId::output), layout.output, path.query, 1);
    frame_flow_part(page, layout.output.at(path.query), 2);
}

/// Outlines the cell under the mouse in every matrix that shows it.
void outline_flow_cell(const FlowPage& page, const CellAddress& cell, const std::vector<MatrixGrid>& grids) {
    for (const MatrixGrid& grid : grids) {
        const auto place = grid.tensor == cell.tensor ? grid.find(cell.at) : std::nullopt;
        if (!place)
            continue;
        const figure::Rect area = grid.cell(place->first, place->second);
        page.picture.scene.add(figure::RectItem{.area = {area.x - 3, area.y - 3, area.w + 6, area.h + 6},
                                                .stroke = page.theme().canvas,
                                                .stroke_width = 2});
        frame_flow_part(page, area, 2.5F);
        return;
    }
}

} // namespace

std::optional<FlowPath> flow_path(const FlowPage& page) {
    const ViewState& view = page.context.view;
    const auto on_path = [&](const std::optional<CellAddress>& cell) {
        return cell && page.context.shown.is_known(*cell) &&
               (is_stage(cell->tensor) || cell->tensor == TensorId::W_O || cell->tensor == TensorId::x_kv);
    };
    if (on_path(view.hover))
        return path_of_cell(page, *view.hover);
    const std::string_view hovered = page.context.hovered;
    const auto number_after = [&](std::string_view before) -> std::int64_t {
        return hovered.starts_with(before) ? std::strtoll(hovered.data() + before.size(), nullptr, 10) : -1;
    };
    if (const std::int64_t query = number_after("word "); query >= 0 && query < page.dims().Tq)
        return path_of_query(page, query);
    if (const std::int64_t head = number_after("flow head "); head >= 0 && head < page.dims().H) {
        FlowPath path = path_of_query(page, page.word);
        keep_head(path, head);
        return path;
    }
    // A click on a number keeps its path, unless the number is selected to be changed.
    if (on_path(view.selected) && !is_editable(view.selected->tensor))
        return path_of_cell(page, *view.selected);
    return std::nullopt;
}

void draw_flow_path(const FlowPage& page, const FlowPath& path, float lit) {
    figure::Scene& scene = page.picture.scene;
    scene.add(figure::RectItem{.area = {0, 0, page.layout.width, page.layout.height},
                               .fill = with_opacity(page.theme().canvas, pale * lit)});
    Picture over; // only its scene: the cells can already be pointed at
    const FlowPage lit_page{over, page.context, page.layout, path.query, page.head};
    for (std::size_t h = 0; h < path.heads.size(); ++h) {
        const FlowHead& head = page.layout.heads[h];
        if (!path.heads[h] || !head.shown)
            continue;
        const auto index = static_cast<std::int64_t>(h);
        light_joining(lit_page, path, index, head);
        if (head.open)
            light_open_head(lit_page, path, index, head);
        else
            draw_flow_map(lit_page, index, head.map, 0, page.dims().Tq);
    }
    light_ends(lit_page, path);
    draw_flow_words(lit_page);
    scene.append(std::move(over.scene), 0, 0);
    if (path.cell)
        outline_flow_cell(page, *path.cell, page.picture.grids);
}

FlowCellText flow_cell_text(const FlowPage& page, const FlowPath& path) {
    if (!path.cell)
        return {};
    const CellAddress& cell = *path.cell;
    const Index& at = cell.at;
    FlowCellText text{.title = address_text(page.context.shown, cell) + " = " +
                               number(page.context.shown.value(cell), 3)};
    switch (cell.tensor) {
    case TensorId::weights:
        text.text = tr("flow.weight_means", "{} of what “{}” receives in head {} is “{}”.",
                       std::to_string(std::lround(100 * page.context.shown.value(cell))) + " %",
                       page.query_word(at[2]), at[1], page.key_word(at[3]));
        break;
    case TensorId::output:
        text.text =
            tr("flow.output_means", "Column {} of the new “{}”: the heads' numbers times W_O, added up.",
               at[2], page.query_word(at[1]));
        break;
    case TensorId::q_heads:
        text.text = tr("flow.query_means", "The query of “{}” in head {}: what it looks for.",
                       page.query_word(at[2]), at[1]);
        break;
    case TensorId::k_heads:
        text.text = tr("flow.key_means", "The key of “{}”: what it can be found by.", page.key_word(at[2]));
        break;
    case TensorId::v_heads:
        text.text = tr("flow.value_means", "The value of “{}”: what it hands over.", page.key_word(at[2]));
        break;
    case TensorId::head_out:
        text.text =
            tr("flow.head_out_means", "What head {} found for “{}”: values added up by their weights.", at[1],
               page.query_word(at[2]));
        break;
    default:
        text.text = tr("flow.wider_means_more", "Wider and darker means more.");
    }
    return text;
}

} // namespace headscope::app
