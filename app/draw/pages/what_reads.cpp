#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/pages.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float head_height = 56.0F; ///< hairline, heading and the space above the first row
constexpr float chip_height = 36.0F;
constexpr float closest_chip_rows = 46.0F, widest_chip_rows = 82.0F;
constexpr float chip_label_width = 134.0F;
constexpr float widest_chip = 178.0F;

/// The view's difference or mean, if any, then the focused head, then the other heads in order.
std::vector<FigureWeights> rows_of(const DrawContext& context) {
    std::vector<FigureWeights> rows;
    if (context.view.heads_view != HeadsView::each)
        rows.push_back(focused_figure_weights(context));
    rows.emplace_back(context, HeadsView::each, context.view.head);
    if (context.view.heads_view == HeadsView::difference)
        rows.emplace_back(context, HeadsView::each, context.view.compared_head);
    else
        for (std::int64_t h = 0; h < context.dims().H; ++h)
            if (h != context.view.head)
                rows.emplace_back(context, HeadsView::each, h);
    return rows;
}

/// If all heads are shown, orders them by number instead of by focus.
void in_order_of_heads(std::vector<FigureWeights>& rows, std::size_t first) {
    std::ranges::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(), {},
                      &FigureWeights::head);
}

/// The width that the chip of a key needs.
float least_chip(const DrawContext& context, std::int64_t j) {
    const std::string word = shortened(context.shown.problem().key_label(j), longest_word);
    const bool difference = context.view.heads_view == HeadsView::difference;
    return 30 + context.measure(word, figure::Font::ui_semibold, 13.5F) +
           context.measure(difference ? "+0.00" : "0.00", figure::Font::mono_semibold, 12);
}

/// The keys by weight, largest first; masked keys last.
std::vector<std::int64_t> by_weight(const FigureWeights& reading, std::int64_t row) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(reading.context().dims().Tk));
    std::iota(keys.begin(), keys.end(), 0);
    std::ranges::stable_sort(keys, std::ranges::greater{}, [&](std::int64_t j) {
        return reading.masked(row, j) ? -1.0F : std::abs(reading.at(row, j));
    });
    return keys;
}

/// The number of keys that fit in every row if each row shows its largest weights; at least one.
std::size_t keys_that_fit(const DrawContext& context, const std::vector<FigureWeights>& rows,
                          std::int64_t row, float room, float gap) {
    auto fit = static_cast<std::size_t>(context.dims().Tk);
    for (const FigureWeights& reading : rows) {
        float width = -gap;
        std::size_t count = 0;
        for (const std::int64_t j : by_weight(reading, row)) {
            width += gap + least_chip(context, j);
            if (width > room)
                break;
            ++count;
        }
        fit = std::min(fit, count);
    }
    return std::max<std::size_t>(fit, 1);
}

/// Draws one chip per key, in the order of the sentence; of equal width if the words allow it.
void draw_chips(Picture& picture, const FigureWeights& reading, std::int64_t row, std::size_t count,
                const figure::Rect& area, float gap) {
    const DrawContext& context = reading.context();
    std::vector<std::int64_t> keys = by_weight(reading, row);
    keys.resize(count);
    std::ranges::sort(keys);
    std::vector<float> widths;
    for (const std::int64_t j : keys)
        widths.push_back(least_chip(context, j));
    const auto chips = static_cast<float>(count);
    const float even = std::min(widest_chip, (area.w + gap) / chips - gap);
    const float spare = area.w - gap * (chips - 1) - std::accumulate(widths.begin(), widths.end(), 0.0F);
    const bool equal = *std::ranges::max_element(widths) <= even;
    float x = area.x;
    for (std::size_t n = 0; n < count; ++n) {
        const float width = equal ? even : widths[n] + std::max(spare, 0.0F) / chips;
        draw_gauge(picture, reading, row, keys[n], {x, area.y, width, area.h},
                   context.shown.problem().key_label(keys[n]));
        x += width + gap;
    }
}

void draw_row_head(Picture& picture, const FigureWeights& reading, float y) {
    const DrawContext& context = reading.context();
    const Theme& theme = context.theme;
    const figure::Rect bar{canvas_pad, y + 2, 4, chip_height - 4};
    draw_figure_bar(picture, reading, bar);
    std::string text = reading.title();
    if (reading.kind() == HeadsView::mean)
        text = tr("what_reads.mean_heads", "Mean of heads");
    if (reading.kind() == HeadsView::difference)
        text = "H" + std::to_string(reading.head()) + " − H" + std::to_string(context.view.compared_head);
    const float baseline = figure::baseline_for(y + chip_height / 2, 13.5F);
    draw_text(picture, context, canvas_pad + 14, baseline, text, figure::Font::ui_semibold, 13.5F, theme.ink);
    if (reading.kind() == HeadsView::each && context.shown.problem().gain(reading.head()) == 0.0F)
        strike_out(picture, canvas_pad + 14, baseline,
                   context.measure(name_without_gain(text), figure::Font::ui_semibold, 13.5F), 13.5F,
                   theme.ink);
    if (!reading.role().empty())
        picture.tips.push_back({{canvas_pad, y, chip_label_width - 8, chip_height}, reading.role()});
}

/// Placeholder in a sentence for a word in another font.
constexpr std::string_view token_slot = "\x1f";

void draw_heading(Picture& picture, const DrawContext& context, float y, std::int64_t row,
                  const std::string& note) {
    const Theme& theme = context.theme;
    const std::string full = context.shown.problem().query_label(row);
    const std::string word = shortened(full, longest_word);
    float x = canvas_pad;
    // Translators: {} is a word of the sentence, in bold
    const std::string heading = tr("what_reads.reads", "Keys read by {}", token_slot);
    const std::size_t place = std::min(heading.find(token_slot), heading.size());
    x += draw_text(picture, context, x, y, heading.substr(0, place), figure::Font::ui, 17, theme.ink);
    const float begin = x;
    x += draw_text(picture, context, x, y, word, figure::Font::ui_semibold, 17, theme.ink);
    if (word != full)
        picture.tips.push_back({{begin, y - 16, x - begin, 20}, full});
    draw_text(picture, context, x, y, heading.substr(std::min(place + token_slot.size(), heading.size())),
              figure::Font::ui, 17, theme.ink);
    draw_text(picture, context, context.width - canvas_pad, y, note, figure::Font::ui, 12.5F, theme.muted,
              figure::Align::right);
}

} // namespace

float draw_what_row_reads(Picture& picture, const DrawContext& context, float y, float height) {
    const auto fitting = static_cast<std::int64_t>((height - head_height + closest_chip_rows - chip_height) /
                                                   closest_chip_rows);
    if (fitting < 1)
        return 0;
    std::vector<FigureWeights> rows = rows_of(context);
    const auto all_rows = static_cast<std::int64_t>(rows.size());
    const std::int64_t count = std::min(all_rows, fitting);
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end());
    if (count == all_rows && context.view.heads_view != HeadsView::difference)
        in_order_of_heads(rows, context.view.heads_view == HeadsView::each ? 0 : 1);

    const Dims& dims = context.dims();
    const std::int64_t row = focused_cell(context).row;
    const float left = canvas_pad + chip_label_width;
    const float room = context.width - canvas_pad - left;
    const float gap = dims.Tk > 5 ? 6.0F : 16.0F;
    const std::size_t keys = keys_that_fit(context, rows, row, room, gap);

    std::string note;
    if (count < all_rows)
        note += (context.view.heads_view == HeadsView::each
                     ? tr("common.heads_2", "{} of {} heads", count, all_rows)
                     : tr("what_reads.rows", "{} of {} rows", count, all_rows)) +
                ", ";
    if (keys < static_cast<std::size_t>(dims.Tk))
        note += tr("what_reads.largest_keys", "the largest {} of {} keys", keys, dims.Tk) + ", ";
    note += context.view.heads_view == HeadsView::difference
                ? tr("what_reads.bar_height_weight_difference", "bar height = weight or difference")
                : tr("what_reads.bar_height_weight", "bar height = weight");
    draw_hairline(picture, context, canvas_pad, y, context.width - 2 * canvas_pad);
    draw_heading(picture, context, y + 30, row, note);

    const float pitch = count == 1
                            ? closest_chip_rows
                            : std::clamp((height - head_height - chip_height) / static_cast<float>(count - 1),
                                         closest_chip_rows, widest_chip_rows);
    float line = y + head_height;
    for (const FigureWeights& reading : rows) {
        draw_row_head(picture, reading, line);
        if (reading.is_fully_masked(row)) {
            draw_text(picture, context, left, figure::baseline_for(line + chip_height / 2, 13.5F),
                      fully_masked_text(context, row), figure::Font::ui, 13.5F, context.theme.text);
        } else {
            draw_chips(picture, reading, row, keys, {left, line, room, chip_height}, gap);
        }
        line += pitch;
    }
    return line - pitch + chip_height - y;
}

} // namespace headscope::app
