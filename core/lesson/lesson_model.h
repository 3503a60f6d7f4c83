#pragma once

#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/forward.h"
#include "core/checkpoint/run/model_run.h"
#include "core/lesson/scene.h"

#include <cstdint>
#include <memory>
#include <string>

namespace headscope::lesson {

class FurtherPasses;

/// A checkpoint's pass over one text of T tokens: what the live values, gates and panels of a scene with a
/// model read. Immutable; any thread may use it.
struct LessonModel {
    checkpoint::TextModelPtr model;
    checkpoint::ModelInputs inputs; ///< B = 1
    checkpoint::ModelEdits edits;
    checkpoint::ForwardResult run;          ///< every stage of every layer, with the edits
    TensorPtr unedited_logits;              ///< (1, T, vocab): those of `run` without the edits
    checkpoint::ModelRunPtr numbers;        ///< the same pass, for what is asked of runs
    std::shared_ptr<FurtherPasses> further; ///< what else runs for it, when that is asked for
};
using LessonModelPtr = std::shared_ptr<const LessonModel>;

/// Runs the text with the edits, and without them where there are any. `corrupted` is the prompt that patches
/// are made in; empty: none. Throws what run_model throws, and Error(input) for a checkpoint without a head.
LessonModel run_lesson_model(const checkpoint::TextModelPtr& model, checkpoint::ModelInputs inputs,
                             checkpoint::ModelEdits edits, const std::string& corrupted, Progress& progress);

/// The logits of the last token (vocab), with these edits in place of the model's own.
std::vector<float> last_logits(const LessonModel& model, const checkpoint::ModelEdits& edits,
                               Progress& progress);

/// The changes that a scene's gains make. Throws Error(input) for a layer or a head that is not there.
checkpoint::ModelEdits edits_of(const StepScene& scene, const checkpoint::Architecture& architecture);

/// Throws Error(input) naming the layers there are.
const checkpoint::LayerRun& layer_of(const LessonModel& model, std::int64_t l);

/// A stage or an input of layer l's attention, or a stage around it; null where the model has none.
const Tensor* tensor_of(const LessonModel& model, std::int64_t l, TensorId id);

/// A token as prose names it, without the blank at its beginning.
std::string word_of(const LessonModel& model, std::int64_t token);

/// The numbers of a page's own problem, for prose that is read while the learner's problem is on screen.
struct OwnNumbers {
    std::shared_ptr<const Problem> problem;
    std::shared_ptr<const Trace> trace; ///< all stages
    LessonModelPtr model = {};          ///< null: the page shows no model
    std::int64_t layer = 0;             ///< of the model: the one that the page shows
};

} // namespace headscope::lesson
