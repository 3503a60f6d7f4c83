#include "app/draw/effects/why.h"

#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

constexpr std::size_t listed_terms = 12;
constexpr float logit_room = 58, bar_width = 56;

/// The two components, a bar with zero at its center, and the number.
void term_row(Sheet& sheet, const std::string& names, double value, double limit, int decimals, bool strong) {
    const Theme& theme = sheet.context.theme;
    const float bars = sheet.right - logit_room - bar_width;
    sheet.put(sheet.left, names, bars - 6 - sheet.left, strong ? Font::ui_semibold : Font::ui,
              Sheet::text_size, strong ? theme.ink : theme.text);
    if (limit > 0)
        draw_signed_bar(sheet.picture, theme, {bars, sheet.y, bar_width, Sheet::row_height}, value, limit);
    sheet.put(sheet.right, number(value, decimals), logit_room, Font::mono, Sheet::text_size,
              strong ? theme.ink : theme.text, Align::right);
    sheet.y += Sheet::row_height;
}

/// Makes the row a link to the component's head, if its group is a single head.
void add_way(Sheet& sheet, const WhyScore::Group& group, std::size_t n) {
    if (group.head >= 0)
        sheet.row_spot("term " + std::to_string(n), OpenHead{group.layer, group.head},
                       tr("why_inspector.take_same_pair_tokens",
                          "Show the components for this pair of tokens in {}", group.name));
}

void add_terms(Sheet& sheet, const WhyScore& why) {
    sheet.section(tr("why_inspector.largest_cells", "Largest terms"),
                  tr("why_inspector.query_key", "query · key"));
    const std::size_t count = std::min(why.largest.size(), listed_terms);
    double rest = why.score.scaled;
    std::vector<double> terms;
    for (std::size_t n = 0; n < count; ++n) {
        terms.push_back(why.largest[n].value);
        rest -= terms.back();
    }
    terms.push_back(rest);
    const SumFormat format = sum_format(terms, why.score.scaled);
    for (std::size_t n = 0; n < count; ++n) {
        const WhyScore::Term& term = why.largest[n];
        add_way(sheet, why.groups[term.key].head >= 0 ? why.groups[term.key] : why.groups[term.query], n);
        term_row(sheet, why.groups[term.query].name + " · " + why.groups[term.key].name, term.value,
                 why.max_abs, format.decimals, n == 0);
    }
    if (const std::size_t others = why.largest.size() - count; others > 0)
        term_row(sheet,
                 tr_n("common.more_together", "{} more, together", "{} more, together",
                      static_cast<std::int64_t>(others), others),
                 rest, why.max_abs, format.decimals, false);
    sheet.rule(logit_room);
    term_row(sheet, "scaled", why.score.scaled, 0, format.decimals, true);
    if (why.score.capped != why.score.scaled)
        sheet.row(tr("common.after_soft_cap", "after the soft cap"),
                  number(why.score.capped, format.decimals));
}

/// Shows the components of the largest cell, and the tokens that the head at the key had attended to.
void add_cell(Sheet& sheet, const WhyScore& why) {
    const Problem& problem = sheet.context.shown.problem();
    const WhyScore::Term& term = why.largest.front();
    sheet.section(tr("why_inspector.largest_cell", "The largest term"), "q[a] · k[b]");
    sheet.row(tr("why_inspector.query_written", "component of the query"), why.groups[term.query].name);
    sheet.row(tr("why_inspector.key_written", "component of the key"), why.groups[term.key].name);
    if (why.score.scaled != 0)
        sheet.row(tr("why_inspector.share_score", "fraction of the score"),
                  percent_text(std::abs(term.value / why.score.scaled)));
    if (why.read.empty())
        return;
    sheet.section(tr("why_inspector.read", "Tokens read by {} at {}", why.groups[term.key].name,
                     key_word(problem, why.question.key)),
                  tr("common.weight", "weight"));
    for (const WhyScore::Read& read : why.read)
        sheet.row(problem.key_label(read.token), number(read.weight, 2), &read == why.read.data());
}

} // namespace

Picture draw_score_terms_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    const Theme& theme = context.theme;
    sheet.y = 18;
    const WhyScore* const why = context.shown.why.get();
    if (why == nullptr) {
        sheet.paragraph(
            tr("why_inspector.score_taken_apart", "The components of the score are being computed."),
            theme.muted);
        return sheet.finish();
    }
    const Problem& problem = context.shown.problem();
    sheet.headline("scaled[" + std::to_string(why->question.head) + "][" +
                       query_word(problem, why->question.query) + ", " +
                       key_word(problem, why->question.key) + "]",
                   number(why->score.scaled, 2), "q · k / √dk");
    add_terms(sheet, *why);
    sheet.section(tr("common.scale", "Scale"), "");
    sheet.row(number(why->score.scaled / why->score.scale, 2) + " × " + number(why->score.scale, 4),
              number(why->score.scaled, 2));
    add_cell(sheet, *why);
    return sheet.finish();
}

} // namespace headscope::app
