#pragma once

#include "app/draw/inspector/inspector_words.h"
#include "app/draw/matrix/terms.h"

namespace headscope::app {

// The sections of the inspector. Each writes one step of the computation of `cell` under a hairline and
// returns the decimals that its result is printed with.

/// A row times a column, plus a bias: q, k, v.
int add_projection(Sheet& sheet, const CellAddress& cell, const std::string& name);
/// q_i . k_j, for any of scores, scaled, masked and weights at the same place.
int add_dot_product(Sheet& sheet, const Index& at);
/// A query or a key times the vector of a relative position: c2p, p2c.
int add_relative_product(Sheet& sheet, const CellAddress& cell);
/// Weights times a column of the values: head_out.
int add_value_sum(Sheet& sheet, const CellAddress& cell);
/// head_out times a head's rows of W_O.
int add_contribution(Sheet& sheet, const CellAddress& cell);

/// Each head's share of an output cell, then the same product term by term.
int add_shares(Sheet& sheet, const CellAddress& cell);
int add_output_terms(Sheet& sheet, const CellAddress& cell);

// `fewest` and `score_decimals`: decimals of the step above, which they continue.
int add_scale(Sheet& sheet, const Index& at, int fewest);
int add_mask(Sheet& sheet, const Index& at, int fewest);
int add_softmax(Sheet& sheet, const Index& at, int score_decimals);
/// The average over heads: weights_mean.
int add_mean(Sheet& sheet, const CellAddress& cell);
/// A cell of scores to weights beside the same cell of the head it is compared with.
void add_comparison(Sheet& sheet, const CellAddress& cell);
/// Returns whether two heads are compared, and the tensor has a number for each pair of tokens in each head.
bool compares_heads(const DrawContext& context, TensorId id);

/// The number in a cell where the canvas draws a difference.
struct ShownDifference {
    double value = 0;
    std::string words; ///< the numbers that it is taken of: "head 0 − head 1: 0.96 − 0.82"
};
/// Nothing where the canvas shows the numbers themselves, or no finite difference can be taken.
std::optional<ShownDifference> difference_on_canvas(const DrawContext& context, const CellAddress& cell);

/// A number that a checkpoint computes around its attention, and what it is in a few words.
int add_around(Sheet& sheet, const CellAddress& cell);
std::string say_around(const Shown& shown, const CellAddress& cell);
/// The same of a weight of norms and MLP: where it stands, and what it does at the token that is looked at.
int add_weight_around(Sheet& sheet, const CellAddress& cell);
std::string say_weight_around(const CellAddress& cell);

/// All sections of a cell, by the operation that makes it.
int explain(Sheet& sheet, const CellAddress& cell);
/// What a cell is, in a few words that follow its value.
std::string caption_of(const Shown& shown, const CellAddress& cell);

/// The numbers of a run of cells.
std::vector<double> numbers_of(const Shown& shown, const ReadSpan& span);
std::vector<ReadSpan> reads_of(const Shown& shown, const CellAddress& cell);

} // namespace headscope::app
