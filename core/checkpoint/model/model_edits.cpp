#include "core/checkpoint/model/model_edits.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/stacks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headscope::checkpoint {

namespace {

constexpr std::array of_attention{
    TensorId::W_Q,    TensorId::W_K,        TensorId::W_V,        TensorId::W_O,  TensorId::b_Q,
    TensorId::b_K,    TensorId::b_V,        TensorId::b_O,        TensorId::W_G,  TensorId::b_G,
    TensorId::W_KR,   TensorId::b_KR,       TensorId::W_QR,       TensorId::b_QR, TensorId::q_norm,
    TensorId::k_norm, TensorId::q_norm_all, TensorId::k_norm_all, TensorId::sink};
constexpr std::array of_final_norm{TensorId::final_norm_weight, TensorId::final_norm_bias};
constexpr std::array of_embedding{TensorId::W_E, TensorId::W_P, TensorId::W_type, TensorId::W_R};

constexpr std::array of_keys{TensorId::W_K, TensorId::W_V,    TensorId::b_K,
                             TensorId::b_V, TensorId::k_norm, TensorId::k_norm_all};

template<std::size_t Count>
bool is_one_of(const std::array<TensorId, Count>& weights, TensorId weight) {
    return std::ranges::find(weights, weight) != weights.end();
}

bool is_of_last(TensorId weight) {
    return is_one_of(of_final_norm, weight) || weight == TensorId::b_U || weight == TensorId::W_U;
}

/// The first attention of the stack that attention n belongs to.
std::int64_t first_of_stack(const ModelConfig& config, std::int64_t n) {
    const std::int64_t decoder = attention_number(config, {Stack::own, 0});
    return n < decoder ? 0 : decoder;
}

bool all_one(const std::vector<float>& gains) {
    return std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; });
}

bool same(const LayerEdits& a, const LayerEdits& b) {
    return a.tensors == b.tensors && (a.gains == b.gains || (all_one(a.gains) && all_one(b.gains))) &&
           a.patched == b.patched && a.rows == b.rows;
}

void check_patch(const PatchedRows& patch, const Model& model, AttentionPlace place,
                 const std::string& where) {
    const TensorId attended = model.stages().attention_output(place);
    std::vector<TensorId> taken = model.stages().in_layer(place);
    std::erase_if(taken, [&](TensorId id) {
        return id != TensorId::resid_in && id != attended && id != TensorId::mlp_act &&
               id != TensorId::mlp_out;
    });
    if (std::ranges::find(taken, patch.at) == taken.end())
        // Translators: the first {} here and below is "the edits of layer 3", the last one a list.
        fail_input(tr("model_edits.patch_cannot_patched_patch",
                      "{} patch {}, which cannot be patched there; patch one of {}", where,
                      tensor_info(patch.at).name,
                      joined(taken, [](TensorId id) { return tensor_info(id).name; })));
    const std::int64_t width = model.stages().width(place, patch.at);
    if (patch.rows == nullptr || patch.rows->shape().rank() != 2 || patch.first < 0 || patch.column < 0 ||
        patch.rows->shape()[1] > width - patch.column)
        fail_input(tr("model_edits.patch_rows_shape_column",
                      "{} patch rows of shape {} from column {} on; give (n, {}), or a part of the columns",
                      where, patch.rows == nullptr ? "()" : patch.rows->shape().text(), patch.column, width));
    if (!patch.rows->all_finite())
        fail_input(tr("model_edits.patched_number_nan_infinite",
                      "{}: a patched number is NaN or infinite; give finite numbers", where));
}

/// The shape of a table that edits of attention n may change; without rows where the model has no such table
/// there.
Shape table_at(const Model& model, std::int64_t n, TensorId table) {
    const AttentionPlace place = attention_place(model.config(), n);
    const Stack stack = place.stack;
    if (!is_table(table) || edited_with(model.config(), n, table) != n ||
        read_as(in_stack(model.config(), stack), table) != table ||
        (table == TensorId::W_U && (stack == Stack::encoder || !model.has_head())))
        return {0};
    const Stack around = stack == Stack::encoder ? Stack::encoder : Stack::own;
    return model.stages()
        .parameter_shape(is_per_layer(table) ? place : AttentionPlace{around, -1}, table)
        .value_or(Shape{0});
}

void check_rows(const Model& model, std::int64_t n, TensorId table, const TableRows& rows,
                const std::string& where) {
    const std::string name = is_editable_weight(table) ? std::string(tensor_info(table).name)
                                                       : tr("model_edits.tensor", "a tensor");
    const Shape shape = table_at(model, n, table);
    const std::int64_t count = shape[0];
    if (count == 0 && is_per_layer(table))
        fail_input(
            tr("model_edits.change_not", "{} change {}, which it does not have; leave it out", where, name));
    if (count == 0)
        fail_input(
            tr("model_edits.change_rows_no_table",
               "{} change rows of {}, which is not one of its tables; W_E, W_P, W_type and W_R belong to "
               "the first layer that reads them, a W_U that is not W_E to the last layer",
               where, name));
    for (const auto& [row, numbers] : rows) {
        const std::string place = tr("model_edits.row", "{}: row {} of {}", where, row, name);
        if (row < 0 || row >= count)
            fail_input(tr("model_edits.not_rows_numbered_0", "{} does not exist; rows are numbered 0 to {}",
                          place, count - 1));
        if (numbers == nullptr || numbers->shape() != row_shape(shape))
            fail_input(tr("model_edits.shape_models", "{} has shape {}; the model's has {}", place,
                          numbers == nullptr ? "()" : numbers->shape().text(), row_shape(shape).text()));
        if (!numbers->all_finite())
            fail_input(tr("model_edits.number_nan_infinite_give",
                          "{}: a number is NaN or infinite; give finite numbers", place));
    }
}

} // namespace

bool is_editable_weight(TensorId weight) {
    return is_block_weight(weight) || is_one_of(of_attention, weight);
}

std::int64_t last_of_stack(const ModelConfig& config, std::int64_t n) {
    const std::int64_t decoder = attention_number(config, {Stack::own, 0});
    return (n < decoder ? decoder : attention_count(config)) - 1;
}

std::int64_t edited_with(const ModelConfig& config, std::int64_t n, TensorId weight) {
    // A decoder may read the encoder's word table.
    if (weight == TensorId::W_E && config.reads_encoder_table)
        return 0;
    if (is_one_of(of_embedding, weight))
        return first_of_stack(config, n);
    if (is_one_of(of_keys, weight))
        return key_attention(config, n);
    return is_of_last(weight) ? last_of_stack(config, n) : n;
}

TensorId read_as(const ModelConfig& config, TensorId weight) {
    return weight == TensorId::W_U && config.tied ? TensorId::W_E : weight;
}

const TableRows* edited_rows(const ModelConfig& config, const ModelEdits& edits, TensorId table,
                             std::int64_t n) {
    const TensorId read = read_as(config, table);
    const LayerEdits* const layer = edits_of(edits, edited_with(config, n, read));
    const auto found =
        layer == nullptr ? std::map<TensorId, TableRows>::const_iterator() : layer->rows.find(read);
    return layer == nullptr || found == layer->rows.end() ? nullptr : &found->second;
}

bool same_embedding(const ModelConfig& config, const ModelEdits& a, const ModelEdits& b) {
    const auto of = [&](const ModelEdits& edits, TensorId table) {
        const TableRows* const rows = edited_rows(config, edits, table, attention_count(config) - 1);
        return rows == nullptr ? TableRows() : *rows;
    };
    return std::ranges::all_of(of_embedding, [&](TensorId table) { return of(a, table) == of(b, table); });
}

const Model& stack_at(const Model& model, std::int64_t n) {
    return attention_place(model.config(), n).stack == Stack::encoder ? *model.encoder() : model;
}

WeightSet editable_weights(const Model& model, std::int64_t n) {
    WeightSet weights = model.layer(n);
    if (n != last_of_stack(model.config(), n))
        return weights;
    const Model& stack = stack_at(model, n);
    for (const TensorId id : of_final_norm)
        weights[id] = stack.weight(id);
    if (&stack == &model && model.has_head())
        weights[TensorId::b_U] = model.weight(TensorId::b_U);
    return weights;
}

const LayerEdits* edits_of(const ModelEdits& edits, std::int64_t n) {
    const auto found = edits.find(n);
    return found == edits.end() ? nullptr : &found->second;
}

bool is_patched(const ModelEdits& edits) {
    return std::ranges::any_of(edits, [](const auto& of) {
        return std::ranges::any_of(of.second.patched,
                                   [](const PatchedRows& patch) { return patch.at != TensorId::mlp_act; });
    });
}

ModelEdits with_patches_of(ModelEdits edits, const ModelEdits& patches) {
    for (auto& [n, layer] : edits)
        layer.patched.clear();
    for (const auto& [n, layer] : patches)
        if (!layer.patched.empty())
            edits[n].patched = layer.patched;
    std::erase_if(edits, [](const auto& of) { return of.second.empty(); });
    return edits;
}

std::int64_t first_difference(const ModelEdits& a, const ModelEdits& b, std::int64_t count) {
    static const LayerEdits none;
    const auto of = [](const ModelEdits& edits, std::int64_t n) -> const LayerEdits& {
        const LayerEdits* const layer = edits_of(edits, n);
        return layer == nullptr ? none : *layer;
    };
    std::int64_t n = 0;
    while (n < count && same(of(a, n), of(b, n)))
        ++n;
    return n;
}

Problem with_edits(Problem problem, const LayerEdits* edits) {
    if (edits == nullptr)
        return problem;
    for (const auto& [weight, tensor] : edits->tensors)
        if (TensorPtr* const slot = problem.input_slot(weight))
            *slot = tensor;
    problem.gains = edits->gains;
    return problem;
}

Problem with_edits(Problem problem, const ModelConfig& config, const ModelEdits& edits, std::int64_t n) {
    problem = with_edits(std::move(problem), edits_of(edits, n));
    const std::int64_t shared = key_attention(config, n);
    if (const LayerEdits* const of = shared == n ? nullptr : edits_of(edits, shared))
        for (const TensorId weight : of_keys)
            if (const auto edited = of->tensors.find(weight); edited != of->tensors.end())
                *problem.input_slot(weight) = edited->second;
    return problem;
}

WeightSet with_edits(WeightSet weights, const LayerEdits* edits) {
    if (edits == nullptr)
        return weights;
    for (const auto& [weight, tensor] : edits->tensors)
        if (weights[weight] != nullptr)
            weights[weight] = tensor;
    weights.rows = edits->rows;
    return weights;
}

void check_edits(const Model& model, const ModelEdits& edits) {
    const ModelConfig& config = model.config();
    const std::int64_t count = attention_count(config);
    for (const auto& [n, layer] : edits) {
        if (n < 0 || n >= count)
            fail_input(tr("model_edits.edits_name_layer_layers",
                          "the edits name layer {}; layers are numbered 0 to {}", n, count - 1));
        const AttentionPlace place = attention_place(config, n);
        const std::string where = tr("model_edits.edits", "the edits of {}", attention_words(config, place));
        const std::int64_t H = in_stack(config, place.stack).H;
        if (!layer.gains.empty() && layer.gains.size() != static_cast<std::size_t>(H))
            fail_input(tr("model_edits.gains_heads",
                          "{} have {} head gains for {} heads; give one for each head", where,
                          layer.gains.size(), H));
        if (!std::ranges::all_of(layer.gains, [](float gain) { return std::isfinite(gain); }))
            fail_input(tr("model_edits.gain_not_finite_give",
                          "{} have a head gain that is not finite; give finite numbers", where));
        for (const PatchedRows& patch : layer.patched)
            check_patch(patch, model, place, where);
        for (const auto& [table, rows] : layer.rows)
            check_rows(model, n, table, rows, where);
        const WeightSet weights = layer.tensors.empty() ? WeightSet() : editable_weights(model, n);
        for (const auto& [weight, tensor] : layer.tensors) {
            if (!is_editable_weight(weight))
                fail_input(tr("model_edits.change_weight_no_part",
                              "{} change a weight that is not part of attention, norms or MLP; leave it out",
                              where));
            if (is_table(weight))
                fail_input(tr("model_edits.change_whole_give_rows",
                              "{} change {} as a whole; give the rows that change", where,
                              tensor_info(weight).name));
            const std::string name(tensor_info(weight).name);
            const TensorPtr own = weights[weight];
            if (own == nullptr)
                fail_input(tr("model_edits.change_not", "{} change {}, which it does not have; leave it out",
                              where, name));
            if (tensor == nullptr || tensor->shape() != own->shape())
                fail_input(tr("model_edits.shape_models_2", "{}: {} has shape {}; the model's has {}", where,
                              name, tensor == nullptr ? "()" : tensor->shape().text(), own->shape().text()));
            if (!tensor->all_finite())
                fail_input(tr("model_edits.number_nan_infinite_give_2",
                              "{}: a number of {} is NaN or infinite; give finite numbers", where, name));
        }
    }
}

} // namespace headscope::checkpoint
