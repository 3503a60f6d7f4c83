#include "app/draw/pages/weight_parts.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/links.h"
#include "app/state/model_document.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace headscope::app {

namespace {

constexpr float number_size = 12.0F;
constexpr float word_size = 13.5F;
constexpr float legend_line = 22.0F;

std::string spot_label(const DrawContext& context, std::int64_t i, std::int64_t head) {
    const Problem& problem = context.shown.problem();
    std::string label = head == context.view.head ? "" : "head " + std::to_string(head) + " ";
    label += "query " + std::to_string(i);
    return problem.tokens.empty() ? label : label + " " + problem.query_label(i);
}

void draw_word(Picture& picture, const DrawContext& context, const figure::Rect& area,
               const std::string& full, WordState state, float size, figure::Align align) {
    const Theme& theme = context.theme;
    if (state != WordState::plain)
        picture.scene.add(
            figure::RectItem{.area = area,
                             .fill = state == WordState::focused_query ? theme.ink : theme.highlight,
                             .radius = 3});
    const float x = align == figure::Align::left    ? area.x + 8
                    : align == figure::Align::right ? area.right() - 8
                                                    : area.x + area.w / 2;
    const std::string text = shortened(full, longest_word);
    const figure::Color color = state == WordState::focused_query ? theme.canvas
                                : state == WordState::focused_key ? theme.ink
                                                                  : theme.text;
    draw_text(picture, context, x, figure::baseline_for(area.y + area.h / 2, size), text,
              state == WordState::plain ? figure::Font::ui : figure::Font::ui_semibold, size, color, align);
    if (text != full)
        picture.tips.push_back({area, full});
}

/// One entry of a legend: a sample and its text.
struct LegendEntry {
    float sample_width = 0;
    std::function<void(float x, float center_y)> sample;
    std::string text;
};

float draw_entries(Picture& picture, const DrawContext& context, float y,
                   const std::vector<LegendEntry>& entries) {
    const float right = context.width - canvas_pad;
    float x = canvas_pad;
    for (const LegendEntry& entry : entries) {
        const float gap = entry.sample_width > 0 ? 8.0F : 0.0F;
        // A text wider than a line is wrapped.
        const std::vector<std::string> lines =
            wrapped(entry.text, right - canvas_pad - entry.sample_width - gap, context.measure,
                    figure::Font::ui, 12.5F);
        const float width = entry.sample_width + gap + context.measure(entry.text, figure::Font::ui, 12.5F);
        if (x > canvas_pad && x + width > right) {
            x = canvas_pad;
            y += legend_line;
        }
        if (entry.sample)
            entry.sample(x, y + legend_line / 2);
        for (std::size_t i = 0; i < lines.size(); ++i, y += i < lines.size() ? legend_line : 0)
            draw_text(picture, context, x + entry.sample_width + gap,
                      figure::baseline_for(y + legend_line / 2, 12.5F), lines[i], figure::Font::ui, 12.5F,
                      context.theme.muted);
        x += width + 28;
    }
    return y + legend_line;
}

LegendEntry line_entry(Picture& picture, figure::Color color, float width, std::string text,
                       bool dashed = false) {
    return {28,
            [&picture, color, width, dashed](float x, float y) {
                for (float at = 0; dashed && at < 28; at += 10)
                    picture.scene.add(figure::LineItem{{x + at, y}, {x + at + 6, y}, color, width});
                if (!dashed)
                    picture.scene.add(figure::LineItem{{x, y}, {x + 28, y}, color, width});
            },
            std::move(text)};
}

std::string quoted_query(const DrawContext& context, std::int64_t i) {
    return tr("common.text", "“{}”", shortened(context.shown.problem().query_label(i), longest_word));
}

struct Filled {
    float top = 0;
    figure::Color color = 0;
};

/// Fills the area from the bottom; a weight or a difference of 1 fills all of it.
Filled fill_vessel(Picture& picture, const FigureWeights& reading, float value, const figure::Rect& area) {
    const float size = std::min(std::abs(value), 1.0F);
    // The palest colors would look like the empty part.
    const float height = std::max(size * area.h, 2.0F);
    const bool difference = reading.kind() == HeadsView::difference;
    const Filled filled{area.bottom() - height, difference
                                                    ? reading.line_color(value)
                                                    : ramp_color(reading.ramp(), std::max(size, 0.15F))};
    picture.scene.add(figure::RectItem{.area = area, .fill = reading.context().theme.panel});
    picture.scene.add(figure::RectItem{.area = {area.x, filled.top, area.w, height}, .fill = filled.color});
    return filled;
}

} // namespace

std::string fully_masked_text(const DrawContext& context, std::int64_t i) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    const std::string query = quoted_query(context, i);
    return given != nullptr && given->info().renormalised
               ? tr("weight_parts.nothing_left_weight_lay",
                    "{} has nothing left: its weight was on hidden tokens, or it read nothing", query)
               : tr("weight_parts.may_attend_nothing_weights", "{} may attend to nothing: its weights are 0",
                    query);
}

void draw_row_sums(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                   const MatrixSpec& spec) {
    if (grid.pitch_y < 14.0F)
        return;
    const float x = grid.area.right() + sum_gap;
    for (std::int64_t i = 0; i < grid.rows; ++i) {
        const bool dim = spec.rows_stepped >= 0 && i >= spec.rows_stepped; // not stepped through yet
        double sum = 0;
        for (std::int64_t j = 0; j < grid.cols; ++j)
            sum += spec.value ? spec.value(i, j) : context.shown.value({grid.tensor, grid.index(i, j)});
        const figure::Rect row = grid.cell(i, 0);
        const bool empty = sum == 0.0;
        const AttentionSetPtr& given = context.shown.document->shown_weights();
        const Index at = grid.index(i, 0);
        const bool own = grid.tensor == TensorId::weights && !spec.value; // not a mean or a difference
        const bool off = given != nullptr && !empty &&
                         (own ? given->is_off(context.shown.document->layer(), at[1], at[2], sum)
                              : given->info().is_off(sum));
        // In loaded weights a row of zeros is not an error: the query may attend to nothing.
        const bool flagged = off || (empty && given == nullptr);
        const float size = 12.5F;
        draw_text(picture, context, x, figure::baseline_for(row.y + row.h / 2, size),
                  number(sum, 2) + (flagged ? "⚠" : ""), figure::Font::mono, size,
                  dim       ? context.theme.line2
                  : flagged ? context.theme.bad
                            : context.theme.muted);
        if (off)
            picture.tips.push_back(
                {{x, row.y, sum_width, row.h},
                 tr("weight_parts.row_sums_not_1", "This row sums to {}, not to 1.", number(sum, 4))});
        if (!off && !empty && context.shown.problem().parts().sink)
            picture.tips.push_back({{x, row.y, sum_width, row.h},
                                    tr("weight_parts.keys_get_row_heads",
                                       "The keys get {} of this row, the head’s sink the other {}.",
                                       number(sum, 4), number(1.0 - sum, 4))});
        if (empty)
            picture.tips.push_back({{x, row.y, sum_width, row.h},
                                    given != nullptr
                                        ? why_empty(context)
                                        : tr("weight_parts.row_may_attend_no",
                                             "This row may attend to no key: its weights are 0.")});
    }
}

void draw_sink(Picture& picture, const DrawContext& context, const MatrixSpec& map) {
    const std::int64_t head = map.origin[1];
    const figure::Rect area{map.x + map.cell_w * static_cast<float>(map.cols) + 12, map.y - 42, sum_width - 8,
                            18};
    draw_text(picture, context, area.x, area.y - 4, tr("common.sink", "sink"), figure::Font::ui, 12,
              context.theme.muted);
    draw_matrix(picture, context,
                {.tensor = TensorId::sink,
                 .origin = {head, 0, 0, 0},
                 .row_axis = 1,
                 .col_axis = 0,
                 .rows = 1,
                 .cols = 1,
                 .x = area.x,
                 .y = area.y,
                 .cell_w = area.w,
                 .cell_h = area.h,
                 .high = std::abs(context.shown.value({TensorId::sink, {head, 0, 0, 0}}))});
    picture.tips.push_back(
        {{area.x, area.y - 20, area.w, 20},
         tr("weight_parts.score_sink_takes_part",
            "The score of the sink. It acts like one more key in the softmax of every row.")});
}

std::string map_title(const DrawContext& context, const TensorInfo& info) {
    const Document& document = *context.shown.document;
    // Translators: the title of a stage ("Masked scores"), then the name of a head ("L5 H1")
    return document.has_head_grid() ? tr("common.of_2", "{} of {}", tr(info.title),
                                         context.all_heads ? open_layer_name(document)
                                                           : open_head_name(document, context.view.head))
                                    : tr(info.title);
}

std::string weights_title(const DrawContext& context) {
    return context.shown.document->has_head_grid() ? head_page_title(context)
                                                   : tr("common.attention_weights", "Attention weights");
}

std::string weights_formula(const DrawContext& context) {
    if (context.shown.document->has_head_grid())
        return head_page_line(context);
    switch (context.view.heads_view) {
    case HeadsView::each:
        return context.shown.attention().formula(TensorId::weights);
    case HeadsView::mean:
        return context.shown.attention().formula(TensorId::weights_mean);
    case HeadsView::difference:
        // With many heads, their buttons take the whole line.
        return context.dims().H > 8 ? ""
                                    : "weights[" + std::to_string(context.view.head) + "] − weights[" +
                                          std::to_string(context.view.compared_head) + "]";
    }
    return {};
}

void draw_query_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                     std::int64_t head, WordState state, float size) {
    draw_word(picture, context, area, context.shown.problem().query_label(i), state, size,
              figure::Align::center);
    add_query_spot(picture, context, area, i, head);
}

void add_query_spot(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                    std::int64_t head) {
    const Problem& problem = context.shown.problem();
    const std::int64_t key = FigureWeights(context, HeadsView::each, head).largest(i);
    const CellAddress cell{TensorId::weights, {context.view.batch, head, i, key}};
    picture.add_hotspot(area, spot_label(context, i, head), Select{cell},
                        tr("weight_parts.show_reads", "Show what {} reads", query_word(problem, i)));
}

void draw_key_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t j,
                   WordState state, float size, figure::Align align) {
    draw_word(picture, context, area, context.shown.problem().key_label(j), state, size, align);
}

void draw_gauge(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j,
                const figure::Rect& area, const std::string& word) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const std::string label = shortened(word, longest_word);
    if (label != word)
        picture.tips.push_back({area, word});
    reading.add_cell(picture, i, j, area, 1);
    const float baseline = area.bottom() - 0.27F * area.h;
    if (reading.masked(i, j)) {
        draw_hatched(picture, theme, area);
        draw_text(picture, context, area.x + 10, baseline, label, figure::Font::ui, word_size, theme.muted);
        return;
    }
    const float value = reading.at(i, j);
    const Filled filled = fill_vessel(picture, reading, value, area);
    const figure::Color ink = filled.top <= baseline - 0.7F * word_size ? text_on(filled.color) : theme.ink;
    const bool bold = j == reading.largest(i);
    draw_text(picture, context, area.x + 10, baseline, label,
              bold ? figure::Font::ui_semibold : figure::Font::ui, word_size, ink);
    draw_text(picture, context, area.right() - 10, baseline, reading.text(value),
              bold ? figure::Font::mono_semibold : figure::Font::mono, number_size, ink,
              figure::Align::right);
}

void draw_gauge_without_word(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j,
                             const figure::Rect& area) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const figure::Rect vessel{area.x, area.y, area.w, area.h - 18};
    reading.add_cell(picture, i, j, area, 1);
    if (reading.masked(i, j)) {
        draw_hatched(picture, theme, vessel);
        return;
    }
    const float value = reading.at(i, j);
    fill_vessel(picture, reading, value, vessel);
    const bool bold = j == reading.largest(i);
    draw_text(picture, context, area.x + area.w / 2, area.bottom() - 4, reading.text(value),
              bold ? figure::Font::mono_semibold : figure::Font::mono, number_size,
              bold ? theme.ink : theme.text, figure::Align::center);
}

std::string name_without_gain(const std::string& title) {
    return title.substr(0, title.find(" × "));
}

void draw_figure_title(Picture& picture, const DrawContext& context, const FigureTitle& title, float x,
                       float y, float width, float beside) {
    const Theme& theme = context.theme;
    const float taken =
        draw_text(picture, context, x, y + 14, title.text, figure::Font::ui_semibold, 15, theme.ink);
    if (title.head >= 0 && context.shown.problem().gain(title.head) == 0.0F)
        strike_out(picture, x, y + 14,
                   context.measure(name_without_gain(title.text), figure::Font::ui_semibold, 15), 15,
                   theme.ink);
    const std::string role =
        fitted_words(context, title.role, figure::Font::ui, 12.5F, width + beside - taken - 10);
    if (!role.empty())
        draw_text(picture, context, x + taken + 10, y + 14, role, figure::Font::ui, 12.5F, theme.muted);
    if (role != title.role)
        picture.tips.push_back({{x, y, width, 20}, title.role});
    if (title.head >= 0)
        draw_head_bar(picture, context, title.head, x, y + 22, width);
    else
        picture.scene.add(figure::RectItem{.area = {x, y + 22, width, 4}, .fill = theme.line2});
}

void draw_figure_title(Picture& picture, const FigureWeights& reading, float x, float y, float width) {
    const bool one = reading.kind() == HeadsView::each;
    draw_figure_title(picture, reading.context(),
                      {reading.title(), reading.role(), one ? reading.head() : -1}, x, y, width);
}

void draw_figure_bar(Picture& picture, const FigureWeights& reading, const figure::Rect& area) {
    const DrawContext& context = reading.context();
    const bool one = reading.kind() == HeadsView::each;
    if (one && context.shown.problem().gain(reading.head()) == 0.0F)
        picture.scene.add(figure::RectItem{.area = area, .stroke = reading.line_color(1)});
    else
        picture.scene.add(
            figure::RectItem{.area = area, .fill = one ? reading.line_color(1) : context.theme.line2});
}

float widest_word(const DrawContext& context, bool keys, float size) {
    const Problem& problem = context.shown.problem();
    const std::int64_t count = keys ? problem.dims.Tk : problem.dims.Tq;
    float widest = 24;
    for (std::int64_t n = 0; n < count; ++n) {
        const std::string word = keys ? problem.key_label(n) : problem.query_label(n);
        widest =
            std::max(widest, context.measure(shortened(word, longest_word), figure::Font::ui_semibold, size));
    }
    return widest;
}

std::vector<Segment> view_segments(const ViewState& view) {
    const auto segment = [&](const std::string& label, WeightsView as) {
        return Segment{label, ShowWeightsAs{as}, view.weights_view == as};
    };
    return {segment(tr("weight_parts.heatmap", "Heatmap"), WeightsView::heatmap),
            segment(tr("weight_parts.arcs", "Arcs"), WeightsView::arcs),
            segment(tr("weight_parts.text", "Text"), WeightsView::text),
            segment(tr("weight_parts.graph", "Graph"), WeightsView::graph)};
}

Segment heads_segment(const ViewState& view, const std::string& label, HeadsView as, const std::string& tip) {
    return {label, ShowHeads{as}, view.heads_view == as, tip};
}

float draw_head_buttons(Picture& picture, const DrawContext& context, float x, float y, float width) {
    const float left = x;
    for (std::int64_t h = 0; h < context.dims().H; ++h) {
        const std::string label = "H" + std::to_string(h);
        const float room = context.measure(label, figure::Font::ui_medium, 12.5F) + 16;
        if (x > left && x + room > left + width) {
            x = left;
            y += 28;
        }
        const float width_of_button =
            draw_text_button(picture, context, x, y, label, h == context.view.head, PickHead{h},
                             tr("common.show_head", "Show head {}", h));
        if (context.shown.problem().gain(h) == 0.0F)
            strike_out(picture, x + width_of_button / 2, figure::baseline_for(y + 12, 12.5F), room - 16,
                       12.5F, context.theme.text, figure::Align::center);
        x += width_of_button + 4;
    }
    return y + 28;
}

float draw_link_legend(Picture& picture, const FigureWeights& reading, float y, float end,
                       const std::string& fills) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const LinkThresholds least = link_thresholds(context.dims());
    const bool difference = reading.kind() == HeadsView::difference;
    const std::string word = quoted_query(context, focused_cell(context).row);
    std::vector<LegendEntry> entries;
    if (difference) {
        entries.push_back(
            line_entry(picture, reading.line_color(1), 3,
                       tr("weight_parts.head_reads_more", "head {} reads it more", reading.head())));
        entries.push_back(line_entry(
            picture, reading.line_color(-1), 3,
            tr("weight_parts.head_reads_more", "head {} reads it more", context.view.compared_head), true));
    }
    const figure::Color sample = difference ? theme.ink : reading.line_color(1);
    entries.push_back(line_entry(picture, sample, link_width(least.focused, end), number(least.focused, 2)));
    entries.push_back(line_entry(
        picture, sample, link_width(end, end),
        difference ? tr("weight_parts.line_width_difference", "{}, line width = difference", number(end, 2))
                   : tr("weight_parts.line_width_weight", "{}, line width = weight", number(end, 2))));
    const std::string here = number(least.focused, 2), elsewhere = number(least.others, 2);
    if (least.focused == least.others)
        entries.push_back({0,
                           {},
                           difference
                               ? tr("weight_parts.differences_more", "differences of {} and more", here)
                               : tr("weight_parts.weights_more", "weights of {} and more", here)});
    else
        entries.push_back(
            {0,
             {},
             difference
                 ? tr("weight_parts.differences_more_more",
                      "differences of {} and more for {}, of {} and more for others", here, word, elsewhere)
                 : tr("weight_parts.weights_more_more_others",
                      "weights of {} and more for {}, of {} and more for others", here, word, elsewhere)});
    entries.push_back(
        {0, {}, tr("weight_parts.full_colour_faint_other", "full color: {}, faint: other queries", word)});
    if (!fills.empty())
        entries.push_back({0, {}, fills});
    if (any_masked({reading}))
        entries.push_back({14,
                           [&picture, &theme](float x, float center) {
                               const figure::Rect area{x, center - 7, 14, 14};
                               draw_hatched(picture, theme, area);
                               picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line2});
                           },
                           tr("common.masked", "masked")});
    return draw_entries(picture, context, y, entries);
}

bool any_masked(const std::vector<FigureWeights>& readings) {
    for (const FigureWeights& reading : readings)
        for (std::int64_t i = 0; i < reading.context().dims().Tq; ++i)
            for (std::int64_t j = 0; j < reading.context().dims().Tk; ++j)
                if (reading.masked(i, j))
                    return true;
    return false;
}

} // namespace headscope::app
