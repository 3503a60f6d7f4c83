#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Row i of a head, or of the mean.
std::span<const float> row_of(const Shown& shown, const CellAddress& cell) {
    const Tensor& tensor = *shown.tensor(cell.tensor);
    Index first = cell.at;
    first[static_cast<std::size_t>(tensor_info(cell.tensor).rank() - 1)] = 0;
    return tensor.values().subspan(static_cast<std::size_t>(tensor.shape().offset(first)),
                                   static_cast<std::size_t>(shown.dims().Tk));
}

double finite_sum(std::span<const float> row) {
    double sum = 0;
    for (const float value : row)
        sum += std::isfinite(value) ? static_cast<double>(value) : 0.0;
    return sum;
}

void write_value(Sheet& sheet, const CellAddress& cell) {
    const DrawContext& context = sheet.context;
    const Theme& theme = context.theme;
    const auto difference = difference_on_canvas(context, cell);
    const double value = difference ? difference->value : static_cast<double>(context.shown.value(cell));
    sheet.y = 18;
    sheet.put(sheet.left, address_text(context.shown, cell), sheet.width(), figure::Font::mono, 14,
              theme.ink);
    const int decimals = value != 0 && std::abs(value) < 0.01 ? 4 : 2;
    const float taken = draw_text(sheet.picture, context, sheet.left, 84,
                                  std::isnan(value) ? "NaN"
                                  : difference      ? signed_number(value, decimals)
                                                    : number(value, decimals),
                                  figure::Font::ui_semibold, 34, theme.ink);
    const bool mean = cell.tensor == TensorId::weights_mean;
    const Problem& problem = context.shown.problem();
    const std::string from = shortened(problem.query_label(cell.at[mean ? 1U : 2U]), 14),
                      to = shortened(problem.key_label(cell.at[mean ? 2U : 3U]), 14);
    const std::string words = difference ? difference->words : from + " → " + to;
    if (taken + 14 + context.measure(words, figure::Font::ui, 13) <= sheet.width()) {
        draw_text(sheet.picture, context, sheet.left + taken + 14, 82, words, figure::Font::ui, 13,
                  theme.text);
        sheet.y = 98;
    } else {
        sheet.y = 96;
        sheet.put(sheet.left, words, sheet.width(), figure::Font::ui, 13, theme.text);
        sheet.y += 26;
    }
}

void write_row(Sheet& sheet, const CellAddress& cell) {
    const DrawContext& context = sheet.context;
    const auto row = row_of(context.shown, cell);
    const Problem& problem = context.shown.problem();
    const AttentionInfo& info = context.shown.document->shown_weights()->info();
    const float value = context.shown.value(cell);
    sheet.section(tr("common.row_2", "This row"),
                  tr("common.query", "query {}", cell.at[cell.tensor == TensorId::weights_mean ? 1U : 2U]));
    if (std::ranges::all_of(row, [](float w) { return w == 0; })) {
        sheet.paragraph(why_empty(context), context.theme.text);
        return;
    }
    const double sum = finite_sum(row);
    const bool of_mean = cell.tensor == TensorId::weights_mean;
    const bool off = of_mean ? info.is_off(sum)
                             : context.shown.document->shown_weights()->is_off(
                                   context.shown.document->layer(), cell.at[1], cell.at[2], sum);
    sheet.row(tr("common.sum", "sum"), number(sum, 4) + (off ? " ⚠" : ""), off);
    if (info.sinks && !off)
        sheet.row(tr("attention_inspector.sink", "to the sink"), number(std::max(0.0, 1 - sum), 4));
    else
        sheet.row(tr("attention_inspector.away_1", "difference from 1"), signed_number(sum - 1, 4));
    if (off)
        // Translators: {} is a type of numbers, float16, and then a small number
        sheet.paragraph(tr("attention_inspector.softmax_gives_rows",
                           "The rows of a softmax sum to 1; stored as {}, within {}. This row was changed or "
                           "truncated after the softmax.",
                           info.held_as, shortest_number(info.sum_tolerance)),
                        context.theme.bad);
    if (std::isfinite(value)) {
        const auto rank = 1 + std::ranges::count_if(row, [&](float w) { return w > value; });
        sheet.row(
            tr("common.rank_weight", "rank of this weight"),
            tr("common.of_2", "{} of {}", grouped(rank), grouped(static_cast<std::int64_t>(row.size()))));
    } else {
        sheet.paragraph(
            tr("attention_inspector.weight_no_finite", "This weight is not finite (NaN or infinity)."),
            context.theme.bad);
    }
    std::int64_t best = 0;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (row[j] > row[static_cast<std::size_t>(best)] ||
            !std::isfinite(row[static_cast<std::size_t>(best)]))
            best = static_cast<std::int64_t>(j);
    // Translators: the largest weight; {} is a token
    sheet.row(tr("attention_inspector.largest", "largest, on {}", shortened(problem.key_label(best), 12)),
              number(static_cast<double>(row[static_cast<std::size_t>(best)]), 2));
    sheet.row(tr("common.entropy", "entropy"),
              tr("common.nats", "{} nats", number(analysis::entropy_of(row), 2)));
    sheet.row(tr("attention_inspector.weight_first_key", "weight on the first key"),
              number(static_cast<double>(row[0]), 2));
}

void write_head(Sheet& sheet, std::int64_t h) {
    const DrawContext& context = sheet.context;
    const AttentionInfo& info = context.shown.document->shown_weights()->info();
    const std::int64_t l = context.shown.document->layer();
    const std::string own = analysis::head_name(info, l, h),
                      name = info.is_mean(l, h) ? own : tr("common.head", "Head {}", own);
    const analysis::HeadFacts* facts = facts_of(context, h);
    if (facts == nullptr) {
        sheet.section(name);
        sheet.paragraph(tr("common.measured", "Being measured …"), context.theme.muted);
        return;
    }
    const analysis::HeadMetrics& m = facts->metrics;
    sheet.section(name, m.labelled ? label_words(m) : tr("common.no_clear_label", "no clear label"));
    for (const analysis::HeadScoreInfo& score : analysis::head_scores())
        if (!score.title.empty() && m.has(score.score))
            sheet.row(tr(score.title), score_text(score.score, m[score.score]), m.labelled == score.score);
    sheet.paragraph(tr("attention_inspector.averages_over_rows", "Averages over rows."), context.theme.muted);
    if (facts->causal)
        sheet.paragraph(tr("attention_inspector.causal_no_query", "Causal: no query reads a later key."),
                        context.theme.text);
    if (facts->empty_rows > 0)
        sheet.row(tr("common.rows_zeros", "rows of zeros"), grouped(facts->empty_rows));
    for (const std::string& flag : flags_of(*facts, info))
        sheet.paragraph("⚠ " + flag, context.theme.bad);
}

} // namespace

Picture draw_attention_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    const auto cell = current_cell(context.shown, context.view);
    if (!cell || (cell->tensor != TensorId::weights && cell->tensor != TensorId::weights_mean)) {
        sheet.y = 18;
        sheet.paragraph(tr("attention_inspector.point_weight_read", "Hover over a weight to read it."),
                        context.theme.muted);
        return sheet.finish();
    }
    write_value(sheet, *cell);
    write_row(sheet, *cell);
    if (cell->tensor == TensorId::weights_mean) {
        const GivenWeights* const given = context.shown.document->given();
        const bool all = given == nullptr || given->loaded.all();
        if (all && context.shown.document->shown_weights()->info().own_heads() <= 16)
            add_mean(sheet, *cell);
    } else {
        if (context.view.heads_view == HeadsView::difference)
            add_comparison(sheet, *cell);
        write_head(sheet, cell->at[1]);
    }
    return sheet.finish();
}

} // namespace headscope::app
