#include "core/checkpoint/model/model_edits.h"

#include "core/base/error.h"
#include "core/checkpoint/model/stacks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headscope::checkpoint {

namespace {

constexpr std::array<std::pair<TensorId, WeightId>, 27> editable{
    {{TensorId::W_Q, WeightId::W_Q},
     {TensorId::W_K, WeightId::W_K},
     {TensorId::W_V, WeightId::W_V},
     {TensorId::W_O, WeightId::W_O},
     {TensorId::b_Q, WeightId::b_Q},
     {TensorId::b_K, WeightId::b_K},
     {TensorId::b_V, WeightId::b_V},
     {TensorId::b_O, WeightId::b_O},
     {TensorId::q_norm, WeightId::q_norm},
     {TensorId::k_norm, WeightId::k_norm},
     {TensorId::q_norm_all, WeightId::q_norm_all},
     {TensorId::k_norm_all, WeightId::k_norm_all},
     {TensorId::sink, WeightId::sink},
     {TensorId::norm1_weight, WeightId::norm1_weight},
     {TensorId::norm1_bias, WeightId::norm1_bias},
     {TensorId::norm1_after_weight, WeightId::norm1_after_weight},
     {TensorId::norm2_weight, WeightId::norm2_weight},
     {TensorId::norm2_bias, WeightId::norm2_bias},
     {TensorId::norm2_after_weight, WeightId::norm2_after_weight},
     {TensorId::W_in, WeightId::mlp_in},
     {TensorId::b_in, WeightId::mlp_in_bias},
     {TensorId::W_gate, WeightId::mlp_gate},
     {TensorId::b_gate, WeightId::mlp_gate_bias},
     {TensorId::W_out, WeightId::mlp_out},
     {TensorId::b_out, WeightId::mlp_out_bias},
     {TensorId::final_norm_weight, WeightId::final_norm_weight},
     {TensorId::final_norm_bias, WeightId::final_norm_bias}}};

constexpr std::array of_final_norm{WeightId::final_norm_weight, WeightId::final_norm_bias};

/// The last attention of the stack that attention n belongs to.
std::int64_t last_of_stack(const Architecture& architecture, std::int64_t n) {
    const std::int64_t decoder = attention_number(architecture, {Stack::own, 0});
    return (n < decoder ? decoder : attention_count(architecture)) - 1;
}

bool all_one(const std::vector<float>& gains) {
    return std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; });
}

bool same(const std::optional<PatchedRows>& a, const std::optional<PatchedRows>& b) {
    return a.has_value() == b.has_value() &&
           (!a || (a->at == b->at && a->first == b->first && a->rows == b->rows && a->added == b->added));
}

bool same(const LayerEdits& a, const LayerEdits& b) {
    return a.tensors == b.tensors && (a.gains == b.gains || (all_one(a.gains) && all_one(b.gains))) &&
           same(a.patched, b.patched);
}

void check_patch(const PatchedRows& patch, const Architecture& architecture, const std::string& where) {
    const TensorId attended = architecture.norms.after_branch ? TensorId::attn_raw : TensorId::attn_out;
    if (architecture.encoder != nullptr ||
        (patch.at != TensorId::resid_in && patch.at != attended && patch.at != TensorId::mlp_out))
        fail_input(where + " patch " + std::string(tensor_info(patch.at).name) +
                   ", which cannot be patched here; patch resid_in, " +
                   std::string(tensor_info(attended).name) + " or mlp_out of a model with one stack");
    if (patch.rows == nullptr || patch.rows->shape().rank() != 2 ||
        patch.rows->shape()[1] != architecture.D || patch.first < 0)
        fail_input(where + " patch rows of shape " +
                   (patch.rows == nullptr ? "()" : patch.rows->shape().text()) + "; give (n, " +
                   std::to_string(architecture.D) + ")");
    if (!patch.rows->all_finite())
        fail_input(where + ": a patched number is NaN or infinite; give numbers");
}

} // namespace

std::optional<WeightId> weight_of(TensorId id) {
    const auto row = std::ranges::find(editable, id, &std::pair<TensorId, WeightId>::first);
    return row == editable.end() ? std::nullopt : std::optional(row->second);
}

std::optional<TensorId> tensor_of(WeightId weight) {
    const auto row = std::ranges::find(editable, weight, &std::pair<TensorId, WeightId>::second);
    return row == editable.end() ? std::nullopt : std::optional(row->first);
}

std::int64_t edited_with(const Architecture& architecture, std::int64_t n, WeightId weight) {
    return std::ranges::find(of_final_norm, weight) == of_final_norm.end() ? n
                                                                           : last_of_stack(architecture, n);
}

WeightSet editable_weights(const Model& model, std::int64_t n) {
    WeightSet weights = model.layer(n);
    if (n != last_of_stack(model.architecture(), n))
        return weights;
    const bool encoder = attention_place(model.architecture(), n).stack == Stack::encoder;
    for (const WeightId id : of_final_norm)
        weights[id] = (encoder ? *model.encoder() : model).weight(id);
    return weights;
}

const LayerEdits* edits_of(const ModelEdits& edits, std::int64_t n) {
    const auto found = edits.find(n);
    return found == edits.end() ? nullptr : &found->second;
}

bool is_patched(const ModelEdits& edits) {
    return std::ranges::any_of(edits, [](const auto& of) { return of.second.patched.has_value(); });
}

ModelEdits with_patches_of(ModelEdits edits, const ModelEdits& patches) {
    for (auto& [n, layer] : edits)
        layer.patched.reset();
    for (const auto& [n, layer] : patches)
        if (layer.patched)
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
        if (TensorPtr* const slot = problem.input_slot(*tensor_of(weight)))
            *slot = tensor;
    problem.gains = edits->gains;
    return problem;
}

WeightSet with_edits(WeightSet weights, const LayerEdits* edits) {
    if (edits != nullptr)
        for (const auto& [weight, tensor] : edits->tensors)
            if (weights[weight] != nullptr)
                weights[weight] = tensor;
    return weights;
}

void check_edits(const Model& model, const ModelEdits& edits) {
    const Architecture& architecture = model.architecture();
    const std::int64_t count = attention_count(architecture);
    for (const auto& [n, layer] : edits) {
        if (n < 0 || n >= count)
            fail_input("the edits name layer " + std::to_string(n) + "; layers are numbered 0 to " +
                       std::to_string(count - 1));
        const AttentionPlace place = attention_place(architecture, n);
        const std::string where = "the edits of " + attention_words(architecture, place);
        const std::int64_t H = in_stack(architecture, place.stack).H;
        if (!layer.gains.empty() && layer.gains.size() != static_cast<std::size_t>(H))
            fail_input(where + " have " + std::to_string(layer.gains.size()) + " gains; it has " +
                       std::to_string(H) + " heads");
        if (!std::ranges::all_of(layer.gains, [](float gain) { return std::isfinite(gain); }))
            fail_input(where + " have a gain that is not finite; give numbers");
        if (layer.patched)
            check_patch(*layer.patched, architecture, where);
        const WeightSet weights = layer.tensors.empty() ? WeightSet() : editable_weights(model, n);
        for (const auto& [weight, tensor] : layer.tensors) {
            const std::optional<TensorId> id = tensor_of(weight);
            if (!id)
                fail_input(where +
                           " change a weight that is no part of attention, norms or MLP; leave it out");
            const std::string name(tensor_info(*id).name);
            const TensorPtr own = weights[weight];
            if (own == nullptr)
                fail_input(where + " change " + name + ", which it does not have");
            if (tensor == nullptr || tensor->shape() != own->shape())
                fail_input(where + ": " + name + " has shape " +
                           (tensor == nullptr ? "()" : tensor->shape().text()) + "; the model's has " +
                           own->shape().text());
            if (!tensor->all_finite())
                fail_input(where + ": a number of " + name + " is NaN or infinite; give numbers");
        }
    }
}

} // namespace headscope::checkpoint
