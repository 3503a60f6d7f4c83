#include "app/state/document.h"

#include "core/attention/regroup.h"
#include "core/base/error.h"
#include "core/text/preset.h"

#include <algorithm>

namespace headscope {

namespace {

Problem with_identity_output(Problem problem) {
    const Dims& dims = problem.dims;
    if (dims.H * dims.dv != dims.D)
        fail_input("W_O can be the identity only when it is square, and here it has " +
                   std::to_string(dims.H * dims.dv) + " rows (H·dv) and " + std::to_string(dims.D) +
                   " columns (D); keep the learned W_O");
    Tensor identity({dims.D, dims.D}, 0.0F);
    for (std::int64_t d = 0; d < dims.D; ++d)
        identity.at(d, d) = 1.0F;
    problem.weights.W_O = std::make_shared<const Tensor>(std::move(identity));
    return problem;
}

void add_mask(Mask& mask, MaskChoice choice) {
    switch (choice) {
    case MaskChoice::none:
        break;
    case MaskChoice::causal:
        mask.emplace_back(CausalMask{});
        break;
    case MaskChoice::causal_window:
        mask.emplace_back(SlidingWindowCausalMask{causal_window_width});
        break;
    case MaskChoice::symmetric_window:
        mask.emplace_back(SlidingWindowSymmetricMask{symmetric_half_width});
        break;
    }
}

/// The slot of an input tensor.
TensorPtr* slot_of(Problem& problem, TensorId id) {
    Weights& w = problem.weights;
    switch (id) {
    case TensorId::x:
        return &problem.x;
    case TensorId::x_kv:
        return &problem.x_kv;
    case TensorId::W_Q:
        return &w.W_Q;
    case TensorId::W_K:
        return &w.W_K;
    case TensorId::W_V:
        return &w.W_V;
    case TensorId::W_O:
        return &w.W_O;
    case TensorId::b_Q:
        return &w.b_Q;
    case TensorId::b_K:
        return &w.b_K;
    case TensorId::b_V:
        return &w.b_V;
    case TensorId::b_O:
        return &w.b_O;
    default:
        return nullptr;
    }
}

/// Lays the recipe's edits, gains and temperature over the unedited problem.
void finish(Document& document) {
    const Recipe& recipe = document.recipe;
    Problem& problem = document.problem;
    problem = *document.unedited;
    for (const auto& [id, tensor] : recipe.edits)
        if (TensorPtr* slot = slot_of(problem, id); slot != nullptr &&
                                                    !(id == TensorId::W_O && recipe.identity_W_O) &&
                                                    *slot != nullptr && (*slot)->shape() == tensor->shape())
            *slot = tensor;
    if (static_cast<std::int64_t>(recipe.gains.size()) == problem.dims.H)
        problem.gains = recipe.gains;
    problem.temperature = recipe.temperature;
    validate(problem);
}

} // namespace

DocumentPtr make_document(const Recipe& recipe, std::uint64_t revision) {
    auto document = std::make_shared<Document>();
    document->recipe = recipe;
    document->revision = revision;
    if (recipe.base != nullptr) {
        document->problem = *recipe.base;
        document->title = "from a file";
    } else {
        PresetProblem built = build_preset(recipe.preset, recipe.sentence, recipe.seed);
        document->problem = std::move(built.problem);
        document->head_roles = std::move(built.head_roles);
        document->feature_names = std::move(built.feature_names);
        const auto row = std::ranges::find(presets(), std::string_view(recipe.preset), &PresetInfo::id);
        document->title = row->title;
    }
    Problem problem = std::move(document->problem);
    if (recipe.H != 0 && recipe.H != problem.dims.H) {
        problem = with_heads(problem, recipe.H);
        document->head_roles.clear();
    }
    if (recipe.Hkv != 0 && recipe.Hkv != problem.dims.Hkv) {
        problem = with_kv_heads(problem, recipe.Hkv);
        document->head_roles.clear();
    }
    if (recipe.identity_W_O)
        problem = with_identity_output(std::move(problem));
    problem.mask.insert(problem.mask.end(), recipe.extra_mask.begin(), recipe.extra_mask.end());
    add_mask(problem.mask, recipe.mask);
    document->unedited = std::make_shared<const Problem>(std::move(problem));
    finish(*document);
    return document;
}

DocumentPtr edit_document(const Document& document, const Recipe& recipe) {
    auto edited = std::make_shared<Document>(document);
    edited->recipe = recipe;
    ++edited->revision;
    finish(*edited);
    return edited;
}

bool is_edited(const Document& document, TensorId tensor, std::int64_t offset) {
    if (!document.recipe.edits.contains(tensor))
        return false;
    const Tensor *now = document.problem.input(tensor), *before = document.unedited->input(tensor);
    return now != before && now->data()[offset] != before->data()[offset];
}

} // namespace headscope
