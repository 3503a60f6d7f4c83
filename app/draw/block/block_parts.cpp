#include "app/draw/block/block_parts.h"

#include "app/draw/kit/controls.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/matrix/terms.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

using enum TensorId;

std::string sum_of(const std::vector<TensorId>& terms) {
    std::string text;
    for (const TensorId id : terms)
        text += (text.empty() ? "" : " + ") + std::string(tensor_info(id).name);
    return text;
}

std::string norm_formula(const Shown& shown, TensorId id) {
    const checkpoint::NormOfRows norm = *norm_at(shown, id);
    const bool bias = weight_at(shown, norm.bias) != nullptr;
    const std::string_view name = tensor_info(id).name, from = tensor_info(made_from(shown, id).front()).name;
    if (norm.centered)
        return bias ? tr("block_parts.mean_variance_weight_bias",
                         "{} = ({} − mean) ÷ √(variance + ε) × weight + bias", name, from)
                    : tr("block_parts.mean_variance_weight", "{} = ({} − mean) ÷ √(variance + ε) × weight",
                         name, from);
    return bias ? tr("block_parts.mean_square_weight_bias", "{} = {} ÷ √(mean square + ε) × weight + bias",
                     name, from)
                : tr("block_parts.mean_square_weight", "{} = {} ÷ √(mean square + ε) × weight", name, from);
}

} // namespace

std::vector<TensorId> made_from(const Shown& shown, TensorId id) {
    return shown.block->stages().sources(shown.block->place, id);
}

bool is_sum_of_experts(const Shown& shown, TensorId id) {
    const checkpoint::AttentionPlace place = shown.block->place;
    return place.layer >= 0 && shown.block->stages().is_sum_of_experts(place, id);
}

std::optional<double> branch_scale(const Shown& shown, TensorId id) {
    return shown.block->stages().branch_scale(shown.block->place, id);
}

bool is_delta(TensorId id) {
    return group_info(tensor_info(id).group).page == Page::delta;
}

bool is_of_copies(TensorId id) {
    return id == mlp_sparse || group_info(tensor_info(id).group).page == Page::copies;
}

bool has_shared_fraction(const Shown& shown) {
    const graph::NodeId node = shown.block->node(mlp_shared);
    return node != checkpoint::RunPart::no_node && shown.block->graph().node(node).op == graph::Op::multiply;
}

double activated_number(const Shown& shown, const Index& at) {
    return shown.block->explain(shown.block->node(mlp_act), at).steps.front().result;
}

bool is_output_of_mlp(const Shown& shown, TensorId id) {
    return made_from(shown, id) == std::vector{mlp_act};
}

std::int64_t attention_of_block(const Shown& shown) {
    const checkpoint::ModelConfig& config = shown.document->part()->config();
    const checkpoint::AttentionPlace place = shown.block->place;
    if (place.layer >= 0)
        return attention_number(config, place);
    return checkpoint::last_of_stack(config, attention_number(config, {place.stack, 0}));
}

std::string attention_of_block_name(const Shown& shown) {
    const RunSpec& part = *shown.document->part();
    return attention_name(part, attention_place(part.config(), attention_of_block(shown)));
}

bool enters_cross(const Shown& shown) {
    return shown.block->place.layer >= 0 && shown.block->place.stack == checkpoint::Stack::cross;
}

bool holds_sources(const Shown& shown, TensorId id) {
    return std::ranges::all_of(made_from(shown, id),
                               [&](TensorId source) { return shown.tensor(source) != nullptr; });
}

std::optional<checkpoint::NormOfRows> norm_at(const Shown& shown, TensorId id) {
    return shown.block->stages().norm(shown.block->place, id);
}

TensorPtr weight_at(const Shown& shown, std::optional<TensorId> weight) {
    return weight ? shown.block->weights[*weight] : nullptr;
}

std::vector<ReadSpan> reads_around(const Shown& shown, const CellAddress& cell) {
    if (shown.block == nullptr || !holds_sources(shown, cell.tensor))
        return {};
    const bool whole_row = norm_at(shown, cell.tensor) || is_delta(cell.tensor) ||
                           is_of_copies(cell.tensor) || cell.tensor == mlp_pre || cell.tensor == mlp_gate ||
                           cell.tensor == routing || is_output_of_mlp(shown, cell.tensor) ||
                           is_sum_of_experts(shown, cell.tensor);
    std::vector<ReadSpan> reads;
    for (const TensorId id : made_from(shown, cell.tensor)) {
        const std::int64_t width = extent(tensor_info(id).axes[2], shown.dims());
        if (whole_row)
            reads.push_back({id, {cell.at[0], cell.at[1], 0, 0}, 2, width});
        else
            reads.push_back({id, cell.at, 2, 1});
    }
    return reads;
}

std::string words_around(const Shown& shown, TensorId id) {
    // A norm that reads the stream comes before what it is for.
    const TensorId reads = id == norm1 || id == norm2 ? made_from(shown, id).front() : id;
    if (id == norm1 && reads == resid_in)
        return tr("block_parts.norm_before_attention", "Norm before attention");
    if (id == norm2 && (reads == resid_in || reads == resid_mid))
        return tr("block_parts.norm_before_mlp", "Norm before the MLP");
    if (id == resid_in && enters_cross(shown))
        return tr("block_parts.residual_stream_cross", "Residual stream into the cross-attention");
    return tr(tensor_info(id).title);
}

std::string title_around(const Shown& shown, TensorId id) {
    return words_around(shown, id) +
           (shown.block->place.layer < 0 ? "" : " · " + attention_of_block_name(shown));
}

std::string activation_name(graph::Function activation) {
    constexpr std::array<Message, graph::function_count> names{
        untranslated("gelu"),
        translatable("block_parts.gelu_tanh", "gelu (by tanh)"),
        translatable("block_parts.gelu_quick", "gelu (quick)"),
        untranslated("relu"),
        translatable("block_parts.relu_most_6", "relu, at most 6"),
        translatable("block_parts.relu_squared", "relu squared"),
        translatable("block_parts.leaky_relu", "leaky relu"),
        untranslated("silu"),
        untranslated("mish"),
        untranslated("tanh"),
        untranslated("sigmoid"),
        translatable("block_parts.linear", "linear")};
    return tr(names[static_cast<std::size_t>(activation)]);
}

std::string formula_around(const Shown& shown, TensorId id) {
    const checkpoint::ModelStages& stages = shown.block->stages();
    const checkpoint::AttentionPlace place = shown.block->place;
    const checkpoint::WeightSet& weights = shown.block->weights;
    const std::vector<TensorId> from = made_from(shown, id);
    const std::string name(tensor_info(id).name);
    const auto product = [&](const char* W, TensorId bias, const char* b) {
        return name + " = " + sum_of(from) + " · " + W + (weights[bias] == nullptr ? "" : b);
    };
    const auto activation = [&](const std::string& of) {
        return activation_name(stages.activation(place)) + "(" + of + ")";
    };
    switch (id) {
    case mlp_pre:
        return product("W_in", TensorId::b_in, " + b_in");
    case mlp_gate:
        return product("W_gate", TensorId::b_gate, " + b_gate");
    case mlp_act:
        return name + " = " +
               (from.size() > 1 ? activation(std::string(tensor_info(from.front()).name)) + " × mlp_pre"
                                : activation("mlp_pre"));
    case embedding:
        return weights[TensorId::W_type] != nullptr
                   ? tr("block_parts.one_row_word_table",
                        "one row of the embedding table for each token, plus its type’s")
               : stages.embedding_scale(place.stack) != 1
                   ? tr("block_parts.one_row_word_table_2",
                        "one row of the embedding table for each token, scaled")
                   : tr("block_parts.one_row_word_table_3", "one row of the embedding table for each token");
    case position:
        return tr("block_parts.one_row_position_table", "one row of the position table for each position");
    case resid_in:
        return enters_cross(shown) ? tr("block_parts.self_attention_gives", "output of the self-attention")
               : shown.block->place.layer == 0
                   ? tr("block_parts.embedding_gives", "output of the embedding")
                   : tr("block_parts.layer_before_gives", "output of the previous layer");
    case logits:
        return tr("block_parts.logits_final_row_w", "logits = final row · W_Uᵀ") +
               (weights[TensorId::b_U] == nullptr ? "" : " + b_U");
    case probabilities:
        return "probabilities = softmax(logits)";
    // Of delta layers: the nodes between these stages have no page of their own.
    case delta_q:
        return name + " = " +
               tr("block_rows.delta_unit_queries",
                  "silu of the convolution of norm1 · W_q over the last tokens; each row has length 1");
    case delta_k:
        return name + " = " +
               tr("block_rows.delta_unit_keys",
                  "silu of the convolution of norm1 · W_k over the last tokens; each row has length 1");
    case delta_v:
        return name + " = " +
               tr("block_rows.delta_convolved_values",
                  "silu of the convolution of norm1 · W_v over the last tokens");
    case delta_decay:
        return name + " = exp(−exp(A_log) · softplus(norm1 · W_a + dt_bias))";
    case delta_beta:
        return name + " = sigmoid(norm1 · W_b)";
    case delta_y:
        return name + " = q · S ÷ √dk,  S = decay · S + kᵀ · beta · (v − k · decay · S)";
    case delta_z:
        return name + " = norm1 · W_z";
    case TensorId::delta_out:
        return name + " = " + tr("block_rows.delta_output_formula", "(norm(y) × silu(z)) · W_out");
    // Of models with several copies of the residual stream, likewise.
    case predicted:
        return name + " = " +
               tr("block_rows.predicted_formula",
                  "resid_in plus the copies of the residual stream, each times a coefficient");
    case laurel_out:
        return name + " = norm1 + norm(norm1 · W_left · W_right)";
    case mlp_sparse:
        return name + " = " +
               tr("block_rows.mlp_sparse_formula", "max(0, mlp_gate − cutoff), where the cutoff is the mean "
                                                   "of the row plus z standard deviations");
    case routing:
        return shown.block->graph().formula(shown.block->node(routing));
    case corrected:
        return name + " = predicted + (1 + c) × (activated − predicted)";
    case layer_out:
        return name + " = " +
               tr("block_rows.layer_out_formula",
                  "norm((activation(corrected · W_g) × embedding of the token in this layer) · W_o)");
    case merged:
        return name + " = " +
               tr("block_rows.merged_formula",
                  "mean of the copies of the residual stream, all but the first projected and scaled to the "
                  "magnitude of the first");
    default:
        if (norm_at(shown, id))
            return norm_formula(shown, id);
        if (is_sum_of_experts(shown, id) && stages.scales_expert_input(place))
            return tr("block_parts.sum_experts_of_scaled_inputs",
                      "{} = sum of the chosen experts’ outputs, whose input is {} times the fraction", name,
                      sum_of(from));
        if (is_sum_of_experts(shown, id))
            return tr("block_parts.sum_chosen_experts_outputs",
                      "{} = sum of the chosen experts’ outputs, each times its fraction", name);
        if (is_output_of_mlp(shown, id)) {
            const bool has_fraction = id == mlp_shared && has_shared_fraction(shown);
            return product("W_out", TensorId::b_out, " + b_out") +
                   (has_fraction ? " × " + tr("block_parts.fraction", "fraction") : "");
        }
        if (const auto scale = branch_scale(shown, id); scale && *scale != 1)
            return name + " = " + number(*scale, 4) + " × " +
                   (from.size() > 1 ? "(" + sum_of(from) + ")" : sum_of(from));
        return name + " = " + sum_of(from);
    }
}

std::int64_t position_row(const Shown& shown, std::int64_t i) {
    const checkpoint::Model& model = *shown.document->part()->model->model;
    const checkpoint::Model& stack =
        shown.block->place.stack == checkpoint::Stack::encoder ? *model.encoder() : model;
    return checkpoint::learned_positions(read_by_queries(*shown.document),
                                         stack)[static_cast<std::size_t>(i)];
}

std::span<const float> row_of(const Shown& shown, TensorId id, std::int64_t i) {
    const Tensor& tensor = *shown.tensor(id);
    const std::int64_t width = tensor.shape().back(0);
    return tensor.values().subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
}

std::int64_t row_around(const DrawContext& context) {
    return std::clamp<std::int64_t>(current_row(context.view, context.shown.position), 0,
                                    context.dims().Tq - 1);
}

float colour_end(const DrawContext& context, const std::vector<TensorId>& tensors) {
    const auto look = [&] {
        constexpr double inside = 0.995;
        std::vector<float> sizes;
        for (const TensorId id : tensors)
            for (const float value : context.shown.tensor(id)->values())
                sizes.push_back(std::abs(value));
        const auto at =
            sizes.begin() + static_cast<std::ptrdiff_t>(inside * static_cast<double>(sizes.size() - 1));
        std::ranges::nth_element(sizes, at);
        return symmetric_end(*at);
    };
    if (context.pixels == nullptr)
        return look();
    std::uint64_t key = 2;
    for (const TensorId id : tensors)
        key = key_of({key, reinterpret_cast<std::uintptr_t>(context.shown.tensor(id))});
    return *context.pixels->cached_result<float>(context.shown.block, key, look);
}

void draw_row_choice(Picture& picture, const DrawContext& context, const MatrixGrid& grid) {
    draw_row_labels(picture, context, grid, false);
    if (!context.controls)
        return;
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        const std::int64_t i = grid.index(row, 0)[1];
        const figure::Rect cell = grid.cell(row, 0);
        picture.add_hotspot(
            {canvas_pad, cell.y, grid.area.x - canvas_pad, grid.pitch_y},
            std::string(tensor_info(grid.tensor).name) + " row " + std::to_string(i),
            GoTo{context.view.group, context.view.row == i ? -1 : i},
            tr("block_parts.look_token", "Select {}, token {}", query_word(context.shown.problem(), i), i));
    }
}

NormNumbers norm_numbers(const checkpoint::NormOfRows& norm, std::span<const float> row) {
    NormNumbers out;
    const auto count = static_cast<double>(row.size());
    if (norm.centered)
        out.mean = std::accumulate(row.begin(), row.end(), 0.0) / count;
    for (const float value : row)
        out.variance += std::pow(static_cast<double>(value) - out.mean, 2) / count;
    out.spread = std::sqrt(out.variance + norm.eps);
    return out;
}

void say_unchanged(Picture& picture, const DrawContext& context, TensorId id, float y) {
    const analysis::TensorDifference* const change = context.compare->of(id);
    if (change == nullptr || change->changed > 0)
        return;
    const bool edited = !context.shown.document->part()->edits.empty();
    draw_paragraph(
        picture, context, canvas_pad, y, context.width - 2 * canvas_pad,
        edited
            ? tr("block_parts.same_b_number_number",
                 "All numbers of {} are equal in A and B: the edits come later or contribute nothing here.",
                 tensor_info(id).name)
            : tr("block_parts.same_b_number_number_2", "All numbers of {} are equal in A and B.",
                 tensor_info(id).name),
        figure::Font::ui, 13.5F, 20, context.theme.text);
}

std::shared_ptr<const std::vector<float>> unit_lengths(const DrawContext& context) {
    const TensorPtr& W = context.shown.block->weights[TensorId::W_out]; // (d_ff, D)
    const auto look = [&] { return checkpoint::row_lengths(*W); };
    constexpr std::uint64_t kind = 3;
    return context.pixels == nullptr
               ? std::make_shared<const std::vector<float>>(look())
               : context.pixels->cached_result<std::vector<float>>(
                     W, key_of({kind, reinterpret_cast<std::uintptr_t>(W.get())}), look);
}

std::vector<std::int64_t> strongest_units(const DrawContext& context, std::int64_t i, std::size_t most) {
    const std::span<const float> act = row_of(context.shown, mlp_act, i);
    const auto lengths = unit_lengths(context);
    std::vector<std::int64_t> units(act.size());
    std::iota(units.begin(), units.end(), std::int64_t{0});
    most = std::min(most, units.size());
    std::ranges::partial_sort(units, units.begin() + static_cast<std::ptrdiff_t>(most),
                              std::ranges::greater{}, [&](std::int64_t unit) {
                                  return std::abs(act[static_cast<std::size_t>(unit)]) *
                                         (*lengths)[static_cast<std::size_t>(unit)];
                              });
    units.resize(most);
    return units;
}

} // namespace headscope::app
