#include "app/cli/diff/scene_model.h"

#include "app/cli/window_scene.h"
#include "core/analysis/checkpoints/checkpoint_comparison.h"
#include "core/checkpoint/model/adapter_edits.h"
#include "core/checkpoint/model/model_memory.h"

#include <utility>

namespace headscope::cli {

SceneModel open_scene_model(const SceneOptions& options, Progress& progress) {
    SceneModel opened;
    if (options.patch || options.compare) { // a project has the base's edits of its own
        opened.text = checkpoint::open_text_model(options.compare ? *options.compare : *options.model);
    } else {
        checkpoint::EditedCheckpoint edited = checkpoint::open_edited(*options.model);
        opened.text = std::move(edited.text);
        opened.edits = std::move(edited.edits);
    }
    checkpoint::require_room_for(*opened.text->model);
    if (options.compare) {
        opened.compared = std::make_shared<const analysis::CheckpointComparison>(
            analysis::compare_checkpoints(opened.text, *options.model, progress));
        opened.edits = opened.compared->edits;
    }
    return opened;
}

app::OpenedModel with_comparison(app::OpenedModel opened,
                                 const std::shared_ptr<const analysis::CheckpointComparison>& compared) {
    if (compared == nullptr)
        return opened;
    auto part = std::make_shared<app::RunSpec>(*opened.part);
    part->compared = compared;
    opened.part = std::move(part);
    return opened;
}

} // namespace headscope::cli
