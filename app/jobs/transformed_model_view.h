#pragma once

#include "app/jobs/transformed_attention.h"
#include "app/state/model_document.h"
#include "app/state/view_state.h"

#include <cstdint>
#include <memory>

namespace headscope::checkpoint {
class SpelledRun;
} // namespace headscope::checkpoint

namespace headscope::app {

/// The view of a checkpoint whose weights are transformed or aggregated: on the grid of heads, and in the
/// weights view as a separate document next to the edited layer. The other stages of a layer stay as the
/// model computes them. For one thread.
class TransformedModelView {
public:
    /// Follows the newest run (null or of another checkpoint: none yet) of the checkpoint that `document`
    /// belongs to. `view` contains the current head, stage and reading options; updates its `possible`
    /// options and clamps its indices to the grid. Throws Error(input) if the options cannot be applied to
    /// the run; then resets the options in `view` to the previous ones and follows those.
    void follow(const checkpoint::ModelRunPtr& run, const Document& document, ViewState& view);

    /// If a stage other than the weights is requested for a mean, which has none, opens the nearest real
    /// head.
    void leave_mean(ViewState& view) const;

    void clear();

    /// The document with `attention` and `model`; null while the layer's own stages are shown.
    const DocumentPtr& document() const { return document_; }
    /// The heads of the grid: the run, or its transformed weights with their means; null without a run.
    const AttentionSetPtr& set() const { return set_; }

private:
    void show(const AttentionSetPtr& read, const Document& document, ViewState& view);

    TransformedAttention read_;
    std::shared_ptr<const checkpoint::SpelledRun> spelled_; ///< of the newest run
    AttentionSetPtr set_;
    DocumentPtr document_;
    std::uint64_t shown_count_ = 0;
};

} // namespace headscope::app
