#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/figure_weights.h"
#include "app/draw/pages/pages.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float list_line = 26.0F;
constexpr std::size_t most_listed = 20;

/// The keys with the largest weights in one row.
std::vector<analysis::PlacedWeight> of_row(const FigureWeights& reading, std::int64_t i) {
    std::vector<analysis::PlacedWeight> all;
    for (std::int64_t j = 0; j < reading.context().dims().Tk; ++j)
        if (const float value = reading.at(i, j); value != 0 && std::isfinite(value))
            all.push_back({i, j, value});
    const auto size = std::min(most_listed, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(size),
                              [](const analysis::PlacedWeight& a, const analysis::PlacedWeight& b) {
                                  return std::abs(a.value) > std::abs(b.value);
                              });
    all.resize(size);
    return all;
}

std::string word(const Problem& problem, bool key, std::int64_t n) {
    const std::string label = key ? problem.key_label(n) : problem.query_label(n);
    const std::string number = std::to_string(n);
    return label == number ? number : shortened(label, 12) + " " + number;
}

/// Draws rows of query, key, bar and number, each hoverable. Returns the lower edge.
float draw_list(Picture& picture, const FigureWeights& reading,
                const std::vector<analysis::PlacedWeight>& list, const std::string& title,
                const figure::Rect& area) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const Problem& problem = context.shown.problem();
    draw_text(picture, context, area.x, area.y + 14, title, figure::Font::ui_semibold, 15, theme.ink);
    float y = area.y + 28;
    const float number_at = area.right(), words = std::min(area.w * 0.62F, 270.0F);
    for (const analysis::PlacedWeight& weight : list) {
        const float baseline = figure::baseline_for(y + list_line / 2, 13);
        reading.add_cell(picture, weight.i, weight.j, {area.x - 4, y + 2, area.w + 8, list_line - 4}, 1);
        const float half = words / 2 - 12;
        draw_text(picture, context, area.x + half, baseline, word(problem, false, weight.i), figure::Font::ui,
                  13, theme.text, figure::Align::right);
        draw_text(picture, context, area.x + half + 12, baseline, "→", figure::Font::ui, 13, theme.muted,
                  figure::Align::center);
        draw_text(picture, context, area.x + half + 24, baseline, word(problem, true, weight.j),
                  figure::Font::ui, 13, theme.ink);
        const float bar = area.x + words + 8, length = std::max(number_at - 52 - bar, 10.0F);
        picture.scene.add(
            figure::RectItem{.area = {bar, y + list_line / 2 - 4, length, 8}, .fill = theme.cell});
        picture.scene.add(figure::RectItem{
            .area = {bar, y + list_line / 2 - 4, length * std::min(std::abs(weight.value), 1.0F), 8},
            .fill = reading.line_color(weight.value)});
        draw_text(picture, context, number_at, baseline, reading.text(weight.value), figure::Font::mono,
                  12.5F, theme.ink, figure::Align::right);
        y += list_line;
    }
    return y;
}

} // namespace

Picture draw_strongest_page(const DrawContext& context, const std::string& why) {
    Picture picture;
    picture.scene.width = context.width;
    const float top = draw_weights_head(picture, context, head_page_title(context), head_page_line(context));
    const FigureWeights reading = focused_figure_weights(context);
    const Theme& theme = context.theme;
    const float width = context.width - 2 * canvas_pad;
    float y = draw_paragraph(picture, context, canvas_pad, top + 26, std::min(width, 640.0F), why,
                             figure::Font::ui, 13.5F, 20, theme.text) +
              2;
    const bool beside = width >= 680;
    const float each = beside ? (width - 40) / 2 : std::min(width, 460.0F);
    const FocusedCell focused = focused_cell(context);
    const std::string query = tr("strongest_page.query_reads", "Keys read by query {}",
                                 word(context.shown.problem(), false, focused.row));
    float bottom = draw_list(picture, reading, of_row(reading, focused.row), query, {canvas_pad, y, each, 0});
    const analysis::HeadFacts* facts = facts_of(context, context.view.head);
    if (reading.kind() == HeadsView::each && facts != nullptr) {
        const figure::Rect area = beside ? figure::Rect{canvas_pad + each + 40, y, each, 0}
                                         : figure::Rect{canvas_pad, bottom + 20, each, 0};
        std::vector<analysis::PlacedWeight> list = facts->strongest;
        list.resize(std::min(list.size(), most_listed));
        bottom = std::max(bottom, draw_list(picture, reading, list,
                                            tr("strongest_page.largest_head_first_key",
                                               "Largest of the head, first key left out"),
                                            area));
    }
    picture.scene.height = std::max(context.height, bottom + 24);
    return picture;
}

} // namespace headscope::app
