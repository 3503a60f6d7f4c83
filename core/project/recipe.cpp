#include "core/project/recipe.h"

#include "core/attention/regroup.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/preset.h"

#include <algorithm>

namespace headscope::project {

namespace {

Problem with_identity_output(Problem problem) {
    const Dims& dims = problem.dims;
    if (dims.H * dims.dv != dims.D)
        fail_input(tr("recipe.w_o_identity_square",
                      "W_O can be the identity only when it is square, and here it has {} rows (H·dv) and {} "
                      "columns (D); keep the learned W_O",
                      dims.H * dims.dv, dims.D));
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

// Translators: the title of the document if it is not a preset
constexpr Message from_file = translatable("recipe.file", "from a file");

} // namespace

BuiltRecipe build_recipe(const Recipe& recipe) {
    BuiltRecipe built;
    if (recipe.base != nullptr) {
        built.problem = *recipe.base;
        built.title = from_file.english;
    } else {
        text::PresetProblem preset =
            text::build_preset(recipe.preset, recipe.sentence, recipe.seed, recipe.kv_sentence);
        built = {std::move(preset.problem), std::move(preset.head_roles), std::move(preset.feature_names),
                 std::string(text::find_preset(recipe.preset)->title.english)};
    }
    Problem& problem = built.problem;
    if (recipe.H != 0 && recipe.H != problem.dims.H) {
        problem = with_head_count(problem, recipe.H);
        built.head_roles.clear();
    }
    if (recipe.Hkv != 0 && recipe.Hkv != problem.dims.Hkv) {
        problem = with_kv_head_count(problem, recipe.Hkv);
        built.head_roles.clear();
    }
    if (recipe.identity_W_O)
        problem = with_identity_output(std::move(problem));
    problem.mask.insert(problem.mask.end(), recipe.extra_mask.begin(), recipe.extra_mask.end());
    add_mask(problem.mask, recipe.mask);
    return built;
}

std::string translated_title(std::string_view title) {
    std::vector<Message> known{from_file};
    for (const text::PresetInfo& preset : text::presets())
        known.push_back(preset.title);
    return tr(find_message(known, title));
}

std::string recipe_title(const Recipe& recipe) {
    if (recipe.base != nullptr)
        return {};
    return recipe.sentence + (recipe.kv_sentence.empty() ? "" : " / " + recipe.kv_sentence);
}

bool painted_mask_fits(const Recipe& recipe, const Dims& dims) {
    if (recipe.painted_mask.empty())
        return false;
    const auto* rule = std::get_if<ExplicitMask>(&recipe.painted_mask.front());
    return rule != nullptr && rule->allowed != nullptr &&
           rule->allowed->shape == Shape{dims.B, dims.H, dims.Tq, dims.Tk};
}

Problem with_edits(const Problem& unedited, const Recipe& recipe) {
    Problem problem = unedited;
    for (const auto& [id, tensor] : recipe.edits) {
        TensorPtr* slot = problem.input_slot(id);
        const bool replaced = id == TensorId::W_O && recipe.identity_W_O;
        if (slot != nullptr && *slot != nullptr && !replaced && (*slot)->shape() == tensor->shape())
            *slot = tensor;
    }
    if (static_cast<std::int64_t>(recipe.gains.size()) == problem.dims.H)
        problem.gains = recipe.gains;
    problem.temperature = recipe.temperature;
    if (painted_mask_fits(recipe, problem.dims))
        problem.mask = recipe.painted_mask;
    validate(problem);
    return problem;
}

} // namespace headscope::project
