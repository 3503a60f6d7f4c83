#include "app/draw/inspector/inspector_sections.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/kit/format.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"
#include "core/text/shaping.h"

#include <cmath>
#include <numeric>
#include <span>

namespace headscope::app {

namespace {

/// Terms of a product of two runs, labelled by their place.
std::vector<Term> product_terms(const std::vector<double>& left, const std::vector<double>& right,
                                std::int64_t head, std::int64_t first_label = 0) {
    std::vector<Term> terms;
    for (std::size_t d = 0; d < left.size(); ++d)
        terms.push_back({.label = std::to_string(first_label + static_cast<std::int64_t>(d)),
                         .factors = {{left[d], right[d]}},
                         .value = left[d] * right[d],
                         .head = head});
    return terms;
}

/// The first index of a run's axis, as slices write it: "x[sat]", "W_Q[:, 0]".
std::string row_text(const Shown& shown, TensorId id, std::int64_t row) {
    const bool keys = tensor_info(id).axes[1] == Axis::Tk;
    const std::string word = keys ? key_word(shown.problem(), row) : query_word(shown.problem(), row);
    return name_of(id) + "[" + shortened(word, 8) + "]";
}

/// The last factor of a projection, if it has a bias.
std::optional<Term> bias_term(const Shown& shown, const std::vector<ReadSpan>& reads) {
    if (reads.size() < 3)
        return std::nullopt;
    const ReadSpan& bias = reads[2];
    return Term{.label = "+ " + name_of(bias.source) + "[" + std::to_string(bias.first[0]) + "]",
                .value = static_cast<double>(shown.value({bias.source, bias.first}))};
}

/// " + c2p + p2c": the terms that a score adds to its product.
std::string names_of_terms(const std::vector<ReadSpan>& reads) {
    std::string names;
    for (const ReadSpan& term : std::span(reads).subspan(2))
        names += " + " + name_of(term.source);
    return names;
}

} // namespace

std::vector<double> numbers_of(const Shown& shown, const ReadSpan& span) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(span.count));
    CellAddress cell{span.source, span.first};
    for (std::int64_t n = 0; n < span.count; ++n) {
        cell.at[static_cast<std::size_t>(span.axis)] = span.first[static_cast<std::size_t>(span.axis)] + n;
        out.push_back(static_cast<double>(shown.value(cell)));
    }
    return out;
}

std::vector<ReadSpan> reads_of(const Shown& shown, const CellAddress& cell) {
    return is_block_stage(cell.tensor) ? reads_around(shown, cell)
                                       : shown.attention().reads(cell.tensor, cell.at);
}

int add_projection(Sheet& sheet, const CellAddress& cell, const std::string& name) {
    const Shown& shown = sheet.context.shown;
    const auto reads = reads_of(shown, cell);
    const std::string left = name_of(reads[0].source), W = name_of(reads[1].source);
    const std::string bias = reads.size() < 3 ? "" : " + " + name_of(reads[2].source);
    const bool of_token = tensor_info(reads[0].source).rank() == 3;
    sheet.section(name, (of_token ? row_text(shown, reads[0].source, reads[0].first[1])
                                  : left + "[" + std::to_string(reads[0].first[0]) + "]") +
                            " · " + W + "[:, " + std::to_string(reads[1].first[1]) + "]" + bias);
    TermTable table{.columns = {"d", left, W, tr("common.product", "product")},
                    .groups = {{.terms = product_terms(numbers_of(shown, reads[0]),
                                                       numbers_of(shown, reads[1]), owner_of(shown, cell))}},
                    .name = address_text(shown, cell),
                    .total = static_cast<double>(shown.value(cell))};
    if (const auto term = bias_term(shown, reads))
        table.single_terms.push_back(*term);
    const auto limit = static_cast<double>(shown.problem().qkv_limit);
    if (limit == 0 || cell.tensor == TensorId::gate || !of_token || std::abs(table.total) < limit)
        return draw_terms(sheet, table);
    const double cut = table.total;
    table.name = tr("common.sum", "sum");
    table.total = table.single_terms.empty() ? 0 : table.single_terms.front().value;
    for (const Term& term : table.groups[0].terms)
        table.total += term.value;
    const int decimals = draw_terms(sheet, table);
    sheet.section(tr("inspector_products.limit", "Limit"),
                  tr("inspector_products.cut_c_c", "clipped to [−c, c]"));
    sheet.arithmetic(
        tr("inspector_products.cut", "{}, clipped to ±{}", number(table.total, decimals), number(limit, 2)),
        number(cut, decimals));
    return decimals;
}

int add_dot_product(Sheet& sheet, const Index& at) {
    const Shown& shown = sheet.context.shown;
    const CellAddress cell{TensorId::scores, at};
    const auto reads = reads_of(shown, cell);
    sheet.section(tr("common.dot_product", "Dot product"),
                  "q[" + text::isolated(shortened(query_word(shown.problem(), at[2]), 8)) + "] · k[" +
                      text::isolated(shortened(key_word(shown.problem(), at[3]), 8)) + "]" +
                      names_of_terms(reads));
    TermTable table{
        .columns = {"d", "q", "k", "q·k"},
        .groups = {{.terms = product_terms(numbers_of(shown, reads[0]), numbers_of(shown, reads[1]), at[1])}},
        .name = address_text(shown, cell),
        .total = static_cast<double>(shown.value(cell))};
    for (const ReadSpan& term : std::span(reads).subspan(2))
        table.single_terms.push_back({.label = "+ " + address_text(shown, {term.source, term.first}),
                                      .value = static_cast<double>(shown.value({term.source, term.first}))});
    return draw_terms(sheet, table);
}

int add_relative_product(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const auto reads = reads_of(shown, cell);
    const std::string left = name_of(reads[0].source), right = name_of(reads[1].source),
                      row = std::to_string(reads[1].first[0]);
    sheet.section(tr("inspector_products.relative_position", "Relative position"),
                  tr("inspector_products.row_of_distance", "row {} of {}, i − j = {}", row, right,
                     cell.at[2] - cell.at[3]));
    return draw_terms(sheet, {.columns = {"d", left, right, tr("common.product", "product")},
                              .groups = {{.terms = product_terms(numbers_of(shown, reads[0]),
                                                                 numbers_of(shown, reads[1]), cell.at[1])}},
                              .name = address_text(shown, cell),
                              .total = static_cast<double>(shown.value(cell))});
}

int add_value_sum(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Problem& problem = shown.problem();
    const auto reads = reads_of(shown, cell);
    sheet.section(tr("inspector_products.weighted_sum", "Weighted sum"),
                  "weights · v[:, " + std::to_string(cell.at[3]) + "]");
    if (fully_masked(*shown.trace, cell.at[0], cell.at[1], cell.at[2]))
        sheet.paragraph(tr("inspector_products.no_key_allowed_here",
                           "No key is allowed here: every weight is 0, and so is the head's output."),
                        sheet.context.theme.text);
    std::vector<Term> terms =
        product_terms(numbers_of(shown, reads[0]), numbers_of(shown, reads[1]), cell.at[1]);
    for (std::size_t j = 0; j < terms.size(); ++j)
        terms[j].label = key_word(problem, static_cast<std::int64_t>(j));
    return draw_terms(sheet, {.columns = {tr("common.key", "key"), tr("common.weight", "weight"), "v",
                                          tr("common.product", "product")},
                              .words = true,
                              .groups = {{.terms = std::move(terms)}},
                              .name = address_text(shown, cell),
                              .total = static_cast<double>(shown.value(cell))});
}

int add_contribution(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const std::int64_t h = cell.at[1], dv = shown.dims().dv;
    const auto reads = reads_of(shown, cell);
    const float gain = shown.problem().gain(h);
    const auto total = static_cast<double>(shown.value(cell));
    sheet.section(tr("common.term_term", "Term by term"), "head_out · W_O[" + std::to_string(h * dv) + ":" +
                                                              std::to_string((h + 1) * dv) + ", " +
                                                              std::to_string(cell.at[3]) + "]");
    if (fully_masked(*shown.trace, cell.at[0], h, cell.at[2]))
        sheet.paragraph(tr("inspector_products.no_key_allowed_here_2",
                           "No key is allowed here, so the head contributes nothing."),
                        sheet.context.theme.text);
    TermTable table{.columns = {tr("common.row", "row"), "head_out", "W_O", tr("common.product", "product")},
                    .groups = {{.terms = product_terms(numbers_of(shown, reads[0]),
                                                       numbers_of(shown, reads[1]), h, h * dv)}},
                    .name = address_text(shown, cell),
                    .total = total};
    if (gain == 1.0F)
        return draw_terms(sheet, table);
    double sum = 0;
    for (const Term& term : table.groups[0].terms)
        sum += term.value;
    table.name = tr("common.sum", "sum");
    table.total = sum;
    const int decimals = draw_terms(sheet, table);
    sheet.section(tr("inspector_products.gain", "Head gain"), tr("common.gain_head", "× gain of head {}", h));
    const SumFormat format = step_format(
        {sum, static_cast<double>(gain)}, total, [](const std::vector<double>& n) { return n[0] * n[1]; },
        decimals);
    sheet.arithmetic(number(sum, format.decimals) + " × " +
                         number(static_cast<double>(gain), format.decimals),
                     approximate_prefix(format.approximate) + number(total, format.decimals));
    return format.decimals;
}

int add_output_terms(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Dims& dims = shown.dims();
    const auto reads = reads_of(shown, cell);
    const std::vector<double> left = numbers_of(shown, reads[0]), right = numbers_of(shown, reads[1]);
    sheet.section(tr("common.term_term", "Term by term"), row_text(shown, TensorId::concat, cell.at[1]) +
                                                              " · W_O[:, " + std::to_string(cell.at[2]) +
                                                              "]");
    TermTable table{.columns = {"d", "concat", "W_O", tr("common.product", "product")},
                    .name = address_text(shown, cell),
                    .total = static_cast<double>(shown.value(cell))};
    for (std::int64_t h = 0; h < dims.H; ++h) {
        const auto begin = static_cast<std::ptrdiff_t>(h * dims.dv),
                   width = static_cast<std::ptrdiff_t>(dims.dv);
        const auto of_head = [&](const std::vector<double>& all) {
            return std::vector<double>(all.begin() + begin, all.begin() + begin + width);
        };
        const CellAddress part{TensorId::contributions, {cell.at[0], h, cell.at[1], cell.at[2]}};
        table.groups.push_back({.terms = product_terms(of_head(left), of_head(right), h, h * dims.dv),
                                .name = tr("common.head", "Head {}", h),
                                .subtotal = static_cast<double>(shown.value(part)),
                                .head = h});
    }
    if (const auto term = bias_term(shown, reads))
        table.single_terms.push_back(*term);
    return draw_terms(sheet, table);
}

} // namespace headscope::app
