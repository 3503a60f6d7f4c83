#include "app/session/checkpoint_work.h"

#include "app/session/project_view.h"
#include "app/state/screens/questions.h"
#include "core/checkpoint/model/patch_file.h"

#include <limits>

namespace headscope::app {

namespace {

/// Returns the part for the clean prompt if the run is patched.
const RunSpec& own_part(const RunSpec& part) {
    const PatchedRun* const patch = patched_run(part);
    return patch != nullptr ? *patch->clean : part;
}

std::vector<project::ActivationEdit> activations_of(const RunSpec& part) {
    std::vector<project::ActivationEdit> set;
    for (const auto& [n, edits] : part.edits)
        for (const checkpoint::PatchedRows& rows : edits.patched)
            if (rows.rows->count() == 1 && !rows.added)
                set.push_back({n, rows.at, rows.first, rows.column, rows.rows->data()[0]});
    return set;
}

} // namespace

project::CheckpointProject project_of(const SessionState& state, const std::vector<std::string>& steps,
                                      const std::string& path) {
    const RunSpec& part = own_part(*state.document->part());
    project::CheckpointProject project{.model = project::model_location(part.model->model->path(), path),
                                       .text = part.prompt,
                                       .text_pair = part.pair,
                                       .generated_count = part.written,
                                       .activations = activations_of(part),
                                       .questions = questions_text(state.model, part),
                                       .view = project_view_json(state.view, *state.document, steps)};
    if (part.two_texts()) {
        project.decoder_text = part.target;
        project.ids = part.inputs->source.front().ids;
        project.decoder_ids = part.inputs->ids;
    } else {
        project.ids = part.inputs->ids;
    }
    return project;
}

void save_work(const RunSpec& part, const project::CheckpointProject& project, const std::string& path) {
    const checkpoint::Model& model = *part.model->model;
    if (path.ends_with(".safetensors"))
        checkpoint::save_patch(model, part.edits, path, project.questions);
    else
        project::save_checkpoint_project(model, part.edits, project, path);
}

ModelTexts texts_of(const project::CheckpointProject& project) {
    ModelTexts texts{.prompt = project.text,
                     .ids = project.ids,
                     .target_ids = project.decoder_ids,
                     .written = project.generated_count,
                     .pair = project.text_pair};
    if (!project.decoder_ids.empty())
        texts.target = project.decoder_text;
    if (project.text.empty()) // a patch file, which may store its text with the questions
        if (const auto asked = read_questions(project.questions, std::numeric_limits<std::int64_t>::max())) {
            texts.prompt = asked->prompt;
            texts.pair = asked->pair;
            if (!asked->target.empty())
                texts.target = asked->target;
        }
    return texts;
}

bool same_work(const RunSpec& now, const RunSpec& saved) {
    if (&now == &saved) // called once per frame
        return true;
    const RunSpec &one = own_part(now), &other = own_part(saved);
    return one.model == other.model && one.prompt == other.prompt && one.pair == other.pair &&
           one.target == other.target && (one.inputs == other.inputs || *one.inputs == *other.inputs) &&
           activations_of(one) == activations_of(other) &&
           (holds_only_comparison(one) ||
            !first_difference(with_patches_of(now.edits, {}), with_patches_of(saved.edits, {})));
}

bool has_unsaved_edits(const RunSpec& now, const DocumentPtr& saved) {
    if (now.edits.empty() || holds_only_comparison(now))
        return false;
    return saved == nullptr || !saved->is_checkpoint() || saved->part()->model != now.model ||
           first_difference(now.edits, saved->part()->edits);
}

} // namespace headscope::app
