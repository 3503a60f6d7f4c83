#pragma once

#include "app/jobs/read_attention.h"
#include "app/state/model_document.h"
#include "app/state/view_state.h"

#include <cstdint>
#include <memory>

namespace headscope::checkpoint {
class SpelledRun;
} // namespace headscope::checkpoint

namespace headscope::app {

/// What is shown of a checkpoint where its weights are read otherwise than the model gives them: on the
/// board, and on the page of the weights a document of its own beside the layer that is edited. The other
/// stages of a layer are the model's, and stay. For one thread.
class ModelLook {
public:
    /// Follows the newest run (null or of another checkpoint: none yet) of the checkpoint that `document` is
    /// a layer of. `view` says which head and stage are looked at and how; `possible` in it follows, and what
    /// lies beyond the board comes back onto it. Throws Error(input) when the run cannot be read so; then the
    /// reading in `view` is what can be, and that is followed.
    void follow(const checkpoint::ModelRunPtr& run, const Document& document, ViewState& view);

    /// Where a stage other than the weights is wanted of a mean, which has none, the head beside it is
    /// opened instead.
    void leave_mean(ViewState& view) const;

    void clear();

    /// With `attention` and `model`; null while the layer's own stages are to be shown.
    const DocumentPtr& document() const { return document_; }
    /// The heads of the board: the run, or as it is read, with its means; null without a run.
    const AttentionSetPtr& set() const { return set_; }

private:
    void look(const AttentionSetPtr& read, const Document& document, ViewState& view);

    ReadAttention read_;
    std::shared_ptr<const checkpoint::SpelledRun> spelled_; ///< of the newest run
    AttentionSetPtr set_;
    DocumentPtr document_;
    std::uint64_t looks_ = 0;
};

} // namespace headscope::app
