#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/panels/panels.h"
#include "core/base/message.h"

#include <algorithm>
#include <filesystem>

namespace headscope::app {

namespace {

struct Placed {
    std::int64_t l = 0, h = 0;
    float score = 0;
    const analysis::HeadFacts* facts = nullptr;
};

/// All heads that have been read, without means. `facts` points into the grid of heads.
std::vector<Placed> heads_read(const DrawContext& context) {
    std::vector<Placed> out;
    const AttentionInfo& info = context.head_grid->info();
    const auto heads = static_cast<std::size_t>(info.own_heads());
    for (std::int64_t l = 0; l < info.own_layers(); ++l) {
        const auto row = context.head_grid->row(l);
        if (row == nullptr)
            continue;
        for (std::size_t h = 0; h < std::min(row->heads.size(), heads); ++h) {
            const analysis::HeadFacts& facts = row->heads[h].facts;
            out.push_back({l, static_cast<std::int64_t>(h), pattern_score(facts.metrics), &facts});
        }
    }
    return out;
}

void back_of_row(Sheet& sheet, const figure::Rect& area, bool on) {
    if (!on)
        return;
    sheet.picture.scene.add(figure::RectItem{.area = area, .fill = sheet.context.theme.highlight});
    sheet.picture.scene.add(
        figure::RectItem{.area = {area.x, area.y, 3, area.h}, .fill = sheet.context.theme.ink});
}

void draw_pattern_row(Sheet& sheet, const Pattern& pattern, std::ptrdiff_t count) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const std::string letter(1, pattern.letter);
    const bool on = context.view.attention.pattern == letter;
    const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, 32};
    back_of_row(sheet, area, on);
    const float top = sheet.y;
    sheet.y += 3;
    sheet.put(sheet.left, pattern.letter == '-' ? "·" : letter, 20, figure::Font::mono_semibold, 13,
              theme.ink);
    sheet.put(sheet.left + 26,
              pattern.label.empty() ? tr("common.no_clear_label", "no clear label") : tr(pattern.label),
              sheet.width() - 80, on ? figure::Font::ui_semibold : figure::Font::ui, 13, theme.ink);
    sheet.put(sheet.right, grouped(count), 50, figure::Font::mono, 12.5F, theme.text, figure::Align::right);
    sheet.picture.add_hotspot(area, "pattern " + letter, MarkPattern{letter},
                              tr("attention_panels.click_mark_heads_board",
                                 "{}; click to mark these heads in the grid", pattern.meaning));
    sheet.y = top + 32;
}

void draw_head_row(Sheet& sheet, const Placed& placed) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const AttentionInfo& info = context.head_grid->info();
    const std::string name = analysis::head_name(info, placed.l, placed.h);
    const bool open = placed.l == context.view.attention.layer && placed.h == context.view.head;
    const figure::Rect area{sheet.left - 12, sheet.y, sheet.width() + 24, 28};
    back_of_row(sheet, area, open);
    const float center = sheet.y + 14;
    const float top = sheet.y;
    sheet.y += 1;
    sheet.put(sheet.left, name, 76, open ? figure::Font::mono_semibold : figure::Font::mono, 12.5F,
              theme.ink);
    const float bar = sheet.left + 84, length = std::max(sheet.right - 48 - bar, 20.0F);
    sheet.picture.scene.add(figure::RectItem{.area = {bar, center - 4, length, 8}, .fill = theme.line});
    sheet.picture.scene.add(
        figure::RectItem{.area = {bar, center - 4, length * std::clamp(placed.score, 0.0F, 1.0F), 8},
                         .fill = open ? theme.ink : theme.muted});
    sheet.put(sheet.right, number(static_cast<double>(placed.score), 2), 44, figure::Font::mono, 12.5F,
              theme.text, figure::Align::right);
    sheet.picture.add_hotspot(area, "list " + name, OpenHead{placed.l, placed.h},
                              tr("common.open", "Open {}", name));
    sheet.y = top + 28;
}

void draw_listed(Sheet& sheet, std::vector<Placed> heads, const std::string& title,
                 const std::string& column) {
    constexpr std::size_t most = 12;
    if (heads.empty())
        return;
    std::ranges::stable_sort(heads, std::ranges::greater{}, &Placed::score);
    sheet.section(title, column);
    for (std::size_t n = 0; n < std::min(most, heads.size()); ++n)
        draw_head_row(sheet, heads[n]);
    if (heads.size() > most)
        sheet.paragraph(tr("attention_panels.more_marked_board", "and {} more, marked in the grid of heads",
                           grouped(static_cast<std::int64_t>(heads.size() - most))),
                        sheet.context.theme.muted);
}

} // namespace

Picture draw_patterns_panel(const DrawContext& context) {
    Sheet sheet(context);
    const Theme& theme = context.theme;
    if (context.head_grid == nullptr)
        return sheet.finish();
    const AttentionInfo& info = context.head_grid->info();
    sheet.y = 18;
    sheet.put(sheet.left, set_size_text(info), sheet.width(), figure::Font::ui_semibold, 18, theme.ink);
    sheet.y += 32;
    sheet.paragraph(info.Tq == info.Tk
                        ? tr("attention_panels.each_head_labelled",
                             "Each head is labeled by its measured behavior on these tokens: the kind of "
                             "token that gets at least half of its weight, or a quarter for an earlier copy "
                             "of the token or the token that followed it.")
                        : tr("attention_panels.other_keys_queries_no",
                             "Heads have no labels here: labels such as “previous token” need queries and "
                             "keys of the same tokens."),
                    theme.text);
    if (info.Tq == info.Tk && context.shown.document->is_checkpoint())
        sheet.paragraph(tr("attention_panels.atlas_names_heads_probe",
                           "The atlas also labels heads by a probe of random tokens. If its label differs "
                           "from the one here, the head's card in the atlas shows both."),
                        theme.muted);
    draw_reading_switches(sheet);
    sheet.section(tr("attention_panels.heads", "Labels of heads"), tr("common.heads", "heads"));
    const std::vector<Placed> heads = heads_read(context);
    if (context.head_grid->ready() < info.L)
        sheet.paragraph(tr("attention_panels.reading_done", "Reading: {} of {} done.",
                           grouped(context.head_grid->ready()), grouped(info.L)),
                        theme.muted);
    if (info.Tq == info.Tk)
        for (const Pattern& pattern : patterns())
            draw_pattern_row(sheet, pattern, std::ranges::count_if(heads, [&](const Placed& head) {
                                 return pattern_of(head.facts->metrics).letter == pattern.letter;
                             }));
    std::vector<Placed> marked, flagged;
    for (const Placed& head : heads) {
        if (std::string(1, pattern_of(head.facts->metrics).letter) == context.view.attention.pattern)
            marked.push_back(head);
        if (head.facts->flagged())
            flagged.push_back(head);
    }
    const auto on = std::ranges::find(patterns(), context.view.attention.pattern,
                                      [](const Pattern& pattern) { return std::string(1, pattern.letter); });
    if (on != patterns().end())
        draw_listed(sheet, marked,
                    on->label.empty() ? tr("attention_panels.no_clear_label", "No clear label")
                                      : tr("attention_panels.heads_2", "Heads: {}", tr(on->label)),
                    // Translators: heads a column: a head's largest weight
                    on->label.empty() ? tr("common.largest", "largest") : tr("common.weight", "weight"));
    if (!flagged.empty()) {
        sheet.section(tr("attention_panels.not_softmax_gives", "⚠ Not a softmax output"),
                      grouped(static_cast<std::int64_t>(flagged.size())));
        sheet.paragraph(tr("attention_panels.heads_rows_dont_sum",
                           "Heads with rows that do not sum to 1, weights outside 0 to 1, or weights that "
                           "are not finite. They are shown unchanged."),
                        theme.text);
        constexpr std::size_t most = 8;
        flagged.resize(std::min(flagged.size(), most));
        for (const Placed& head : flagged)
            draw_head_row(sheet, head);
    }
    return sheet.finish();
}

Picture draw_source_panel(const DrawContext& context) {
    Sheet sheet(context);
    const AttentionInfo& info = context.shown.document->shown_weights()->info();
    const Theme& theme = context.theme;
    sheet.y = 18;
    sheet.put(sheet.left, info.title, sheet.width(), figure::Font::ui_semibold, 18, theme.ink);
    sheet.y += 36;
    if (!info.tensor.empty())
        sheet.row(tr("attention_panels.tensor", "tensor"), info.tensor);
    sheet.row(info.axis == SetAxis::layers ? tr("attention_panels.layers_l", "layers L")
                                           : tr("attention_panels.sequences_b", "sequences B"),
              grouped(info.own_layers()));
    sheet.row(tr("attention_panels.heads_h", "heads H"), grouped(info.own_heads()));
    if (info.Tq == info.Tk) {
        sheet.row(tr("attention_panels.tokens_t", "tokens T"), grouped(info.Tq));
    } else {
        sheet.row(tr("attention_panels.queries_tq", "queries Tq"), grouped(info.Tq));
        sheet.row(tr("attention_panels.keys_tk", "keys Tk"), grouped(info.Tk));
    }
    sheet.row(tr("common.numbers", "numbers"), info.held_as);
    sheet.row(tr("common.size", "size"), bytes_text(static_cast<std::int64_t>(info.bytes)));
    sheet.row(info.sinks ? tr("attention_panels.rows_sum_1_most", "rows sum to 1 at most, within")
                         : tr("attention_panels.rows_sum_1_within", "rows sum to 1 within"),
              shortest_number(info.sum_tolerance));
    if (!info.reading.empty())
        sheet.paragraph(
            tr("attention_panels.tokens_counted_shown", "Tokens are numbered as shown: {}.", info.reading),
            theme.text);
    sheet.section(tr("attention_panels.tokens", "Tokens"));
    sheet.paragraph(
        info.tokens_from.empty()
            ? tr("attention_panels.none_put_list_beside",
                 "None. To see words instead of numbers, save a token list as {} in the same folder.",
                 std::filesystem::path(info.title).replace_extension(".tokens.json").string())
            : tr("attention_panels.from", "From {}.", info.tokens_from),
        theme.text);
    sheet.section(tr("attention_panels.not_here", "Not available"));
    sheet.paragraph(tr("attention_panels.file_holds_attention",
                       "The file contains only attention weights. Queries, keys, values, scores and outputs "
                       "cannot be computed from them."),
                    theme.text);
    return sheet.finish();
}

} // namespace headscope::app
