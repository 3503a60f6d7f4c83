#pragma once

#include "core/analysis/effects/head_path.h"
#include "core/checkpoint/run/model_run.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headscope::analysis {

/// What is taken from the clean run.
enum class PatchKind : std::uint8_t { residual, attention, mlp, head, q, k, v, pattern };
/// How a kind is called, and what the columns of its map are.
struct PatchKindInfo {
    PatchKind kind;
    std::string_view id; ///< on the command line
    Message title;       ///< for people
    bool by_head;        ///< columns are heads, at all positions at once; else positions
};
std::span<const PatchKindInfo> patch_kinds();
const PatchKindInfo& info_of(PatchKind kind);

/// Throws Error(input), naming both lengths and where they part, for texts of different lengths.
void require_same_length(const std::vector<std::int64_t>& clean, const std::vector<std::int64_t>& corrupted);

/// What of the later head a path reaches; several together.
struct PathInputs {
    bool queries = true, keys = true, values = true;
};

/// Logits. Where the two prompts differ by less, a share divides by next to nothing and says little.
inline constexpr double least_difference = 0.05;

/// Activation patching (Meng et al. 2022; Wang et al. 2022, "Interpretability in the Wild") between two
/// prompts of one length T: the corrupted prompt runs with one activation of the clean run in it, and
///   recovered = (difference - corrupted) / (clean - corrupted),
/// where each is the logit of `answer` less that of `against` at one position. One thread at a time.
class Patching {
public:
    struct Question {
        std::int64_t answer = 0, against = 0;
        std::int64_t position = 0; ///< in [0, T)
    };
    /// Runs of one model with the same edits. Throws Error(input) for models that are not causal or have two
    /// stacks or no head, for prompts of different lengths, for tokens and positions that are not there, and
    /// where both prompts give the same difference; Error(cancelled).
    Patching(checkpoint::ModelRunPtr clean, checkpoint::ModelRunPtr corrupted, const Question& question,
             Progress& progress);
    ~Patching();

    double clean() const;     ///< the difference in the clean run
    double corrupted() const; ///< and in the corrupted one
    /// Rows of a kind's map: layers; of `residual` one more, row l the stream that enters layer l.
    std::int64_t rows(PatchKind kind) const;
    /// Columns: T, or H.
    std::int64_t columns(PatchKind kind) const;
    /// Whether the two runs have the same numbers there, so that nothing can be recovered.
    bool same(PatchKind kind, std::int64_t row, std::int64_t column) const;
    /// The difference in the corrupted run with that activation of the clean run: a pass from that layer on,
    /// or none where `same`. q and k of a head are taken after their projection; a head of grouped keys gets
    /// them for itself alone. Throws Error(cancelled).
    double patched(PatchKind kind, std::int64_t row, std::int64_t column, Progress& progress);
    /// What makes that run of the corrupted one: its edits, and the rows that are patched. Its own edits
    /// where `same`. Throws Error(input) for the residual stream behind the last layer, which no layer reads.
    checkpoint::ModelEdits edits(PatchKind kind, std::int64_t row, std::int64_t column, Progress& progress);
    /// The same of one path (Wang et al. 2022): what an earlier head wrote is the clean run's for one later
    /// head alone, at the scale of the corrupted run's norm before that head. Throws Error(input) for heads
    /// that are not there or in the wrong order, and for models with a norm on the stream.
    double path(HeadPlace from, HeadPlace to, PathInputs inputs, Progress& progress);
    checkpoint::ModelEdits path_edits(HeadPlace from, HeadPlace to, PathInputs inputs, Progress& progress);
    double recovered(double difference) const;

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace headscope::analysis
