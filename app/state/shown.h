#pragma once

#include "app/state/document.h"
#include "app/state/screens/atlas.h"
#include "app/state/screens/causes.h"
#include "app/state/screens/circuits.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/long_map.h"
#include "app/state/screens/model_flow.h"
#include "app/state/screens/patching_map.h"
#include "app/state/screens/why_score.h"
#include "app/state/view_state.h"
#include "core/analysis/checkpoints/head_change.h"
#include "core/analysis/effects/unit_words.h"
#include "core/analysis/heads/head_metrics.h"
#include "core/checkpoint/run/expert_run.h"
#include "core/checkpoint/run/run_part.h"
#include "core/trace/trace.h"

#include <memory>
#include <vector>

namespace headscope::app {

/// The content of the screen: a document with its trace. Both have the same revision. A long document has no
/// trace. A large trace is released before the trace of another layer is computed.
struct Shown {
    DocumentPtr document;
    std::shared_ptr<const Trace> trace;
    std::vector<analysis::HeadMetrics> metrics; ///< for batch entry 0
    std::vector<CellAddress> largest = {};      ///< for B − A: the cell of each tensor that changed most
    /// For a checkpoint: the values around the attention in the visible part of the model; null while they
    /// are not known.
    checkpoint::RunPartPtr block = {};
    std::shared_ptr<const checkpoint::StackLengths> lengths = {}; ///< likewise
    /// Inside a checkpoint's MLP: the words that the current unit raises and lowers; null while they are not
    /// known, and for models where they have no meaning.
    std::shared_ptr<const analysis::UnitWords> unit_words = {};
    /// For a layer with experts: the current expert, and the current token; null while that is not known.
    std::shared_ptr<const checkpoint::ExpertRun> expert = {};
    std::shared_ptr<const Effects> effects = {}; ///< for a checkpoint, on the effects screen, once known
    std::shared_ptr<const EffectsLens> lens = {};
    std::shared_ptr<const EffectsSources> sources = {}; ///< for the same question; null unless requested
    std::shared_ptr<const EffectsSweep> sweep = {};     ///< partial results for the same question
    bool sweep_stopped = false;                         ///< by the user, before it was complete
    std::shared_ptr<const PatchingView> patching = {};  ///< on the patching screen
    std::shared_ptr<const CircuitsView> circuits = {};  ///< on the circuits screen
    std::shared_ptr<const Atlas> atlas = {};            ///< on the atlas screen
    /// For a checkpoint that was compared with another one: the changes of all heads between the run without
    /// edits and the newest run; null while they are not known.
    std::shared_ptr<const std::vector<analysis::HeadChange>> head_changes = {};
    std::shared_ptr<const WhyScore> why = {}; ///< for a checkpoint, on the why screen
    /// For a checkpoint, the reasons for the prediction, while they are asked for; null until they are known.
    std::shared_ptr<const CausesView> causes = {};
    std::shared_ptr<const FlowGuesses> flow_guesses = {}; ///< for a checkpoint, on the Flow
    std::shared_ptr<const FlowLayer> flow_layer = {};     ///< likewise, of the open layer
    std::shared_ptr<const LongMap> map = {};              ///< on the map screen
    std::int64_t position = 0; ///< for a checkpoint: the current token until the user chooses another

    /// Returns true if there is something to show.
    bool ready() const { return trace != nullptr || (document != nullptr && document->is_long()); }
    /// Returns true if the trace was released and the next one is pending.
    bool is_pending() const { return document != nullptr && !ready(); }
    const Problem& problem() const { return document->problem; }
    const Dims& dims() const { return document->problem.dims; }
    const AttentionGraph& attention() const { return document->attention(); }
    /// Returns a stage or an input; null if the problem does not have it (always for mask, head gain and
    /// absent biases). Logits and probabilities have only one row, see RunPart.
    const Tensor* tensor(TensorId id) const;
    /// Returns true if the number is known: its tensor exists and, for logits and probabilities, has its row.
    bool is_known(const CellAddress& cell) const;
    /// Returns the owner of a tensor's memory. Other numbers have another owner.
    std::shared_ptr<const void> owner(TensorId id) const;
    /// Returns one number; is_known(cell) must be true.
    float value(const CellAddress& cell) const;
};

/// Returns the attention around which `view` shows numbers; layer -1: before and after the layers of its
/// stack. Equals RunPart::place of the block for the view, except that the cross-attention of a decoder
/// shares that block with the decoder's own stack.
checkpoint::AttentionPlace current_block_place(const ViewState& view);

/// Returns the current row at a step around attention: the row of the selected number, else the row that is
/// stepped through, else `otherwise`.
std::int64_t current_row(const ViewState& view, std::int64_t otherwise);

/// Returns the expert that a weight or a fraction belongs to; nothing for other tensors.
std::optional<std::int64_t> expert_of(const CellAddress& cell);
/// Returns the current expert in a layer whose router output is known: that of the selected or dragged
/// weight or fraction, else the one with the largest absolute router value in the current row.
std::int64_t current_expert(const Shown& shown, const ViewState& view);

/// Returns the unit that a number inside the MLP, or one of its weights, belongs to; nothing for other
/// tensors.
std::optional<std::int64_t> unit_of(const CellAddress& cell);
/// Returns the current unit at a step inside the MLP whose numbers are known: that of the selected or dragged
/// number, else the one with the largest absolute value in the current row.
std::int64_t current_unit(const Shown& shown, const ViewState& view);

} // namespace headscope::app
