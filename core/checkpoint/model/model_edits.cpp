#include "core/checkpoint/model/model_edits.h"

#include "core/base/error.h"
#include "core/checkpoint/model/stacks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headscope::checkpoint {

namespace {

constexpr std::array<std::pair<TensorId, WeightId>, 13> editable{
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
     {TensorId::sink, WeightId::sink}}};

bool all_one(const std::vector<float>& gains) {
    return std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; });
}

bool same(const LayerEdits& a, const LayerEdits& b) {
    return a.tensors == b.tensors && (a.gains == b.gains || (all_one(a.gains) && all_one(b.gains)));
}

} // namespace

std::optional<WeightId> weight_of(TensorId id) {
    const auto row = std::ranges::find(editable, id, &std::pair<TensorId, WeightId>::first);
    return row == editable.end() ? std::nullopt : std::optional(row->second);
}

const LayerEdits* edits_of(const ModelEdits& edits, std::int64_t n) {
    const auto found = edits.find(n);
    return found == edits.end() ? nullptr : &found->second;
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
    for (const auto& [id, tensor] : edits->tensors)
        *problem.input_slot(id) = tensor;
    problem.gains = edits->gains;
    return problem;
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
        const WeightSet weights = layer.tensors.empty() ? WeightSet() : model.layer(n);
        for (const auto& [id, tensor] : layer.tensors) {
            const std::string name(tensor_info(id).name);
            const auto weight = weight_of(id);
            const TensorPtr own = weight ? weights[*weight] : nullptr;
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
