#include "app/draw/flow/flow_chips.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/pixel_cache.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float chip_w = 26, chip_h = 38, before_rows = 12;
constexpr std::int64_t most_matrix_rows = 16, most_matrix_columns = 12;

struct ChipKind {
    TensorId id;
    const FlowRows FlowHead::*rows;
};
constexpr std::array<ChipKind, 3> chip_kinds{
    {{TensorId::W_Q, &FlowHead::q}, {TensorId::W_K, &FlowHead::k}, {TensorId::W_V, &FlowHead::v}}};

/// The columns of W_Q, W_K or W_V that belong to a head.
struct HeadColumns {
    std::int64_t first = 0, count = 0, rows = 0;
};

HeadColumns columns_of_head(const FlowPage& page, TensorId id, std::int64_t h) {
    const Dims& dims = page.dims();
    if (id == TensorId::W_Q)
        return {h * dims.dk, dims.dk, dims.D};
    const std::int64_t width = id == TensorId::W_K ? dims.dk : dims.dv;
    return {dims.kv_head(h) * width, width, dims.Dkv};
}

void draw_chip(const FlowPage& page, const figure::Rect& area, const ChipKind& kind, std::int64_t h) {
    constexpr std::int64_t most_columns = 4, most_rows = 8;
    const HeadColumns columns = columns_of_head(page, kind.id, h);
    const std::int64_t across = std::min(columns.count, most_columns),
                       down = std::min(columns.rows, most_rows);
    const float high = largest_magnitude(page.context, kind.id, page.batch());
    std::vector<figure::Color> pixels;
    for (std::int64_t r = 0; r < down; ++r)
        for (std::int64_t c = 0; c < across; ++c) {
            // The largest magnitude of the block of parameters that a pixel stands for.
            float value = 0;
            for (std::int64_t row = r * columns.rows / down; row < (r + 1) * columns.rows / down; ++row)
                for (std::int64_t col = c * columns.count / across; col < (c + 1) * columns.count / across;
                     ++col)
                    value = std::max(value, std::abs(page.context.shown.value(
                                                {kind.id, {row, columns.first + col, 0, 0}})));
            pixels.push_back(ramp_color(page.ramp(h), 0.05F + 0.8F * std::sqrt(value / high)));
        }
    const bool open = h == page.head && page.context.view.flow.parameters == kind.id;
    page.picture.scene.add(figure::RectItem{.area = area,
                                            .fill = page.theme().canvas,
                                            .stroke = open ? page.theme().ink : page.theme().line2,
                                            .stroke_width = open ? 2.0F : 1.0F,
                                            .radius = 4});
    const std::uint64_t key = name_of(pixels);
    page.picture.scene.add(
        figure::GridItem{.area = {area.x + 3, area.y + 3, area.w - 6, area.h - 6},
                         .cols = static_cast<int>(across),
                         .rows = static_cast<int>(down),
                         .pixels = std::make_shared<const std::vector<figure::Color>>(std::move(pixels)),
                         .key = key});
    const std::string name(tensor_info(kind.id).name);
    draw_text(page.picture, page.context, area.x + area.w / 2, area.bottom() + 12, name, figure::Font::mono,
              12, page.theme().text, figure::Align::center);
    if (!page.context.controls)
        return;
    const std::string label = name + " of head " + std::to_string(h);
    if (h != page.head)
        page.picture.add_hotspot(area, label, PickHead{h},
                                 tr("flow.put_head_focus", "Put head {} in focus", h));
    else if (columns.rows <= most_matrix_rows && columns.count <= most_matrix_columns)
        page.picture.add_hotspot(
            area, label, OpenFlowParameters{kind.id},
            open ? tr("flow.close_parameters", "Close {}", name)
                 : tr("flow.open_parameters", "Open {}: its numbers can be dragged", name));
    else
        page.picture.add_hotspot(area, label, OpenFlowStage{kind.id},
                                 tr("flow.open_stage", "Open the stage {}",
                                    std::string(group_info(tensor_info(kind.id).group).label)));
}

} // namespace

void draw_flow_chips(const FlowPage& page) {
    for (std::int64_t h = 0; h < page.dims().H; ++h) {
        const FlowHead& head = page.layout.heads[static_cast<std::size_t>(h)];
        if (!head.open)
            continue;
        constexpr float least_room = 14;
        const float x = head.q.area.x - before_rows - chip_w;
        if (x < page.layout.x.area.right() + least_room || head.k.area.h < chip_h + least_room)
            continue;
        for (const ChipKind& kind : chip_kinds) {
            const figure::Rect rows = (head.*kind.rows).area;
            draw_chip(page, {x, rows.y + rows.h / 2 - chip_h / 2 - 4, chip_w, chip_h}, kind, h);
        }
    }
}

void draw_flow_parameters(const FlowPage& page) {
    const std::optional<TensorId>& open = page.context.view.flow.parameters;
    if (!open || !page.context.controls)
        return;
    const HeadColumns columns = columns_of_head(page, *open, page.head);
    if (columns.rows > most_matrix_rows || columns.count > most_matrix_columns)
        return;
    constexpr float cell_w = 36, cell_h = 20, pad = 14, title_h = 34;
    const std::vector<std::string>& names = page.context.shown.document->feature_names();
    float label_w = 24;
    const bool named = std::ssize(names) == columns.rows && !page.problem().cross();
    for (const std::string& name : names)
        if (named)
            label_w = std::max(label_w, page.context.measure(name, figure::Font::ui, 12.5F));
    const float width = pad + label_w + 10 + cell_w * static_cast<float>(columns.count) + pad;
    const float height = title_h + cell_h * static_cast<float>(columns.rows) + pad;
    const float top =
        std::clamp(page.layout.words.area.y - height - 54, 8.0F, page.layout.height - height - 8);
    const figure::Rect panel{20, top, width, height};
    page.picture.scene.add(figure::RectItem{
        .area = panel, .fill = page.theme().canvas, .stroke = page.theme().line2, .radius = 8});
    const std::string name(tensor_info(*open).name);
    const float wide = draw_text(page.picture, page.context, panel.x + pad, panel.y + 22, name,
                                 figure::Font::mono_semibold, 13, page.theme().ink);
    draw_text(page.picture, page.context, panel.x + pad + wide + 8, panel.y + 22,
              fitted(page.context, tr("flow.columns_of_head", "columns of head {}", page.head),
                     figure::Font::ui, 13, width - 2 * pad - wide - 30),
              figure::Font::ui, 13, page.theme().muted);
    const figure::Rect close{panel.right() - 30, panel.y + 8, 22, 22};
    draw_text(page.picture, page.context, close.x + 11, panel.y + 23, "×", figure::Font::ui_medium, 16,
              page.theme().text, figure::Align::center);
    page.picture.add_hotspot(close, "close parameters", OpenFlowParameters{*open},
                             tr("flow.close_parameters", "Close {}", name));
    MatrixSpec spec{.tensor = *open,
                    .origin = {0, columns.first, 0, 0},
                    .row_axis = 0,
                    .col_axis = 1,
                    .rows = columns.rows,
                    .cols = columns.count,
                    .x = panel.x + pad + label_w + 10,
                    .y = panel.y + title_h,
                    .cell_w = cell_w,
                    .cell_h = cell_h,
                    .high = largest_magnitude(page.context, *open, page.batch())};
    spec.owner = [head = page.head](std::int64_t, std::int64_t) { return head; };
    draw_matrix(page.picture, page.context, spec);
    for (std::int64_t row = 0; row < columns.rows; ++row)
        draw_text(page.picture, page.context, spec.x - 10,
                  figure::baseline_for(spec.y + cell_h * (static_cast<float>(row) + 0.5F), 12.5F),
                  named ? names[static_cast<std::size_t>(row)] : std::to_string(row), figure::Font::ui, 12.5F,
                  page.theme().text, figure::Align::right);
}

} // namespace headscope::app
