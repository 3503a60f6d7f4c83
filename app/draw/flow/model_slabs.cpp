#include "app/draw/flow/model_parts.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/edit_marks.h"
#include "core/analysis/pool.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Color;
using figure::Font;
using figure::Point;
using figure::Rect;

std::string slab_name(const FlowSlab& slab) {
    return slab.joined() ? "L" + std::to_string(slab.first) + "–" + std::to_string(slab.last)
                         : "L" + std::to_string(slab.first);
}

/// The small map of a head, as one image; null while its layer has not been read.
bool draw_tile_map(Picture& picture, const ModelFlow& flow, const Rect& area, std::int64_t l,
                   std::int64_t h) {
    const DrawContext& context = flow.context;
    const auto row = context.head_grid == nullptr || l >= context.head_grid->info().own_layers()
                         ? nullptr
                         : context.head_grid->row(l);
    if (row == nullptr || h >= std::ssize(row->heads))
        return false;
    const analysis::HeadMap& map = row->heads[static_cast<std::size_t>(h)];
    const auto most = static_cast<std::int64_t>(std::max(area.w, 1.0F));
    const std::int64_t rows = std::min(map.rows, most), cols = std::min(map.cols, most);
    const bool off = flow.is_off(l, h);
    const Ramp& ramp = off ? context.theme.neutral : context.head_colours(h).ramp;
    const std::uint64_t key =
        key_of({row->version, static_cast<std::uint64_t>(h), static_cast<std::uint64_t>(rows),
                static_cast<std::uint64_t>(context.theme.dark), static_cast<std::uint64_t>(off), 0xF10F});
    const auto paint = [&] {
        const std::vector<float> values = analysis::max_pool(map.largest, map.rows, map.cols, rows, cols);
        std::vector<Color> pixels;
        pixels.reserve(values.size());
        for (const float value : values)
            pixels.push_back(std::isfinite(value) ? ramp_color(ramp, std::sqrt(std::max(value, 0.0F)))
                                                  : context.theme.canvas);
        return pixels;
    };
    picture.scene.add(figure::GridItem{.area = area,
                                       .cols = static_cast<int>(cols),
                                       .rows = static_cast<int>(rows),
                                       .pixels = context.pixels != nullptr
                                                     ? context.pixels->find(key, paint)
                                                     : std::make_shared<const std::vector<Color>>(paint()),
                                       .key = key});
    return true;
}

void draw_tile(Picture& picture, const ModelFlow& flow, std::size_t slab, std::int64_t l, std::int64_t h) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const Rect area = flow.layout.tile(slab, h, flow.H);
    const bool open = flow.layout.slab_is_open(slab), selected = open && h == flow.head;
    const bool off = flow.is_off(l, h);
    if (off) {
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.muted});
        picture.scene.add(figure::LineItem{{area.x, area.y}, {area.right(), area.bottom()}, theme.muted, 1});
    } else {
        picture.scene.add(figure::RectItem{.area = area, .fill = theme.cell});
        draw_tile_map(picture, flow, area, l, h);
    }
    if (selected)
        picture.scene.add(figure::RectItem{.area = {area.x - 3, area.y - 3, area.w + 6, area.h + 6},
                                           .stroke = off ? theme.muted : context.head_colours(h).colour,
                                           .stroke_width = 2.5F});
    const std::string name = "L" + std::to_string(l) + " H" + std::to_string(h);
    if (context.controls)
        picture.add_hotspot({area.x - 2, area.y - 2, area.w + 4, area.h + 4}, "open " + name, OpenHead{l, h},
                            off ? tr("model_slabs.head_off_tip", "{} is ablated: it adds nothing", name)
                                : tr("model_slabs.head_tip",
                                     "Attention weights of {}: click to see what it "
                                     "moves to “{}”",
                                     name, flow.word(flow.position)));
    if (!open || flow.layout.tile_columns[slab] > 1)
        return;
    const float x = area.right() + 6, baseline = area.y + 13;
    const std::string label = "H" + std::to_string(h);
    const Color color = selected ? theme.ink : theme.muted;
    const float width = draw_text(picture, context, x, baseline, label,
                                  selected ? Font::ui_semibold : Font::ui, 12.5F, color);
    if (off)
        strike_out(picture, x, baseline, width, 12.5F, color);
}

/// Draws how much a layer adds to each token, as one column of cells.
void draw_strip(Picture& picture, const ModelFlow& flow, std::size_t slab, const FlowSlab& layers) {
    const checkpoint::StackLengths* const lengths = flow.context.shown.lengths.get();
    const Theme& theme = flow.theme();
    const Rect area = flow.layout.strip(slab);
    float largest = 1e-9F;
    std::vector<float> added(static_cast<std::size_t>(flow.T), 0.0F);
    if (lengths != nullptr)
        for (std::int64_t l = layers.first; l <= layers.last && l < std::ssize(lengths->layers); ++l)
            for (std::size_t i = 0;
                 i < added.size() && i < lengths->layers[static_cast<std::size_t>(l)].size(); ++i) {
                added[i] += lengths->layers[static_cast<std::size_t>(l)][i];
                largest = std::max(largest, added[i]);
            }
    for (std::size_t i = 0; i < added.size(); ++i) {
        const float y = flow.layout.row(static_cast<std::int64_t>(i)), half = flow.layout.pitch / 2;
        picture.scene.add(
            figure::RectItem{.area = {area.x, y - half, area.w, std::max(2 * half - 1, 0.5F)},
                             .fill = ramp_color(theme.neutral, 0.08F + 0.7F * added[i] / largest)});
    }
    picture.tips.push_back({area, tr("model_slabs.strip_tip",
                                     "How much {} adds to each token: the darker, the "
                                     "longer the vector",
                                     slab_name(layers))});
}

/// A circle with a plus: where a branch is added to the residual stream.
void draw_plus(Picture& picture, const Theme& theme, float x, float y) {
    constexpr float radius = 9, arm = 4.5F;
    picture.scene.add(figure::RectItem{.area = {x - radius, y - radius, 2 * radius, 2 * radius},
                                       .fill = theme.canvas,
                                       .stroke = theme.ink,
                                       .stroke_width = 1.5F,
                                       .radius = radius});
    picture.scene.add(figure::LineItem{{x - arm, y}, {x + arm, y}, theme.ink, 1.5F});
    picture.scene.add(figure::LineItem{{x, y - arm}, {x, y + arm}, theme.ink, 1.5F});
}

/// The weights that move values from each token to the token in focus, and pale ones to all others.
void draw_ribbons(Picture& picture, const ModelFlow& flow) {
    const ModelFlowLayout& layout = flow.layout;
    const Theme& theme = flow.theme();
    const HeadColours& colours = flow.context.head_colours(flow.head);
    const float widest = std::clamp(layout.pitch * 0.62F, 5.0F, 22.0F);
    const bool off = flow.is_off(flow.open, flow.head);
    constexpr std::int64_t most_pale = 48;
    constexpr float least = 0.02F;
    const bool begun = !flow.moment.plays || flow.moment.ribbons > 0;
    if (!off && begun && flow.T <= most_pale)
        for (std::int64_t i = 0; i < flow.T; ++i) {
            if (i == flow.position)
                continue;
            const std::vector<float> row = flow.row_of_head(i);
            for (std::int64_t j = 0; j < std::ssize(row); ++j)
                if (const float weight = row[static_cast<std::size_t>(j)]; weight >= 0.06F)
                    add_flow_band(
                        picture,
                        flow_curve({layout.source_x, layout.row(j)}, {layout.target_x, layout.row(i)}),
                        std::max(weight * widest * 0.3F, 1.0F),
                        figure::with_alpha(colours.colour, theme.dark ? 40 : 30),
                        figure::with_alpha(colours.colour, theme.dark ? 40 : 30));
        }
    const std::vector<float> row = flow.row_of_head(flow.position);
    if (row.empty())
        return;
    const auto largest = std::ranges::max_element(row) - row.begin();
    for (std::int64_t j = 0; j < std::ssize(row); ++j) {
        const float weight = row[static_cast<std::size_t>(j)];
        std::vector<Point> curve =
            flow_curve({layout.source_x, layout.row(j)}, {layout.target_x, layout.row(flow.position)});
        if (off) {
            if (j == largest)
                add_dashes(picture, curve, theme.muted, 1.5F);
            continue;
        }
        if (weight < least)
            continue;
        const auto shown =
            static_cast<std::size_t>(std::lround(flow.moment.ribbons * static_cast<float>(curve.size())));
        if (shown < 2)
            continue;
        curve.resize(std::min(shown, curve.size()));
        const auto alpha = static_cast<std::uint32_t>(std::lround(255 * (0.45F + 0.55F * std::sqrt(weight))));
        const Color color = figure::with_alpha(ramp_color(colours.ramp, theme.dark ? 0.75F : 0.85F), alpha);
        add_flow_band(picture, curve, std::max(weight * widest, 1.2F), color, color);
    }
    if (!begun)
        return;
    const float y = layout.row(largest), radius = std::min(6.0F, layout.pitch / 2);
    picture.scene.add(
        figure::RectItem{.area = {layout.source_x - radius, y - radius, 2 * radius, 2 * radius},
                         .fill = theme.canvas,
                         .stroke = off ? theme.muted : ramp_color(colours.ramp, theme.dark ? 0.75F : 0.85F),
                         .stroke_width = 2.5F,
                         .radius = radius});
}

/// The note next to the strongest ribbon: what the head reads, or that it is off.
void draw_note(Picture& picture, const ModelFlow& flow) {
    const ModelFlowLayout& layout = flow.layout;
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const std::vector<float> row = flow.row_of_head(flow.position);
    if (row.empty() || layout.target_x - layout.source_x < 120 || flow.moment.ribbons < 1)
        return;
    const auto largest = std::ranges::max_element(row) - row.begin();
    const bool off = flow.is_off(flow.open, flow.head);
    const std::string first =
        off ? tr("model_slabs.is_off", "H{} is off:", flow.head)
            : tr("model_slabs.attends", "“{}” attends to", shortened(flow.word(flow.position), 12));
    const std::string second =
        off ? tr("model_slabs.adds_nothing", "it adds nothing")
            : "“" + shortened(flow.word(largest), 12) + "” " +
                  percent_text(static_cast<double>(row[static_cast<std::size_t>(largest)]));
    const float width =
        std::max(context.measure(first, Font::ui, 13), context.measure(second, Font::ui_semibold, 13)) + 20;
    const float from = layout.row(largest), to = layout.row(flow.position);
    const float middle = (from + to) / 2;
    const Rect slab = layout.slabs[layout.open_slab];
    const float limit = (layout.mlp.w > 0 ? layout.mlp.x : slab.right()) - 8 - width;
    const float x = std::min((layout.source_x + layout.target_x) / 2 + 22, limit);
    // A ribbon that runs level leaves room above it only.
    const float y = std::clamp(std::abs(to - from) < 60 ? std::min(from, to) - 62 : middle - 34,
                               slab.y + layout.header + 6, slab.bottom() - 52);
    const Rect area{x, y, width, 44};
    picture.scene.add(
        figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 5});
    draw_text(picture, context, x + 10, y + 18, first, Font::ui, 13, theme.text);
    draw_text(picture, context, x + 10, y + 36, second, Font::ui_semibold, 13, theme.ink);
}

/// Draws what the MLP adds, one row of cells for each token.
void draw_mlp(Picture& picture, const ModelFlow& flow) {
    const Rect area = flow.layout.mlp;
    if (area.w <= 0)
        return;
    const Theme& theme = flow.theme();
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line, .radius = 4});
    const FlowLayer* const layer = flow.layer();
    const float height = std::max(std::min(flow.layout.pitch * 0.68F, 26.0F), 1.0F);
    for (std::int64_t i = 0; i < flow.T; ++i) {
        const Rect row{area.x + 5, flow.layout.row(i) - height / 2, area.w - 10, height};
        if (layer == nullptr || layer->layer != flow.open || layer->columns == 0)
            continue;
        const float cell = row.w / static_cast<float>(layer->columns);
        for (std::int64_t c = 0; c < layer->columns; ++c) {
            const float value = layer->mlp[static_cast<std::size_t>(i * layer->columns + c)] /
                                std::max(layer->mlp_largest, 1e-9F);
            picture.scene.add(
                figure::RectItem{.area = {row.x + cell * static_cast<float>(c), row.y, cell, row.h},
                                 .fill = ramp_color(theme.neutral, 0.06F + 0.8F * std::sqrt(value))});
        }
        if (i == flow.position)
            picture.scene.add(figure::RectItem{.area = {row.x - 2, row.y - 2, row.w + 4, row.h + 4},
                                               .stroke = theme.ink,
                                               .stroke_width = 1.5F});
    }
    if (!flow.moment.reached(area.x))
        picture.scene.add(
            figure::RectItem{.area = area, .fill = figure::with_alpha(theme.canvas, 160), .radius = 4});
    picture.tips.push_back({area, tr("model_slabs.mlp_tip",
                                     "What the MLP of layer {} adds to each token: the "
                                     "darker a cell, the larger its numbers",
                                     flow.open)});
}

} // namespace

void draw_closed_slabs(Picture& picture, const ModelFlow& flow) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    for (std::size_t n = 0; n < flow.slabs.size(); ++n) {
        const FlowSlab& slab = flow.slabs[n];
        if (slab.open)
            continue;
        const Rect& area = flow.layout.slabs[n];
        picture.scene.add(
            figure::RectItem{.area = area, .fill = theme.panel, .stroke = theme.line2, .radius = 5});
        draw_text(picture, context, area.x + area.w / 2, flow.layout.slab_names, slab_name(slab),
                  Font::ui_semibold, slab.joined() && area.w < 60 ? 12.0F : 14.0F, theme.ink, Align::center);
        const std::int64_t nearest = flow.open > slab.last ? slab.last : slab.first;
        if (context.controls)
            picture.add_hotspot(
                {area.x, flow.layout.slab_names - 16, area.w, area.bottom() - flow.layout.slab_names + 16},
                "open layer " + std::to_string(nearest), OpenHead{nearest, flow.head},
                tr("model_slabs.open_layer", "Opens layer {}", nearest));
        draw_strip(picture, flow, n, slab);
        if (!slab.joined())
            for (std::int64_t h = 0; h < flow.H; ++h)
                draw_tile(picture, flow, n, slab.first, h);
        // A layer that the play has not reached is pale.
        if (!flow.moment.reached(area.x + area.w / 2))
            picture.scene.add(figure::RectItem{.area = {area.x + 1, area.y + 1, area.w - 2, area.h - 2},
                                               .fill = figure::with_alpha(theme.canvas, 160),
                                               .radius = 5});
        if (!slab.joined())
            continue;
        const std::int64_t count = slab.last - slab.first + 1;
        figure::add_text(picture.scene, {area.x + area.w / 2 - 4, area.y + area.h / 2},
                         tr("model_slabs.layers", "{} layers", count), Font::ui_medium, 13, theme.muted,
                         Align::center, -90);
    }
}

void draw_open_slab(Picture& picture, const ModelFlow& flow) {
    const DrawContext& context = flow.context;
    const Theme& theme = context.theme;
    const ModelFlowLayout& layout = flow.layout;
    const Rect& area = layout.slabs[layout.open_slab];
    const Rect header{area.x, area.y, area.w, layout.header};
    picture.scene.add(
        figure::RectItem{.area = header, .fill = theme.highlight, .stroke = theme.line2, .radius = 5});
    picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line2, .radius = 5});
    const float baseline = figure::baseline_for(header.y + header.h / 2, 13.5F);
    draw_text(picture, context, area.x + 12, baseline, "L" + std::to_string(flow.open), Font::ui_semibold,
              13.5F, theme.ink);
    if (area.w >= 300) {
        draw_text(picture, context, (layout.source_x + layout.target_x) / 2, baseline,
                  tr("model_slabs.attention_of", "Attention of H{}", flow.head), Font::ui_medium, 13,
                  theme.text, Align::center);
        if (layout.mlp.w > 0)
            draw_text(picture, context, layout.mlp.x + layout.mlp.w / 2, baseline, "MLP", Font::ui_medium, 13,
                      theme.text, Align::center);
    }
    draw_mlp(picture, flow);
    draw_ribbons(picture, flow);
    for (std::int64_t h = 0; h < flow.H; ++h)
        draw_tile(picture, flow, layout.open_slab, flow.open, h);
    const float y = layout.row(flow.position);
    draw_plus(picture, theme, layout.target_x + 8, y);
    if (layout.mlp.w > 0)
        draw_plus(picture, theme, area.right() - 2, y);
    draw_note(picture, flow);
}

} // namespace headscope::app
