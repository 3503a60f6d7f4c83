#include "app/draw/flow/flow_output.h"

#include "app/commands/actions.h"
#include "app/draw/flow/flow_before.h"
#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_ribbons.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/figure_weights.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float caption_above = 10;

/// Draws the names of the columns of X above their numbers, if all of them fit.
bool draw_feature_names(const FlowPage& page) {
    const std::vector<std::string>& names = page.context.shown.document->feature_names();
    const FlowRows& x = page.layout.x;
    const float cell = x.area.w / static_cast<float>(page.dims().D);
    constexpr float least = 30, size = 12;
    const auto fits = [&](const std::string& name) {
        return page.context.measure(name, figure::Font::ui, size) <= cell - 2;
    };
    if (cell < least || std::ssize(names) != page.dims().D || !std::ranges::all_of(names, fits))
        return false;
    for (std::int64_t d = 0; d < page.dims().D; ++d) {
        draw_text(page.picture, page.context, x.area.x + cell * (static_cast<float>(d) + 0.5F),
                  x.area.y - caption_above, names[static_cast<std::size_t>(d)], figure::Font::ui, size,
                  page.theme().muted, figure::Align::center);
    }
    return true;
}

/// Draws W_O as a bar in each cell, from the middle; as a texture if there are too many cells.
void draw_flow_W_O(const FlowPage& page) {
    const FlowLayout& layout = page.layout;
    if (layout.W_O.w <= 0)
        return;
    const Dims& dims = page.dims();
    const std::int64_t rows = dims.H * dims.dv;
    const float cell_w = layout.W_O.w / static_cast<float>(dims.D),
                cell_h = layout.W_O.h / static_cast<float>(rows);
    draw_flow_caption(page, layout.W_O.x, layout.W_O.y - caption_above, "W_O",
                      tr("flow.mixes_the_heads", "mixes the heads"), TensorId::W_O, "W_O", layout.W_O.w);
    constexpr float least_cell_w = 16, least_cell_h = 7;
    const bool bars = cell_w >= least_cell_w && cell_h >= least_cell_h;
    const float high = largest_magnitude(page.context, TensorId::W_O, page.batch());
    figure::Scene& scene = page.picture.scene;
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const figure::Rect part{layout.W_O.x, layout.W_O.y + cell_h * static_cast<float>(h * dims.dv),
                                layout.W_O.w, cell_h * static_cast<float>(dims.dv)};
        scene.add(figure::RectItem{.area = {part.x - 6, part.y, 3, part.h - 1}, .fill = page.color(h)});
        const Ramp& ramp = page.ramp(h);
        std::vector<figure::Color> pixels;
        for (std::int64_t row = 0; row < dims.dv; ++row)
            for (std::int64_t col = 0; col < dims.D; ++col) {
                const float value = page.context.shown.value({TensorId::W_O, {h * dims.dv + row, col, 0, 0}});
                pixels.push_back(ramp_color(ramp, 0.06F + 0.8F * std::sqrt(std::abs(value) / high)));
                if (!bars)
                    continue;
                const figure::Rect cell{part.x + cell_w * static_cast<float>(col),
                                        part.y + cell_h * static_cast<float>(row), cell_w - 1, cell_h - 1};
                scene.add(figure::RectItem{.area = cell,
                                           .fill = page.is_off(h) ? page.theme().cell
                                                                  : page.theme().head(h, dims.H).tint});
                const float middle = cell.x + cell.w / 2, length = (cell.w / 2 - 3) * value / high;
                scene.add(figure::RectItem{
                    .area = {std::min(middle, middle + length), cell.y + cell.h / 2 - 2, std::abs(length), 4},
                    .fill = page.color(h)});
                scene.add(figure::RectItem{.area = {middle - 0.5F, cell.y + cell.h / 2 - 3, 1, 6},
                                           .fill = page.theme().muted});
            }
        if (!bars) {
            const std::uint64_t key = name_of(pixels);
            scene.add(figure::GridItem{
                .area = part,
                .cols = static_cast<int>(dims.D),
                .rows = static_cast<int>(dims.dv),
                .pixels = std::make_shared<const std::vector<figure::Color>>(std::move(pixels)),
                .key = key});
        }
    }
    page.picture.grids.push_back({.tensor = TensorId::W_O,
                                  .row_axis = 0,
                                  .col_axis = 1,
                                  .rows = rows,
                                  .cols = dims.D,
                                  .area = layout.W_O,
                                  .pitch_x = cell_w,
                                  .pitch_y = cell_h,
                                  .gap = bars ? 1.0F : 0.0F,
                                  .high = high});
}

/// The parts of the output row in focus that the heads add, as stacked bars over the columns of the output.
void draw_column_chart(const FlowPage& page, const figure::Rect& area) {
    const Dims& dims = page.dims();
    const float cell = area.w / static_cast<float>(dims.D);
    float up = 1e-6F, down = 0;
    for (std::int64_t d = 0; d < dims.D; ++d) {
        float positive = 0, negative = 0;
        for (std::int64_t h = 0; h < dims.H; ++h) {
            const float part = page.value(TensorId::contributions, h, page.word, d);
            (part < 0 ? negative : positive) += part;
        }
        up = std::max(up, positive);
        down = std::max(down, -negative);
    }
    const float unit = area.h / (up + down), zero = area.y + up * unit;
    figure::Scene& scene = page.picture.scene;
    for (std::int64_t d = 0; d < dims.D; ++d) {
        const float x = area.x + cell * static_cast<float>(d) + cell * 0.22F, wide = cell * 0.56F;
        float positive = 0, negative = 0;
        for (std::int64_t h = 0; h < dims.H; ++h) {
            const float part = page.value(TensorId::contributions, h, page.word, d);
            float& end = part < 0 ? negative : positive;
            const float from = zero - end * unit, to = zero - (end + part) * unit;
            end += part;
            scene.add(figure::RectItem{.area = {x, std::min(from, to), wide, std::abs(to - from)},
                                       .fill = page.color(h)});
        }
        const float sum = zero - page.value(TensorId::output, page.word, d) * unit;
        scene.add(figure::RectItem{.area = {x - 3, sum - 1, wide + 6, 2}, .fill = page.theme().ink});
    }
    scene.add(figure::RectItem{.area = {area.x, zero - 0.5F, area.w, 1}, .fill = page.theme().muted});
}

std::vector<float> contribution_lengths(const FlowPage& page, const Shown& shown) {
    std::vector<float> lengths;
    for (std::int64_t h = 0; h < page.dims().H; ++h) {
        double squares = 0;
        for (std::int64_t d = 0; d < page.dims().D; ++d) {
            const auto part =
                static_cast<double>(shown.value({TensorId::contributions, {page.batch(), h, page.word, d}}));
            squares += part * part;
        }
        lengths.push_back(static_cast<float>(std::sqrt(squares)));
    }
    return lengths;
}

/// The length of what each head adds to the output row in focus, in front of the length before the last step.
void draw_length_chart(const FlowPage& page, const figure::Rect& area) {
    const Dims& dims = page.dims();
    const std::vector<float> lengths = contribution_lengths(page, page.context.shown);
    const Shown* const before = flow_before(page);
    const std::vector<float> former = before == nullptr ? lengths : contribution_lengths(page, *before);
    const float longest =
        std::max({*std::ranges::max_element(lengths), *std::ranges::max_element(former), 1e-6F});
    constexpr float name = 26, result_room = 40, size = 12;
    const float row = std::min(16.0F, area.h / static_cast<float>(dims.H));
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const float y = area.y + row * static_cast<float>(h);
        const float length = lengths[static_cast<std::size_t>(h)];
        const float unit = (area.w - name - result_room) / longest, wide = unit * length;
        if (before != nullptr && former[static_cast<std::size_t>(h)] != length)
            page.picture.scene.add(
                figure::RectItem{.area = {area.x + name, y, unit * former[static_cast<std::size_t>(h)],
                                          std::max(row - 1, 1.0F)},
                                 .fill = with_opacity(page.theme().line2, page.context.earlier->strength)});
        page.picture.scene.add(figure::RectItem{.area = {area.x + name, y + 2, wide, std::max(row - 4, 1.0F)},
                                                .fill = page.color(h)});
        if (row < size)
            continue;
        const float baseline = figure::baseline_for(y + row / 2, size);
        const figure::Font font = h == page.head ? figure::Font::ui_semibold : figure::Font::ui;
        draw_text(page.picture, page.context, area.x, baseline, "H" + std::to_string(h), font, size,
                  h == page.head ? page.theme().ink : page.theme().text);
        draw_text(page.picture, page.context, area.x + name + wide + 6, baseline, number(length, 2),
                  figure::Font::mono, size, page.theme().text);
    }
}

/// Draws a hint on what to click, at the lower left of a wide canvas.
void draw_flow_hints(const FlowPage& page) {
    const FlowLayout& layout = page.layout;
    constexpr float least_width = 300, line = 23, size = 13, margin = 28, named = 58;
    const float top = layout.height - margin - 3 * line;
    const float below = (page.problem().cross() ? layout.x_kv : layout.x).area.bottom() + 40;
    if (layout.corner.w < least_width || top < below || !page.context.controls)
        return;
    const std::string word = page.query_word(page.word);
    const std::array<std::pair<std::string, std::string>, 3> hints{
        {{key_hint("play"), tr("flow.hint_play", "plays the story of “{}”", word)},
         {tr("flow.hint_point", "point"), tr("flow.hint_path", "at anything to light its path")},
         {tr("flow.hint_drag", "drag"),
          tr("flow.hint_follows", "any number of X; everything after it follows")}}};
    for (std::size_t n = 0; n < hints.size(); ++n) {
        const float baseline = top + line * static_cast<float>(n + 1);
        draw_text(page.picture, page.context, layout.corner.x, baseline, hints[n].first,
                  figure::Font::ui_semibold, size, page.theme().ink);
        draw_text(page.picture, page.context, layout.corner.x + named, baseline,
                  fitted(page.context, hints[n].second, figure::Font::ui, size, layout.corner.w - named),
                  figure::Font::ui, size, page.theme().text);
    }
}

void draw_flow_chart(const FlowPage& page) {
    const figure::Rect area = page.layout.chart;
    if (area.w <= 0)
        return;
    const Dims& dims = page.dims();
    constexpr float least_column = 16, above = 20, size = 13, swatch = 10;
    const bool columns = area.w / static_cast<float>(dims.D) >= least_column && dims.H <= coloured_heads;
    const std::string word = page.query_word(page.word);
    // The picture before a step and the one at rest replace each other through the empty canvas.
    const float before = flow_before(page) == nullptr || !columns ? 0 : page.context.earlier->strength;
    const bool compares = before > 0.5F;
    std::string title = compares ? tr("flow.output_of", "output of “{}”, before and now", word)
                        : columns
                            ? tr("flow.each_head_adds", "What each head adds to “{}”", word)
                            : tr("flow.each_head_adds_length", "What each head adds to “{}” (length)", word);
    const float room = page.layout.width - area.x - 8;
    if (page.context.measure(title, figure::Font::ui_semibold, size) > room)
        title =
            compares ? tr("flow.before_and_now", "before and now") : tr("flow.adds_to", "adds to “{}”", word);
    draw_text(page.picture, page.context, area.x, area.y - above,
              fitted(page.context, title, figure::Font::ui_semibold, size, room), figure::Font::ui_semibold,
              size, page.theme().ink);
    if (!columns)
        return draw_length_chart(page, area);
    if (compares)
        draw_flow_output_before(page, area);
    else
        draw_column_chart(page, area);
    float x = area.x;
    const float baseline = area.bottom() + 34;
    const auto entry = [&](figure::Color color, const std::string& text, bool line) {
        const float wide = swatch + 6 + page.context.measure(text, figure::Font::ui, size) + 16;
        if (x + wide > page.layout.width)
            return;
        page.picture.scene.add(figure::RectItem{
            .area = {x, line ? baseline - 6 : baseline - swatch, line ? 14.0F : swatch, line ? 2.0F : swatch},
            .fill = color});
        draw_text(page.picture, page.context, x + swatch + 8, baseline, text, figure::Font::ui, size,
                  page.theme().text);
        x += wide;
    };
    if (compares) {
        entry(page.theme().line2, tr("flow.legend_before", "before"), false);
        entry(page.theme().ink, tr("flow.legend_now", "now"), false);
        entry(ramp_color(page.theme().diverging, 1), tr("flow.change", "change"), false);
    } else {
        for (std::int64_t h = 0; h < dims.H; ++h)
            entry(page.color(h), tr("flow.legend_head", "head {}", h), false);
        entry(page.theme().ink, tr("flow.legend_sum", "sum = output"), true);
    }
    if (before > 0 && before < 1)
        page.picture.scene.add(figure::RectItem{
            .area = {area.x - 60, area.y - 4, area.w + 68, area.h + 44},
            .fill = with_opacity(page.theme().canvas, compares ? 2 * (1 - before) : 2 * before)});
}

} // namespace

void draw_flow_inputs(const FlowPage& page) {
    const FlowLayout& layout = page.layout;
    draw_flow_rows(page, flow_tensor(page, TensorId::x), layout.x);
    frame_flow_part(page, layout.x.at(page.word));
    const bool names = draw_feature_names(page);
    draw_flow_caption(page, layout.x.area.x, layout.x.area.y - (names ? 28 : caption_above), "X",
                      tr("flow.the_words", "the words"), TensorId::x, "words", layout.x.area.w + 40);
    if (page.problem().cross()) {
        draw_flow_rows(page, flow_tensor(page, TensorId::x_kv), layout.x_kv);
        draw_flow_caption(page, layout.x_kv.area.x, layout.x_kv.area.y - caption_above, "X_kv",
                          tr("flow.second_sentence", "second sentence"), TensorId::x_kv, "second words",
                          layout.x_kv.area.w + 60);
    }
}

void draw_flow_output_ribbons(const FlowPage& page) {
    const FlowLayout& layout = page.layout;
    if (layout.concat.area.w <= 0)
        return;
    constexpr float mixed = 0.36F;
    for (std::int64_t i = 0; i < page.dims().Tq; ++i) {
        const figure::Color tint = with_opacity(page.theme().muted, i == page.word ? mixed : page.faint());
        const figure::Rect from = layout.concat.at(i), to = layout.output.at(i);
        page.picture.scene.add(ribbon(right_of(from, tint, from.h - 2), left_of(to, tint, to.h - 2)));
    }
}

void draw_flow_output(const FlowPage& page) {
    const FlowLayout& layout = page.layout;
    const Dims& dims = page.dims();
    if (layout.concat.area.w > 0) {
        for (std::int64_t h = 0; h < dims.H; ++h)
            draw_flow_concat(page, h, 0, dims.Tq);
        draw_flow_caption(
            page, layout.concat.area.x, layout.concat.area.y - caption_above, "", "concat", TensorId::concat,
            "concat", std::min(layout.concat.area.w + 20, layout.output.area.x - layout.concat.area.x - 6));
        frame_flow_part(page, layout.concat.at(page.word));
    }
    draw_flow_W_O(page);
    draw_flow_rows(page, flow_tensor(page, TensorId::output), layout.output);
    draw_flow_caption(page, layout.output.area.x, layout.output.area.y - caption_above, "output",
                      tr("flow.new_vectors", "the new vectors"), TensorId::output, "output",
                      layout.output.area.w);
    frame_flow_part(page, layout.output.at(page.word), 2);
    draw_flow_chart(page);
}

void draw_flow_corner(const FlowPage& page, const FlowCellText& cell) {
    const figure::Rect area = page.layout.corner;
    if (area.w <= 0)
        return;
    const Dims& dims = page.dims();
    constexpr float narrow = 300, least_title = 15;
    const std::string word = page.query_word(page.word);
    const std::string title = !cell.title.empty() ? cell.title
                              : area.w >= narrow
                                  ? tr("flow.takes_from_sentence", "What “{}” takes from the sentence", word)
                                  : tr("flow.is_in_focus", "“{}” is in focus", word);
    float size = area.w >= narrow ? 22.0F : 17.0F;
    while (size > least_title && page.context.measure(title, figure::Font::ui_semibold, size) > area.w)
        size -= 1;
    float y = draw_paragraph(page.picture, page.context, area.x, area.y + 18, area.w, title,
                             figure::Font::ui_semibold, size, size + 6, page.theme().ink);
    std::string text = cell.text;
    constexpr std::int64_t most_told = 3;
    for (std::int64_t h = 0; h < std::min(dims.H, most_told) && cell.title.empty(); ++h) {
        const std::int64_t told = dims.H > most_told ? page.head : h;
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < dims.Tk; ++j)
            if (page.weight(told, page.word, j) > page.weight(told, page.word, best))
                best = j;
        const std::string role = FigureWeights(page.context, HeadsView::each, told).role();
        const std::string percent =
            std::to_string(std::lround(100 * page.weight(told, page.word, best))) + "\u00A0%";
        if (!text.empty())
            text += " ";
        text += page.is_off(told) ? tr("flow.head_is_off", "Head {} is off: it adds nothing.", told)
                : role.empty() ? tr("flow.head_attends", "Head {}: {} of its attention is on “{}”.", told,
                                    percent, page.key_word(best))
                               : tr("flow.head_attends_role", "Head {} ({}): {} of its attention is on “{}”.",
                                    told, role, percent, page.key_word(best));
        if (dims.H > most_told)
            break;
    }
    constexpr float body = 14, line = 21;
    const std::vector<std::string> lines =
        wrapped(text, area.w, page.context.measure, figure::Font::ui, body);
    if (y + line * static_cast<float>(lines.size()) <= area.bottom())
        draw_paragraph(page.picture, page.context, area.x, y + 4, area.w, text, figure::Font::ui, body, line,
                       page.theme().text);
    draw_flow_hints(page);
}

} // namespace headscope::app
