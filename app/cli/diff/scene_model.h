#pragma once

#include "app/jobs/model_runner.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/text_model.h"

#include <memory>

namespace headscope::analysis {
struct CheckpointComparison;
} // namespace headscope::analysis

namespace headscope::cli {

struct SceneOptions;

/// The checkpoint of a picture.
struct SceneModel {
    checkpoint::TextModelPtr text; ///< with --compare that of A
    checkpoint::ModelEdits edits;
    std::shared_ptr<const analysis::CheckpointComparison> compared; ///< null without --compare
};

/// Opens the checkpoint of --model: of a LoRA adapter its base with the adapter as edits, with --compare A
/// with the edits that turn it into --model. The edits of --patch are not read. Throws what open_edited and
/// compare_checkpoints throw, and MemoryShortage.
SceneModel open_scene_model(const SceneOptions& options, Progress& progress);

/// Returns the opened checkpoint as one that was compared with another; `compared` may be null.
app::OpenedModel with_comparison(app::OpenedModel opened,
                                 const std::shared_ptr<const analysis::CheckpointComparison>& compared);

} // namespace headscope::cli
