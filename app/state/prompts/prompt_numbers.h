#pragma once

#include "app/state/prompts/prompt_list.h"
#include "app/state/screens/atlas.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/patching_map.h"
#include "core/base/progress.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The screens whose numbers have a mean over prompts.
enum class MeanScreen : std::uint8_t {
    heads,    ///< the scores of the atlas
    direct,   ///< the logit attribution of the effects
    ablated,  ///< and zero ablation
    averaged, ///< and mean ablation
    patching
};

/// Everything that the numbers of a prompt depend on, apart from the model, its edits and the list.
struct PromptsQuestion {
    MeanScreen screen = MeanScreen::heads;
    checkpoint::Stack stack = checkpoint::Stack::own;
    PatchingQuestion patching = {}; ///< its prompt is not used
    analysis::HeadPlace from = {};  ///< for path patching
    bool share = false;             ///< for the heads: also HeadScore::share, which needs their outputs
    bool hide_first = false;        ///< for the heads, see analysis::HeadTokens
};

/// The numbers of one prompt.
struct NumbersOfPrompt {
    std::size_t index = 0;                         ///< in the list
    std::vector<std::optional<double>> cells = {}; ///< in an order that all prompts share
    std::string fault = {};                        ///< why there are none, one sentence; empty: there are
};

/// The numbers of the prompts of a list for a screen, and the form in which the screen shows their mean.
struct NumbersOfPrompts {
    PromptsQuestion asked;
    std::vector<std::shared_ptr<const NumbersOfPrompt>> prompts; ///< finished, in the order of the list
    std::int64_t of = 0;                                         ///< prompts that can be measured
    PromptMean mean;
    // The results of the first prompt, for their form; null for other screens.
    std::shared_ptr<const Effects> effects;
    std::shared_ptr<const EffectsSweep> sweep;
    std::shared_ptr<const PatchingMap> map;
    std::shared_ptr<const checkpoint::Model> model; ///< of the prompts
};

/// Returns why the screen has no mean over the list, one sentence; empty: it has.
std::string no_mean_reason(const PromptList& list, const PromptsQuestion& asked);

/// Measures the prompts one after the other, with the functions that `headscope heads`, `explain` and `patch`
/// use. `put` receives the result after each. so_far: a result that was stopped; may be null. Its prompts are
/// not measured again. A prompt with Error(input) gets a fault. For a worker; throws the other errors.
NumbersOfPrompts numbers_of_prompts(const checkpoint::TextModel& model, const PromptList& list,
                                    const checkpoint::ModelEdits& edits, const PromptsQuestion& asked,
                                    const NumbersOfPrompts* so_far,
                                    const std::function<void(const NumbersOfPrompts&)>& put,
                                    Progress& progress);
/// Returns, by index in the list, the logit of `answer` minus that of `against` after the last token, for
/// lines with both. `put` and so_far likewise.
std::vector<std::optional<double>>
differences_of_prompts(const checkpoint::TextModel& model, const PromptList& list,
                       const checkpoint::ModelEdits& edits, const std::vector<std::optional<double>>* so_far,
                       const std::function<void(const std::vector<std::optional<double>>&)>& put,
                       Progress& progress);

// The means as the screens show them. At least one prompt was measured.
std::shared_ptr<const Effects> mean_effects(const NumbersOfPrompts& numbers);
/// For MeanScreen::ablated and averaged.
std::shared_ptr<const EffectsSweep> mean_sweep(const NumbersOfPrompts& numbers);
std::shared_ptr<const PatchingView> mean_patching(const NumbersOfPrompts& numbers);
/// Replaces the scores of the heads.
void show_mean_heads(Atlas& atlas, const NumbersOfPrompts& numbers);

/// Returns, by index in the list, the root mean square of number minus mean over the cells of the grid on
/// screen. score: the score that colors the heads.
std::vector<std::optional<double>> distances_from_mean(const NumbersOfPrompts& numbers, std::size_t count,
                                                       analysis::HeadScore score);

} // namespace headscope::app
