#pragma once

#include "app/state/document.h"
#include "app/state/screens/atlas.h"
#include "app/state/screens/circuits.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/long_map.h"
#include "app/state/screens/patching_map.h"
#include "app/state/screens/why_score.h"
#include "app/state/view_state.h"
#include "core/analysis/effects/unit_words.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/checkpoint/run/block_trace.h"
#include "core/checkpoint/run/expert_at_token.h"
#include "core/trace/trace.h"

#include <memory>
#include <vector>

namespace headscope::app {

/// A document with the trace that belongs to it: what is on screen. Both are of the same revision. A document
/// that is long has no trace, and a large trace is let go before that of another layer is computed.
struct Shown {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace;
    std::vector<analysis::HeadMetrics> metrics; ///< of batch entry 0
    std::vector<CellAddress> largest = {};      ///< of B − A: the cell of each tensor that changed most
    /// Of a checkpoint: what the looked-at part of it computes around its attention; null while that is not
    /// known.
    checkpoint::BlockTracePtr block = {};
    std::shared_ptr<const checkpoint::StackLengths> lengths = {}; ///< likewise
    /// Inside a checkpoint's MLP: the words of the unit that is looked at; null while they are not known, and
    /// for models where they say nothing.
    std::shared_ptr<const analysis::UnitWords> unit_words = {};
    /// Of a layer with experts: the one that is looked at, at the token that is; null while that is not
    /// known.
    std::shared_ptr<const checkpoint::ExpertAtToken> expert = {};
    std::shared_ptr<const Effects> effects = {}; ///< of a checkpoint, while they are looked at and known
    std::shared_ptr<const EffectsLens> lens = {};
    std::shared_ptr<const EffectsSources> sources = {}; ///< of the same question; null while not asked
    std::shared_ptr<const EffectsSweep> sweep = {};     ///< as far as it has come; of the same question
    bool sweep_stopped = false;                         ///< by the user, before its end
    std::shared_ptr<const PatchingView> patching = {};  ///< while patches are looked at
    std::shared_ptr<const CircuitsView> circuits = {};  ///< while the weights alone are asked
    std::shared_ptr<const Atlas> atlas = {};            ///< while all heads are looked at
    std::shared_ptr<const WhyScore> why = {};           ///< of a checkpoint, while a score is taken apart
    std::shared_ptr<const LongMap> map = {};            ///< while the map of a head is looked at
    std::int64_t position = 0; ///< of a checkpoint: the token that is looked at until another one is chosen

    /// Whether there is something to look at.
    bool ready() const { return trace != nullptr || (document != nullptr && document->is_long()); }
    /// Whether the trace was let go for another one that is still to come.
    bool awaits() const { return document != nullptr && !ready(); }
    const Problem& problem() const { return document->problem; }
    const Dims& dims() const { return document->problem.dims; }
    /// A stage or an input; null where the problem has none (mask, gain and absent biases always). Of logits
    /// and probabilities one row alone, see BlockTrace.
    const Tensor* tensor(TensorId id) const;
    /// Whether the number is known: its tensor exists, and of logits and probabilities its row.
    bool holds(const CellAddress& cell) const;
    /// What keeps a tensor alive: other numbers have another holder.
    std::shared_ptr<const void> holder(TensorId id) const;
    /// One number, which is held.
    float value(const CellAddress& cell) const;
};

/// The attention that `view` shows the numbers around; layer -1: the ends of its stack. BlockTrace::place of
/// the block that belongs to the page, but that the ends of a decoder are those of its cross-attention too.
checkpoint::AttentionPlace block_looked_at(const ViewState& view);

/// The row of a stop around attention that is looked at: that of the selected number, else the one stepped
/// to, else `otherwise`.
std::int64_t row_around(const ViewState& view, std::int64_t otherwise);

/// The expert that a weight belongs to; nothing for other tensors.
std::optional<std::int64_t> expert_of(const CellAddress& cell);
/// The expert that is looked at in a layer whose shares are known: that of the weight that is selected or
/// dragged, else the one with the largest share in the row that is looked at.
std::int64_t expert_looked_at(const Shown& shown, const ViewState& view);

/// The unit that a number inside the MLP, or one of its weights, belongs to; nothing for other tensors.
std::optional<std::int64_t> unit_of(const CellAddress& cell);
/// The unit of the MLP that is looked at on a page inside the MLP, whose numbers are known: that of the
/// number that is selected or dragged, else the one with the largest number in the row that is looked at.
std::int64_t unit_looked_at(const Shown& shown, const ViewState& view);

} // namespace headscope::app
