#pragma once

#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/forward.h"
#include "core/checkpoint/run/model_run.h"
#include "core/lesson/scene.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::lesson {

class AdditionalPasses;

/// A checkpoint's pass over one text of T tokens: the input of the live values, gates and panels of a scene
/// with a model. Immutable; any thread may use it.
struct LessonModel {
    checkpoint::TextModelPtr model;
    checkpoint::ModelInputs inputs; ///< B = 1
    checkpoint::ModelEdits edits;
    checkpoint::ForwardResult run;   ///< every stage of every layer, with the edits
    TensorPtr unedited_logits;       ///< (1, T, vocab): the logits of the same text without the edits
    checkpoint::ModelRunPtr numbers; ///< the same pass, for analyses of runs
    std::shared_ptr<AdditionalPasses> additional; ///< additional passes, run on demand
};
using LessonModelPtr = std::shared_ptr<const LessonModel>;

/// Runs the text with the edits and, if there are any, without them. `corrupted` is the prompt for patching;
/// empty if there is none. Throws what run_model throws, and Error(input) for a checkpoint without a language
/// model head.
LessonModel run_lesson_model(const checkpoint::TextModelPtr& model, checkpoint::ModelInputs inputs,
                             checkpoint::ModelEdits edits, const std::string& corrupted, Progress& progress);

/// The logits of the last token (vocab), with these edits in place of the model's own.
std::vector<float> last_logits(const LessonModel& model, const checkpoint::ModelEdits& edits,
                               Progress& progress);

/// The edits for a scene's head gains. Throws Error(input) for a layer or a head that does not exist.
checkpoint::ModelEdits edits_of(const StepScene& scene, const checkpoint::ModelConfig& config);

/// Throws Error(input) with the available layers if there is no layer l.
const checkpoint::LayerRun& layer_of(const LessonModel& model, std::int64_t l);

/// A stage or an input of layer l's attention, or a stage around it; null if the model has none.
const Tensor* tensor_of(const LessonModel& model, std::int64_t l, TensorId id);

/// Throws Error(input) if a word, the second prompt or the selected cell of a scene's screen does not fit the
/// model.
void check_screen(const StepScene& scene, const LessonModel& model);

/// A token for prose, without its leading space.
std::string word_of(const LessonModel& model, std::int64_t token);

/// The numbers of a page's own problem, while the learner's problem is on screen.
struct PageNumbers {
    std::shared_ptr<const Problem> problem;
    std::shared_ptr<const Trace> trace; ///< all stages
    LessonModelPtr model = {};          ///< null: the page has no model
    std::int64_t layer = 0;             ///< of the model: the layer that the page shows
};

} // namespace headscope::lesson
