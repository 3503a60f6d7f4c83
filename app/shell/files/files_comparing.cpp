#include "app/shell/files/files.h"

#include "app/state/screens/screen.h"
#include "core/analysis/checkpoints/checkpoint_comparison.h"
#include "core/base/message.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"

namespace headscope::app {

namespace {

/// Shows the attention weights of the layer that changed most, unless another screen is open.
void show_largest_change(Workspace& workspace, const AppState& state, const RunSpec& part) {
    if (screen_of(state.shown, state.view) != Screen::stages)
        return;
    for (const analysis::ChangedTensor& one : part.compared->changed)
        if (one.parameter)
            return workspace.change_view(ShowTensor{
                TensorId::weights, checkpoint::attention_place(part.config(), one.parameter->attention)});
}

} // namespace

void Files::open_compared(const std::string& path, const ModelTexts& texts, const std::string& other) {
    open_path(path, texts);
    compared_next_ = other; // the checkpoint is opened by a worker
}

void Files::compare_with(const std::string& named) {
    if (!workspace_.own().document->is_checkpoint())
        return failed(tr("files_comparing.no_checkpoint",
                         "Two checkpoints can be compared: open the first one, then choose the second."));
    if (job_.busy())
        return;
    if (files_.unsaved_edits)
        return failed(
            tr("files.compare_replaces_edits",
               "The changes of the other checkpoint would replace your edits; save or undo them first"));
    std::string path;
    try {
        path = checkpoint::model_folder(named);
    } catch (const Error& fault) {
        return failed(fault.what());
    }
    setup_.leave_lesson();
    if (state_.model.unedited == nullptr)
        return failed(tr("checkpoint_session.opened_nothing",
                         "{} is still loading. Try again when it appears.", state_.document->title));
    const RunSpecPtr part = state_.document->part();
    // Translators: {} is the name of a checkpoint
    job_.start(
        tr("files_comparing.comparing", "Comparing with {}", checkpoint::checkpoint_name(path)), true,
        [this, path, part, run = state_.model.unedited](Progress& progress) -> FileJob::Done {
            auto edited = std::make_shared<RunSpec>(*part);
            auto compared = std::make_shared<const analysis::CheckpointComparison>(
                analysis::compare_checkpoints(part->model, path, progress));
            edited->edits = compared->edits;
            edited->marks = marks_of(*run, edited->edits);
            edited->compared = std::move(compared);
            return [this, path, edited] {
                const analysis::CheckpointComparison& with = *edited->compared;
                files_.chooser.reset();
                workspace_.show_edits(*edited, tr("files_comparing.step", "compare with {}", with.name));
                setup_.compare_with_unedited(edited->model->name());
                remember(path);
                document_changed();
                state_.view.tab = LeftTab::edit;
                show_largest_change(workspace_, state_, *edited);
                say(with.note.empty() ? tr_n("files_comparing.compared", "B is {}: {} tensor differs from A",
                                             "B is {}: {} tensors differ from A", std::ssize(with.changed),
                                             with.name, with.changed.size())
                                      : with.note);
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

} // namespace headscope::app
