#pragma once

#include "core/analysis/effects/patching.h"
#include "core/lesson/lesson.h"
#include "core/lesson/lesson_model.h"

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace headscope::lesson {

/// What live values read of further passes through a checkpoint: the corrupted prompt, the pass without a
/// head, the pass with a patch. Each is computed when it is asked for first, and then kept. Any thread may
/// ask; one computes at a time.
class FurtherPasses {
public:
    /// The logit of `token`, less that of `against`, after the last token of the text.
    struct Words {
        std::int64_t token = 0;
        std::optional<std::int64_t> against = {}; ///< none: nothing is taken off
        auto operator<=>(const Words&) const = default;
    };
    /// `corrupted`: the second prompt; empty: there is none.
    FurtherPasses(checkpoint::TextModelPtr model, checkpoint::ModelRunPtr run, std::string corrupted);

    /// The pass over the second prompt, with the same edits. The members below throw likewise: Error(input)
    /// without such a prompt, and for one that the model cannot read.
    const LessonModel& corrupted();
    /// The pass over the text without gains and edits.
    const LessonModel& before();
    /// How far the logits fall when that head alone is switched off; see analysis::ablation_sweep. Throws
    /// Error(input) for a head that is not there.
    double lost(analysis::HeadPlace head, Words words);
    /// The share of the difference that a patch brings back; see analysis::Patching, whose errors it throws.
    /// row, column: of the kind's map. Throws Error(input) for a place outside of it.
    double recovered(analysis::PatchKind kind, std::int64_t row, std::int64_t column, Words words);
    /// The share that one path brings back: what `from` wrote is the first prompt's for `input` (PatchKind q,
    /// k or v) of the head `to` alone. Throws what analysis::Patching::path throws.
    double path(analysis::HeadPlace from, analysis::HeadPlace to, analysis::PatchKind input, Words words);

private:
    const LessonModel& second();
    analysis::Patching& patching(Words words);

    checkpoint::TextModelPtr model_;
    checkpoint::ModelRunPtr run_;
    std::string prompt_;
    std::mutex one_at_a_time_;
    LessonModelPtr corrupted_, before_;
    std::map<Words, std::map<std::pair<std::int64_t, std::int64_t>, double>> losses_; ///< by layer and head
    std::map<Words, std::unique_ptr<analysis::Patching>> patchings_;
    std::map<std::tuple<Words, analysis::PatchKind, std::int64_t, std::int64_t>, double> shares_;
    /// By the layer and head of `from`, those of `to`, and the input.
    std::map<std::tuple<Words, std::array<std::int64_t, 4>, analysis::PatchKind>, double> paths_;
};

/// Has the further passes computed that the live values and gates of a lesson read, so that no reader waits
/// for them. Throws Error(cancelled).
void compute_ahead(const Lesson& lesson, const LessonModel& model, const Progress& cancel);

} // namespace headscope::lesson
