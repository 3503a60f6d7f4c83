#pragma once

#include "app/draw/kit/picture.h"
#include "core/checkpoint/graph/model_stages.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

// What the pages and explanations of the stops around attention share. `context.shown.block` is there where
// they are drawn.

/// The stages that a step around attention is computed from, see ModelStages::sources.
std::vector<TensorId> made_from(const Shown& shown, TensorId id);
/// The constant of the model that multiplies what attention or MLP returned; nothing for other stages.
std::optional<double> branch_scale(const Shown& shown, TensorId id);
/// Returns whether a stage is the sum of the chosen experts' outputs, each times its fraction.
bool is_sum_of_experts(const Shown& shown, TensorId id);
/// Returns true for stages inside a delta layer.
bool is_delta(TensorId id);
/// Returns true for stages that only layers with several copies of the residual stream have.
bool is_of_copies(TensorId id);
/// Returns true if a fraction multiplies the output of the MLP beside experts.
bool has_shared_fraction(const Shown& shown);
/// A number of the MLP after its activation function, before it multiplies the other factor of a gate. The
/// layer computes it also where the user set mlp_act.
double activated_number(const Shown& shown, const Index& at);
/// Returns whether a stage is mlp_act · W_out + b_out.
bool is_output_of_mlp(const Shown& shown, TensorId id);
/// Whether what made_from names is shown: the part after the last layer holds the stream that leaves the
/// layer, and not what that stream was added from.
bool holds_sources(const Shown& shown, TensorId id);
/// The cells that a cell of those rows reads, as far as they are tensors with a name.
std::vector<ReadSpan> reads_around(const Shown& shown, const CellAddress& cell);
/// The weights of a norm at this stop; nothing if it is not a norm.
std::optional<checkpoint::NormOfRows> norm_at(const Shown& shown, TensorId id);
/// A weight that a norm may lack, or of which the model may have no tensor: null then.
TensorPtr weight_at(const Shown& shown, std::optional<TensorId> weight);

/// The attention that the block on screen is around, by its number; the ends belong to the last one.
std::int64_t attention_of_block(const Shown& shown);
/// Whether what enters there is what the decoder's own attention of the layer leaves.
bool enters_cross(const Shown& shown);
/// "L2", "cross L2": the same of that attention.
std::string attention_of_block_name(const Shown& shown);

/// "Norm before attention": what the row is in this place.
std::string words_around(const Shown& shown, TensorId id);
/// The same with the attention that it is around: "Norm before attention · L2".
std::string title_around(const Shown& shown, TensorId id);
/// How the row is computed in this model, with the names of its own parts.
std::string formula_around(const Shown& shown, TensorId id);
/// "gelu", "silu".
std::string activation_name(graph::Function activation);

/// The row of the position table that token i reads.
std::int64_t position_row(const Shown& shown, std::int64_t i);

/// Row i of a tensor (1, T, width), which is there.
std::span<const float> row_of(const Shown& shown, TensorId id, std::int64_t i);
/// The row that the page tells of.
std::int64_t row_around(const DrawContext& context);
/// The end of a symmetric colour scale that nearly all numbers of some tensors lie within; the few beyond it
/// have the full colour.
float colour_end(const DrawContext& context, const std::vector<TensorId>& tensors);

/// The tokens at the left of a grid of the block; a click goes to a row.
void draw_row_choice(Picture& picture, const DrawContext& context, const MatrixGrid& grid);

/// mean, variance and what a row of a norm is divided by.
struct NormNumbers {
    double mean = 0;     ///< 0 for a norm that subtracts none
    double variance = 0; ///< the mean square of what is left
    double spread = 1;   ///< √(variance + ε)
};
NormNumbers norm_numbers(const checkpoint::NormOfRows& norm, std::span<const float> row);

/// Where nothing on a page of B − A changed: says so under what the page shows.
void say_unchanged(Picture& picture, const DrawContext& context, TensorId id, float y);

/// For each unit of the MLP, the length of its row of W_out.
std::shared_ptr<const std::vector<float>> unit_lengths(const DrawContext& context);
/// The units that add most at row i, `most` of them, the one that adds most first.
std::vector<std::int64_t> strongest_units(const DrawContext& context, std::int64_t i, std::size_t most);

// The pages. Each returns a picture without outlines.

/// B − A of any of them, and of those over the vocabulary.
Picture draw_change_around(const DrawContext& context);
Picture draw_vocabulary_change(const DrawContext& context);
Picture draw_residual_page(const DrawContext& context);
Picture draw_norm_page(const DrawContext& context);
Picture draw_mlp_page(const DrawContext& context);
Picture draw_mlp_out_page(const DrawContext& context);
Picture draw_routing_page(const DrawContext& context);
Picture draw_delta_page(const DrawContext& context);
Picture draw_copies_page(const DrawContext& context);
Picture draw_vocabulary_page(const DrawContext& context);

/// The layers from the embedding to the probabilities, the open one with its parts: what each adds to the
/// residual stream at the token that is looked at. Returns the lower edge.
float draw_stack_map(Picture& picture, const DrawContext& context, float y);

} // namespace headscope::app
