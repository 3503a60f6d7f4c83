#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/screens/atlas.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float text_size = 13.0F;

/// The atlas that the bar belongs to; null: the bar belongs to the stages.
const Atlas* compared_atlas(const DrawContext& context) {
    return context.view.attention.screen == Screen::atlas ? context.shown.atlas.get() : nullptr;
}

/// "attention change: L5 H3 changed most, +0.21."
std::string largest_score_change(const Atlas& atlas, analysis::HeadScore score) {
    std::size_t at = atlas.heads.size();
    float largest = 0;
    for (std::size_t n = 0; n < atlas.heads.size(); ++n)
        if (const auto& head = atlas.heads[n];
            head && head->has(score) && std::abs((*head)[score]) > std::abs(largest)) {
            largest = (*head)[score];
            at = n;
        }
    const std::string name = tr(analysis::info_of(score).name);
    if (at == atlas.heads.size())
        return tr("compare_bar.no_score_differs", "{}: no head differs from A.", name);
    const std::string value = score_text(score, largest);
    return tr("compare_bar.largest_score_change", "{}: {} changed most, {}.", name, (*atlas.names)[at],
              largest > 0 ? "+" + value : value);
}

/// The same for the atlas.
std::string sentence_of(const DrawContext& context, const Atlas& atlas) {
    const std::string& name = context.compare->name();
    if (!atlas.compare_obstacle.empty())
        return atlas.compare_obstacle;
    if (context.view.compare != atlas.side)
        return tr("compare_bar.computing_a", "A is being computed.");
    const auto known = std::ranges::count_if(atlas.rows, [](const auto& row) { return row != nullptr; });
    if (atlas.side != Compare::now && known < std::ssize(atlas.rows))
        return tr("compare_bar.reading_a", "A is being read: {} of {} layers.", known, atlas.rows.size());
    if (atlas.side == Compare::baseline)
        return tr("compare_bar.scores_of_a", "Scores and maps of A: {}.", name);
    if (atlas.side == Compare::now)
        return tr("compare_bar.scores_of_b", "Scores and maps of B. A: {}.", name);
    const AttentionView& view = context.view.attention;
    return largest_score_change(atlas, resolve_atlas_view(atlas, view.atlas, view.pattern).colour);
}

/// Describes the current state of the switch in one sentence.
std::string sentence_of(const DrawContext& context) {
    const Comparison& compare = *context.compare;
    if (!compare.obstacle().empty())
        return compare.obstacle() +
               (compare.is_pending() || context.shown.document->shows_weights()
                    ? ""
                    : " " + tr("compare_bar.compare_cell_cell_change",
                               "To compare cell by cell, change B back, or mark a new A."));
    if (context.showing == Compare::baseline)
        return tr("compare_bar.screen_edit_changes_b", "A is on screen: {}. An edit changes B and shows it.",
                  compare.name());
    const ViewState& view = context.view;
    if (view.compare == Compare::difference && !draws_difference(view))
        return tr("compare_bar.lines_show_b_heatmap", "These lines show B. The heatmap ({}) shows B − A.",
                  key_hint("heatmap"));
    const TensorId id = main_tensor(view);
    const analysis::TensorDifference* change = compare.of(id);
    if (change == nullptr)
        return "A: " + compare.name() + ".";
    const std::string name(tensor_info(id).name);
    std::string text;
    if (change->changed == 0)
        text = tr("compare_bar.no_number_differs", "{}: no number differs from A.", name);
    else if (context.showing == Compare::now)
        text = tr_n("compare_bar.cell_differs", "{} cell of {} differs from A ({}).",
                    "{} cells of {} differ from A ({}).", change->changed, grouped(change->changed), name,
                    compare.name());
    else if (change->largest_at)
        text = tr("compare_bar.largest_change", "Largest change: {}, {}.",
                  address_text(context.shown, {id, *change->largest_at}),
                  signed_number(change->largest, std::abs(change->largest) < 0.01F ? 4 : 2));
    if (change->masked_in_one > 0)
        text += (text.empty() ? "" : " ") + tr_n("compare_bar.cell_masked_one", "{} cell masked in one only.",
                                                 "{} cells masked in one only.", change->masked_in_one,
                                                 grouped(change->masked_in_one));
    if (analysis::words_differ(compare.baseline().problem(), compare.now().problem()))
        text += " " + tr("compare_bar.words_differ_cells_compared",
                         "The words differ: cells are compared position by position.");
    return text;
}

/// The choices of the switch: A, B, or their difference.
std::vector<Segment> choices_named(const DrawContext& context, const std::string& a, const std::string& b) {
    const auto choice = [&](const std::string& label, Compare what, const std::string& tip,
                            std::string_view action) {
        const Atlas* const atlas = compared_atlas(context);
        const bool possible =
            atlas != nullptr ? atlas->compare_obstacle.empty() : context.compare->comparable();
        const bool on = possible && context.view.compare == what;
        return Segment{label, SetCompare{what}, on, with_key(tip, action)};
    };
    return {choice(a, Compare::baseline, tr("compare_bar.numbers_marked", "The numbers that were marked"),
                   "baseline"),
            choice(b, Compare::now, tr("compare_bar.numbers", "The current numbers"), "baseline"),
            choice("B − A", Compare::difference,
                   tr("compare_bar.changed_cell_cell", "The changes, cell by cell"), "changes")};
}

/// Draws the text in one line if it fits, otherwise in two smaller lines. A longer text loses its last words,
/// and its tooltip shows it in full.
void draw_sentence(Picture& picture, const DrawContext& context, const figure::Rect& area,
                   const std::string& text, figure::Color colour) {
    constexpr figure::Font font = figure::Font::ui;
    constexpr float small = 12, line = 16;
    const float middle = area.y + area.h / 2;
    const auto put = [&](const std::string& words, float y, float size) {
        draw_text(picture, context, area.x, figure::baseline_for(y, size), words, font, size, colour);
    };
    for (const float size : {text_size, small})
        if (context.measure(text, font, size) <= area.w)
            return put(text, middle, size);
    const std::vector<std::string> lines = wrapped(text, area.w, context.measure, font, small);
    const std::string first = fitted_words(context, lines.front(), font, small, area.w);
    const std::string rest = text.substr(std::min(lines.front().size() + 1, text.size()));
    const std::string second = fitted_words(context, rest, font, small, area.w);
    if (second.empty()) // not even one word fits
        put(fitted_words(context, text, font, small, area.w), middle, small);
    else {
        put(first, middle - line / 2, small);
        put(second, middle + line / 2, small);
    }
    if (first != lines.front() || second != rest)
        picture.tips.push_back({area, text});
}

} // namespace

Picture draw_compare_bar(const DrawContext& context) {
    Picture picture;
    const Theme& theme = context.theme;
    const Atlas* const atlas = compared_atlas(context);
    const bool possible = atlas != nullptr ? atlas->compare_obstacle.empty() : context.compare->comparable();
    const bool other = (atlas != nullptr ? atlas->side : context.showing) != Compare::now;
    picture.scene.add(figure::RectItem{.area = {0, 0, context.width, compare_bar_height},
                                       .fill = other ? theme.highlight : theme.panel});
    draw_hairline(picture, context, 0, compare_bar_height - 0.5F, context.width);
    if (other)
        picture.scene.add(figure::RectItem{.area = {0, 0, 3, compare_bar_height}, .fill = theme.ink});
    // In a narrow bar, the switch shows only letters, so that the sentence fits.
    constexpr float least_sentence = 200, before = 16, after = 12;
    const float left = canvas_pad - 8, close = context.width - 40;
    const auto room_beside = [&](const std::vector<Segment>& choices) {
        return close - after - left - segmented_width(context, choices) - before;
    };
    std::vector<Segment> segments =
        choices_named(context, tr("compare_bar.baseline", "A baseline"), tr("common.b_now", "B now"));
    if (room_beside(segments) < least_sentence)
        segments = choices_named(context, "A", "B");
    const float width = segmented_width(context, segments), y = (compare_bar_height - 28) / 2;
    if (possible) {
        draw_segmented(picture, context, left, y, segments);
    } else {
        picture.scene.add(figure::RectItem{
            .area = {left, y, width, 28}, .fill = theme.panel, .stroke = theme.line, .radius = 6});
        float x = left + 13;
        for (const Segment& segment_off : segments) {
            draw_text(picture, context, x, figure::baseline_for(compare_bar_height / 2, text_size),
                      segment_off.label, figure::Font::ui_medium, text_size, theme.line2);
            x += context.measure(segment_off.label, figure::Font::ui_semibold, text_size) + 22;
        }
    }
    draw_sentence(picture, context,
                  {left + width + before, 0, std::max(room_beside(segments), 0.0F), compare_bar_height},
                  atlas != nullptr ? sentence_of(context, *atlas) : sentence_of(context),
                  other ? theme.ink : theme.text);
    const figure::Point middle{close + 14, compare_bar_height / 2};
    picture.scene.add(
        figure::LineItem{{middle.x - 5, middle.y - 5}, {middle.x + 5, middle.y + 5}, theme.muted, 1.5F});
    picture.scene.add(
        figure::LineItem{{middle.x - 5, middle.y + 5}, {middle.x + 5, middle.y - 5}, theme.muted, 1.5F});
    picture.add_hotspot({close, 6, 28, compare_bar_height - 12}, "forget A", DropBaseline{},
                        tr("compare_bar.stop_comparing_forget", "Stop comparing: forget A"));
    picture.scene.width = context.width;
    picture.scene.height = compare_bar_height;
    return picture;
}

} // namespace headscope::app
