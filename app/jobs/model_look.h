#pragma once

#include "app/jobs/read_attention.h"
#include "app/state/attention_view.h"
#include "app/state/model_document.h"

#include <cstdint>
#include <memory>

namespace headscope {

class SpelledRun;

/// What is shown of a checkpoint while its weights are read otherwise than the model gives them: the weights
/// alone, as a document of their own beside the layer that is edited. For one thread.
class ModelLook {
public:
    /// Follows the newest run (null: none yet) of the checkpoint that `document` is a layer of. `view` says
    /// which layer and how it is wanted; `possible` in it follows. Means are not offered: what is edited are
    /// single heads. Throws Error(input) when the run cannot be read so; then `view.reading` is what can be,
    /// and that is followed.
    void follow(const ModelRunPtr& run, const Document& document, AttentionView& view);

    void clear();

    /// With `attention` and `model`; null while the layer's own stages are to be shown.
    const DocumentPtr& document() const { return document_; }
    /// The heads of the board: the run, or as it is read; null without a run.
    const AttentionSetPtr& set() const { return set_; }

private:
    ReadAttention read_;
    std::shared_ptr<const SpelledRun> spelled_; ///< of the newest run
    AttentionSetPtr set_;
    DocumentPtr document_;
    std::uint64_t looks_ = 0;
};

} // namespace headscope
