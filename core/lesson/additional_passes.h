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

/// Additional passes through a checkpoint for live values: the corrupted prompt, the pass with an ablated
/// head, the pass with a patch. Each is computed on first use, and then cached. Any thread may call; one call
/// computes at a time.
class AdditionalPasses {
public:
    /// The logit of `token` minus that of `against`, after the last token of the text.
    struct TokenPair {
        std::int64_t token = 0;
        std::optional<std::int64_t> against = {}; ///< empty: nothing is subtracted
        auto operator<=>(const TokenPair&) const = default;
    };
    /// `corrupted`: the second prompt; empty if there is none.
    AdditionalPasses(checkpoint::TextModelPtr model, checkpoint::ModelRunPtr run, std::string corrupted);

    /// The pass over the second prompt, with the same edits. Throws Error(input) if there is no such prompt
    /// or the model cannot read it; recovered() and path() throw the same.
    const LessonModel& corrupted();
    /// The pass over the text without gains and edits.
    const LessonModel& before();
    /// The decrease of the logits when that head is ablated; see analysis::ablation_sweep. Throws
    /// Error(input) for a head that does not exist.
    double ablation_loss(analysis::HeadPlace head, TokenPair words);
    /// The fraction of the logit difference that a patch recovers; see analysis::Patching, whose errors it
    /// throws. row, column: in the kind's map. Throws Error(input) for a position outside the map.
    double recovered(analysis::PatchKind kind, std::int64_t row, std::int64_t column, TokenPair words);
    /// The fraction that one path recovers: the output of `from` is taken from the first prompt's run only
    /// for `input` (PatchKind q, k or v) of the head `to`. Throws what analysis::Patching::path throws.
    double path(analysis::HeadPlace from, analysis::HeadPlace to, analysis::PatchKind input, TokenPair words);

private:
    const LessonModel& second();
    analysis::Patching& patching(TokenPair words);

    checkpoint::TextModelPtr model_;
    checkpoint::ModelRunPtr run_;
    std::string prompt_;
    std::mutex one_at_a_time_;
    LessonModelPtr corrupted_, before_;
    std::map<TokenPair, std::map<std::pair<std::int64_t, std::int64_t>, double>>
        losses_; ///< by layer and head
    std::map<TokenPair, std::unique_ptr<analysis::Patching>> patchings_;
    std::map<std::tuple<TokenPair, analysis::PatchKind, std::int64_t, std::int64_t>, double> recovered_;
    /// By the layer and head of `from` and of `to`, and the input.
    std::map<std::tuple<TokenPair, std::array<std::int64_t, 4>, analysis::PatchKind>, double> paths_;
};

/// Computes the additional passes that the live values and gates of a lesson read, so that readers need not
/// wait for them. Throws Error(cancelled).
void precompute_passes(const Lesson& lesson, const LessonModel& model, const Progress& cancel);

} // namespace headscope::lesson
