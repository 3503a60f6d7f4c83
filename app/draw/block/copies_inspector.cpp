#include "app/draw/block/copies_inspector.h"

#include "app/draw/block/block_parts.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using enum TensorId;

/// A number of the residual stream, and what is added to it.
int add_two_parts(Sheet& sheet, const CellAddress& cell, TensorId from, const std::string& other) {
    const Shown& shown = sheet.context.shown;
    const auto own = static_cast<double>(shown.value({from, cell.at})),
               total = static_cast<double>(shown.value(cell));
    sheet.section(tr("block_inspector.sum", "Sum"),
                  tr("block_inspector.dimension", "dimension {}", cell.at[2]));
    sheet.row(name_of(from), number(own, 4));
    sheet.row(other, number(total - own, 4));
    sheet.row(address_text(shown, cell), number(total, 4), true);
    return 4;
}

/// A gate, less the cutoff of its row.
int add_sparse(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const std::span<const float> row = row_of(shown, mlp_gate, cell.at[1]);
    const auto count = static_cast<double>(row.size());
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / count;
    double squares = 0;
    for (const float gate : row)
        squares += std::pow(static_cast<double>(gate) - mean, 2);
    const double spread = std::sqrt(squares / count),
                 z = *shown.block->stages->gate_cutoff(shown.block->place), cutoff = mean + z * spread,
                 gate = static_cast<double>(shown.value({mlp_gate, cell.at})),
                 total = static_cast<double>(shown.value(cell));
    sheet.section(tr("copies_inspector.cutoff", "Cutoff of the row"),
                  tr("copies_inspector.cutoff_formula", "mean + z · standard deviation"));
    sheet.row(tr("common.mean", "Mean"), number(mean, 4));
    sheet.row(tr("copies_inspector.deviation", "standard deviation"), number(spread, 4));
    sheet.arithmetic(number(mean, 4) + " + " + number(z, 4) + " × " + number(spread, 4), number(cutoff, 4));
    sheet.section(tr("block_inspector.cell", "The cell"), "max(0, mlp_gate − cutoff)");
    sheet.arithmetic(number(gate, 4) + " − " + number(cutoff, 4), number(gate - cutoff, 4));
    sheet.row(address_text(shown, cell), number(total, 4), true);
    const auto kept =
        std::ranges::count_if(row, [&](float one) { return static_cast<double>(one) > cutoff; });
    sheet.paragraph(tr_n("copies_inspector.kept", "{} of {} gates of the token is above the cutoff.",
                         "{} of {} gates of the token are above the cutoff.", kept, grouped(kept),
                         grouped(std::ssize(row))),
                    sheet.context.theme.muted);
    return 4;
}

int add_correction(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const auto before = static_cast<double>(shown.value({predicted, cell.at})),
               after = static_cast<double>(shown.value({activated, cell.at})),
               total = static_cast<double>(shown.value(cell));
    sheet.section(tr("copies_inspector.innovation", "Innovation"), "activated − predicted");
    sheet.arithmetic(number(after, 4) + " − " + number(before, 4), number(after - before, 4));
    sheet.section(tr("block_inspector.cell", "The cell"), "predicted + (1 + c) × innovation");
    sheet.row(name_of(predicted), number(before, 4));
    sheet.row("+ (1 + c) × innovation", number(total - before, 4));
    sheet.row(address_text(shown, cell), number(total, 4), true);
    sheet.paragraph(tr("copies_inspector.coefficient",
                       "The coefficient c of the copy is the same for all numbers of the token. It follows "
                       "from activated, through a norm, a matrix, tanh and a second matrix."),
                    sheet.context.theme.muted);
    return 4;
}

int say_made(Sheet& sheet, const std::string& text) {
    sheet.section(tr("common.comes", "Comes from"));
    sheet.paragraph(text, sheet.context.theme.text);
    return 4;
}

} // namespace

bool is_of_copies(TensorId id) {
    return id == mlp_sparse || group_info(tensor_info(id).group).page == Page::copies;
}

int add_copies(Sheet& sheet, const CellAddress& cell) {
    switch (cell.tensor) {
    case predicted:
        return add_two_parts(sheet, cell, resid_in,
                             tr("copies_inspector.copies", "+ copies times their coefficients"));
    case laurel_out:
        return add_two_parts(sheet, cell, norm1, "+ norm(norm1 · W_left · W_right)");
    case mlp_sparse:
        return add_sparse(sheet, cell);
    case corrected:
        return add_correction(sheet, cell);
    case layer_out:
        return say_made(sheet, tr("copies_inspector.layer_out",
                                  "The active copy opens gates, which multiply the embedding that the token "
                                  "has in this layer. A matrix and a norm make the row of it."));
    default:
        return say_made(sheet, tr("copies_inspector.merged",
                                  "It is the mean of the copies that leave the last layer. All but the first "
                                  "are multiplied by a matrix and scaled to the magnitude of the first."));
    }
}

} // namespace headscope::app
