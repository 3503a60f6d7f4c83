#include "app/draw/effects/why.h"

#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr float why_top = 170, sums_width = 58, pairs_height = 108, pairs_line = 20;
constexpr float lowest_row = 16; ///< minimum height for readable names and sums

struct WhyTable {
    float left = 0, top = why_top, cell_w = 0, cell_h = 0;
    std::size_t count = 0;
    bool numbers = false;

    figure::Rect cell(std::size_t query, std::size_t key) const {
        return {left + cell_w * static_cast<float>(key), top + cell_h * static_cast<float>(query), cell_w - 1,
                cell_h - 1};
    }
    float right() const { return left + cell_w * static_cast<float>(count); }
    float bottom() const { return top + cell_h * static_cast<float>(count); }
};

/// Text next to the title of the rotation pairs, or below the title if it does not fit.
struct PairsHead {
    std::string title, words, marks;
    bool words_beside = false, marks_beside = false;

    float height() const { return (words_beside ? 0.0F : pairs_line) + (marks_beside ? 0.0F : pairs_line); }
};

PairsHead pairs_head(const DrawContext& context, const WhyScore& why) {
    constexpr float apart = 14;
    PairsHead head{.title = tr("why_page.same_score_rotation_pair", "The same score by RoPE pair"),
                   .words = tr("why_page.pair_p_turns_p",
                               "pair p: rotated by {} θ_p between the tokens; λ = 2π/θ_p",
                               why.question.query - why.question.key),
                   .marks = tr("why_page.bar_turned_line_distance", "bar: rotated   line: at distance 0")};
    const float words = context.measure(head.words, Font::ui, 12.5F) + apart,
                marks = context.measure(head.marks, Font::ui, 12.5F) + apart,
                room = context.width - 2 * canvas_pad - context.measure(head.title, Font::ui_semibold, 17);
    head.words_beside = words + marks <= room;
    head.marks_beside = marks <= room;
    return head;
}

WhyTable table_of(const DrawContext& context, const WhyScore& why) {
    WhyTable table;
    table.count = why.groups.size();
    float names = 0;
    for (const WhyScore::Group& group : why.groups)
        names = std::max(names, context.measure(group.name, Font::ui, 12));
    table.left = canvas_pad + std::min(names, 110.0F) + 10;
    const float room = context.width - canvas_pad - sums_width - table.left,
                below =
                    why.score.pairs.empty() ? 90.0F : pairs_height + 178 + pairs_head(context, why).height();
    const auto n = static_cast<float>(table.count);
    table.cell_w = std::floor(std::clamp(room / n, 8.0F, 72.0F));
    constexpr float readable = 34;
    table.numbers = table.cell_w >= readable;
    table.cell_h = std::floor(
        std::clamp((context.height - why_top - below) / n, table.numbers ? 17.0F : lowest_row, 34.0F));
    return table;
}

/// Names along both sides; those of the largest term are in ink.
void draw_names(Picture& picture, const DrawContext& context, const WhyScore& why, const WhyTable& table) {
    const Theme& theme = context.theme;
    const WhyScore::Term& largest = why.largest.front();
    const Problem& problem = context.shown.problem();
    const float taken = draw_text(picture, context, table.left, table.top - 46,
                                  tr("why_page.written_key", "columns: components of the key “{}”",
                                     shortened(key_word(problem, why.question.key), 14)),
                                  Font::ui_medium, 12.5F, theme.ink);
    draw_text(picture, context, table.left + taken + 14, table.top - 46,
              tr("why_page.columns_rows_written_query", "rows: of the query “{}”",
                 shortened(query_word(problem, why.question.query), 14)),
              Font::ui, 12.5F, theme.muted);
    for (std::size_t n = 0; n < table.count; ++n) {
        const WhyScore::Group& group = why.groups[n];
        const figure::Rect row = table.cell(n, 0), column = table.cell(0, n);
        const bool query = n == largest.query, key = n == largest.key;
        draw_text(picture, context, table.left - 8, figure::baseline_for(row.y + row.h / 2, 12), group.name,
                  query ? Font::ui_semibold : Font::ui, 12, query ? theme.ink : theme.muted, Align::right);
        const std::string brief = why.joined ? group.name : group.brief;
        const bool fits = context.measure(brief, Font::ui_semibold, 12) <= column.w + 2;
        if (fits)
            draw_text(picture, context, column.x + column.w / 2, table.top - 8, brief,
                      key ? Font::ui_semibold : Font::ui, 12, key ? theme.ink : theme.muted, Align::center);
        else if (n == 0) // there is space to the left of it
            draw_text(picture, context, column.right(), table.top - 8, brief,
                      key ? Font::ui_semibold : Font::ui, 12, key ? theme.ink : theme.muted, Align::right);
        // The layer is named above its heads.
        const bool first = n == 0 || why.groups[n - 1].layer != group.layer;
        if (first && group.layer >= 0 && !why.joined)
            draw_text(picture, context, column.x + 2, table.top - 24, "L" + std::to_string(group.layer),
                      Font::ui, 12, theme.text);
    }
    draw_text(picture, context, table.right() + sums_width - 6, table.top - 8, tr("common.sum", "sum"),
              Font::ui, 12, theme.muted, Align::right);
    draw_text(picture, context, table.left - 8, table.bottom() + 15, tr("common.sum", "sum"), Font::ui, 12,
              theme.muted, Align::right);
}

void draw_sums(Picture& picture, const DrawContext& context, const WhyScore& why, const WhyTable& table) {
    const Theme& theme = context.theme;
    for (std::size_t n = 0; n < table.count; ++n) {
        const figure::Rect row = table.cell(n, 0), column = table.cell(0, n);
        draw_text(picture, context, table.right() + sums_width - 6,
                  figure::baseline_for(row.y + row.h / 2, 12), number(why.rows[n], 1), Font::mono, 12,
                  theme.text, Align::right);
        if (table.numbers)
            draw_text(picture, context, column.x + column.w / 2, table.bottom() + 15,
                      number(why.columns[n], 1), Font::mono, 12, theme.text, Align::center);
    }
    const std::string total = number(why.score.scaled, 2);
    const figure::Rect area{table.right() + 4, table.bottom() + 2, sums_width - 2, 19};
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.ink, .radius = 4});
    draw_text(picture, context, area.right() - 6, figure::baseline_for(area.y + area.h / 2, 12), total,
              Font::mono, 12, theme.canvas, Align::right);
}

/// Draws the contribution of each pair of dimensions that the rotary embedding rotates together. Returns the
/// lower edge.
float draw_pairs(Picture& picture, const DrawContext& context, const WhyScore& why, float y) {
    const Theme& theme = context.theme;
    const std::vector<analysis::RotationPair>& pairs = why.score.pairs;
    const float right = context.width - canvas_pad, left = canvas_pad + 36;
    draw_hairline(picture, context, canvas_pad, y, right - canvas_pad);
    const PairsHead head = pairs_head(context, why);
    const float taken =
        draw_text(picture, context, canvas_pad, y + 30, head.title, Font::ui_semibold, 17, theme.ink);
    if (head.marks_beside)
        draw_text(picture, context, right, y + 30, head.marks, Font::ui, 12.5F, theme.muted, Align::right);
    if (head.words_beside)
        draw_text(picture, context, canvas_pad + taken + 14, y + 30, head.words, Font::ui, 12.5F,
                  theme.muted);
    else
        draw_text(picture, context, canvas_pad, (y += pairs_line) + 30, head.words, Font::ui, 12.5F,
                  theme.muted);
    if (!head.marks_beside)
        draw_text(picture, context, canvas_pad, (y += pairs_line) + 30, head.marks, Font::ui, 12.5F,
                  theme.muted);
    double low = 0, high = 0;
    for (const analysis::RotationPair& pair : pairs) {
        low = std::min({low, pair.turned, pair.at_distance_0});
        high = std::max({high, pair.turned, pair.at_distance_0});
    }
    const double span = std::max(high - low, 1e-9);
    const float top = y + 52;
    const auto place = [&](double value) {
        return top + static_cast<float>((high - value) / span) * pairs_height;
    };
    const float pitch = (right - left) / static_cast<float>(pairs.size());
    picture.scene.add(figure::LineItem{{left, place(0)}, {right, place(0)}, theme.line2, 1});
    constexpr float line = 14; // minimum distance between two numbers
    for (const double value : {low, high})
        if (value != 0 && std::abs(place(value) - place(0)) >= line)
            draw_text(picture, context, left - 8, place(value) + 4, number(value, 1), Font::mono, 12,
                      theme.muted, Align::right);
    draw_text(picture, context, left - 8, place(0) + 4, "0", Font::mono, 12, theme.muted, Align::right);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const analysis::RotationPair& pair = pairs[p];
        const float x = left + pitch * (static_cast<float>(p) + 0.5F), width = std::min(pitch * 0.6F, 26.0F);
        const float from = place(std::max(pair.turned, 0.0)), to = place(std::min(pair.turned, 0.0));
        picture.scene.add(figure::RectItem{.area = {x - width / 2, from, width, std::max(to - from, 1.0F)},
                                           .fill = sign_colour(theme, pair.turned)});
        picture.scene.add(figure::LineItem{{x - width / 2 - 2, place(pair.at_distance_0)},
                                           {x + width / 2 + 2, place(pair.at_distance_0)},
                                           theme.ink,
                                           2});
        const std::string wave = number(pair.wavelength, pair.wavelength < 100 ? 1 : 0),
                          turned = signed_number(pair.turned, 3),
                          unturned = signed_number(pair.at_distance_0, 3);
        picture.tips.push_back(
            {{x - pitch / 2, top, pitch, pairs_height},
             pair.wavelength == 0
                 ? tr("why_page.pair_not_turn_distance",
                      "Pair {}, not rotated: {}; at distance 0 it would be {}", p, turned, unturned)
                 : tr("why_page.pair_one_turn_tokens",
                      "Pair {}, a full rotation takes λ = {} tokens: {}; at distance 0 it would be {}", p,
                      wave, turned, unturned)});
        const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(64.0F / pitch));
        if (p % every == 0)
            draw_text(picture, context, x, top + pairs_height + 20, pair.wavelength == 0 ? "∞" : wave,
                      Font::mono, 12, theme.muted, Align::center);
    }
    const float foot = top + pairs_height + 20;
    draw_text(picture, context, left - 8, foot, "λ", Font::mono, 12, theme.muted, Align::right);
    // Three groups of equally many pairs; they add up to the score.
    const std::size_t third = (pairs.size() + 2) / 3;
    // Translators: a third of the RoPE pairs, by how fast they rotate
    const std::array names{tr("why_page.fast", "fast"), tr("why_page.middle", "middle"),
                           tr("why_page.slow", "slow")};
    for (std::size_t g = 0; g < 3 && g * third < pairs.size(); ++g) {
        const std::size_t first = g * third, last = std::min(first + third, pairs.size());
        const double sum = std::accumulate(
            pairs.begin() + static_cast<std::ptrdiff_t>(first),
            pairs.begin() + static_cast<std::ptrdiff_t>(last), 0.0,
            [](double total, const analysis::RotationPair& pair) { return total + pair.turned; });
        const float from = left + pitch * static_cast<float>(first) + 4,
                    to = left + pitch * static_cast<float>(last) - 4;
        picture.scene.add(figure::LineItem{{from, foot + 10}, {to, foot + 10}, theme.line2, 1});
        draw_text(picture, context, (from + to) / 2, foot + 28, names[g] + " " + signed_number(sum, 2),
                  Font::ui_medium, 12.5F, theme.ink, Align::center);
    }
    return foot + 40;
}

void draw_switches(Picture& picture, const DrawContext& context, const WhyScore& why) {
    if (!context.controls)
        return;
    const std::vector<Segment> ways{
        {.label = tr("common.score_map", "Score map"),
         .action = GoTo{StageGroup::scores},
         .on = false,
         .tip = tr("why_page.all_scores_head", "All scores of the head")},
        {.label = tr("common.taken_apart", "Components"), .action = ShowScreen{Screen::why}, .on = true}};
    float x = context.width - canvas_pad - segmented_width(context, ways);
    draw_segmented(picture, context, x, 28, ways);
    if (!why.may_join)
        return;
    const std::string label = why.joined ? tr("why_page.heads_one_one", "Heads one by one")
                                         : tr("why_page.join_heads", "Join heads");
    x = context.width - canvas_pad - context.measure(label, Font::ui_medium, 12.5F) - 16;
    draw_text_button(
        picture, context, x, 86, label, false, // below the formula, which may be long
        JoinComponents{!why.joined},
        why.joined ? tr("why_page.row_column_every_head", "One row and one column for every head")
                   : tr("why_page.one_row_one_column", "One row and one column for all heads of a layer"));
}

} // namespace

Picture draw_score_terms(const DrawContext& context) {
    const WhyScore* const why = context.shown.why.get();
    if (why == nullptr)
        return message_view(context, tr("common.why_score", "Why this score"),
                            tr("why_page.select_score_layer_see",
                               "Select a score of a layer to see the components of its query and its key."));
    Picture picture = empty_view(context);
    const Theme& theme = context.theme;
    const Problem& problem = context.shown.problem();
    draw_view_heading(
        picture, context,
        tr("why_page.why_score_l_h", "Why this score of L{} H{}", why->layer, why->question.head),
        tr("why_page.scaled_q_k_b",
           "scaled[{}, {}] = Σ q[a] · k[b] / √dk, over components a of the query and b of the key",
           query_word(problem, why->question.query), key_word(problem, why->question.key)));
    draw_switches(picture, context, *why);
    const WhyTable table = table_of(context, *why);
    draw_names(picture, context, *why, table);
    for (std::size_t q = 0; q < table.count; ++q)
        for (std::size_t k = 0; k < table.count; ++k) {
            const figure::Rect area = table.cell(q, k);
            const double value = why->at(q, k);
            draw_signed_cell(picture, context, area, value, why->max_abs, table.numbers, 1);
            picture.tips.push_back(
                {area, tr("why_page.query_key", "{} in the query · {} in the key: {}", why->groups[q].name,
                          why->groups[k].name, signed_number(value, 3))});
        }
    const figure::Rect largest = table.cell(why->largest.front().query, why->largest.front().key);
    draw_selected_cell(picture, theme, largest);
    draw_sums(picture, context, *why, table);
    float y = table.bottom() + 30;
    constexpr float ramp = 120;
    draw_ramp(picture, theme.diverging, table.left, y, ramp);
    draw_text(picture, context, table.left + ramp + 12, y + 9,
              tr("why_page.q_k_dk_one", "{} to {}: q[a] · k[b] / √dk of one pair of components",
                 number(-why->max_abs, 1), signed_number(why->max_abs, 1)),
              Font::ui, 12.5F, theme.muted);
    y += 34;
    if (!why->score.pairs.empty())
        y = draw_pairs(picture, context, *why, y);
    picture.scene.width = std::max(context.width, table.right() + sums_width + canvas_pad);
    picture.scene.height = std::max(context.height, y + 16);
    return picture;
}

} // namespace headscope::app
