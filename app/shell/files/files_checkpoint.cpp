#include "app/shell/files/files.h"

#include "app/session/checkpoint_work.h"
#include "app/shell/files/file_choosers.h"
#include "app/state/screens/questions.h"
#include "core/base/message.h"
#include "core/checkpoint/files/adapter.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/patch_identity.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

// Seconds between two writes of unsaved edits, and after a failed write.
constexpr double keep_gap = 0.5, retry_gap = 5;

/// Returns the file name of kept edits of a checkpoint, up to the id of the program that keeps them.
std::string kept_prefix(std::string model) {
    std::ranges::replace(model, '/', '-');
    return std::string(unsaved_prefix) + model + "-";
}

/// Returns true if a file name belongs to kept edits of the model. The rest must be numbers, so that the
/// edits of gpt2-xl are not mistaken for those of gpt2.
bool keeps_edits_of(const fs::path& file, const std::string& model) {
    const std::string name = file.filename().string(), prefix = kept_prefix(model);
    if (!name.starts_with(prefix) || !name.ends_with(patch_suffix))
        return false;
    const auto rest =
        std::string_view(name).substr(prefix.size()).substr(0, name.find(patch_suffix) - prefix.size());
    return rest.find_first_not_of("0123456789-") == std::string_view::npos &&
           std::ranges::count(rest, '-') <= 1;
}

/// Returns true if a patch fits the open checkpoint according to config.json.
bool fits(const std::string& patch, const Document& document) {
    if (!document.is_checkpoint())
        return false;
    try {
        return project::matches_model({{}, format::Safetensors::open_lazily(patch)},
                                      document.part()->model->model->path());
    } catch (const Error&) {
        return true; // opening it reports the error
    }
}

/// Paths of the checkpoints in the Hugging Face cache.
std::vector<std::string> cached_paths() {
    std::vector<std::string> paths;
    for (const OfferedModel& model : cached_models())
        paths.push_back(model.path);
    return paths;
}

/// Restores the questions and the text that they refer to.
void ask_again(Workspace& workspace, SessionState& state, const Questions& asked) {
    const RunSpecPtr part = state.document->part();
    if (!asked.prompt.empty() && asked.prompt != part->prompt)
        workspace.session().act(TypePrompt{asked.prompt});
    if (!asked.prompt.empty() && asked.pair != part->pair)
        workspace.session().act(TypePair{asked.pair});
    if (part->two_texts() && !asked.target.empty() && asked.target != part->target)
        workspace.session().act(TypeTarget{asked.target});
    restore_questions(state.model, asked);
    workspace.session().follow();
}

} // namespace

void Files::load_checkpoint(const std::string& folder, const ModelTexts& texts) {
    const std::string name = checkpoint::checkpoint_name(folder);
    job_.start(
        tr("common.opening", "Opening {}", name), true,
        [this, folder, texts, name](Progress& progress) -> FileJob::Done {
            if (checkpoint::is_adapter(folder) && !checkpoint::find_adapter_base(folder))
                return [this, folder, texts,
                        sentence = checkpoint::missing_base_sentence(
                            folder, tr("files_checkpoint.choose_base", "choose the folder of that model"))] {
                    texts_of_adapter_ = texts;
                    ask_for_model(folder, sentence + ".");
                };
            return [this, folder, name, opened = open_model(folder, texts, 0, progress)] {
                setup_.leave_lesson();
                files_.chooser.reset();
                files_.path.clear();
                workspace_.open(opened); // a newly opened checkpoint has no unsaved work
                remember(folder);
                if (const std::string left_out =
                        left_out_sentence(state_.document->part()->model->model->report().other_parts);
                    !left_out.empty())
                    say(left_out);
                if (!opened.note.empty())
                    say(opened.note);
                look_for_kept_edits(name);
                if (const std::string other = std::exchange(compared_next_, {}); !other.empty())
                    compare_with(other);
            };
        },
        [this](const std::string& sentence) {
            compared_next_.clear();
            failed(sentence);
        });
}

void Files::cancel_job() {
    next_.reset();
    compared_next_.clear();
    if (job_.busy() && job_.blocking())
        cancelled_ = job_.label();
    job_.cancel();
}

void Files::say_cancelled() {
    // Translators: {} is "Opening …" or "Recovering …"
    if (const std::string label = std::exchange(cancelled_, {}); !label.empty())
        say(tr("files_checkpoint.cancelled_everything", "{} was cancelled; everything is as it was before",
               label));
}

void Files::load_edits(const std::string& path, bool recovered) {
    if (!fits(path, *workspace_.own().document))
        return load_work(path, {}, nullptr);
    setup_.leave_lesson();
    const RunSpecPtr part = state_.document->part();
    job_.start(
        tr("common.opening", "Opening {}", file_name(path)), true,
        [this, path, part, recovered, run = state_.model.run](Progress&) -> FileJob::Done {
            auto edited = std::make_shared<RunSpec>(*part);
            edited->edits = checkpoint::load_patch(*part->model->model, path);
            edited->marks = marks_of(*run, edited->edits);
            const auto questions = read_questions(checkpoint::patch_questions(path), part->config().vocab);
            return [this, path, recovered, edited, questions] {
                files_.chooser.reset();
                workspace_.show_edits(*edited, recovered
                                                   ? tr("files_checkpoint.recover_edits", "recover edits")
                                                   : tr("files_checkpoint.open", "open {}", file_name(path)));
                if (questions)
                    ask_again(workspace_, state_, *questions);
                came_recovered(path, recovered);
            };
        },
        [this, path, recovered](const std::string& sentence) { not_recovered(path, recovered, sentence); });
}

void Files::came_recovered(const std::string& path, bool recovered) {
    if (recovered) {
        leave(path);
        recovered_edits_ = path; // deleted when this run has kept its content
    } else {
        files_.path = path;
        path_of_checkpoint_ = true;
        workspace_.mark_saved(state_.document);
        remember(path);
    }
    document_changed();
    say(recovered ? tr("common.recovered_save_keep", "Recovered. Save it to keep it")
                  : tr("files_checkpoint.opened", "Opened {}", file_name(path)));
}

void Files::not_recovered(const std::string& path, bool recovered, const std::string& sentence) {
    for (RecoveryOffer& offer : files_.recoveries)
        if (offer.path == path)
            offer.error = sentence;
    if (!recovered)
        failed(sentence);
}

void Files::load_work(const std::string& path, const std::string& model, const Recovery* recovered) {
    const std::string own_path = recovered != nullptr ? recovered->project_path : path;
    job_.start(
        tr("common.opening", "Opening {}", file_name(path)), true,
        [this, path, model, own_path, again = recovered != nullptr,
         recent = files_.recent](Progress& progress) -> FileJob::Done {
            const project::OpenedCheckpointProject work = project::open_checkpoint_project(path);
            const auto ask = [&](const std::string& sentence) -> FileJob::Done {
                if (again) // the dialog that asked is open and shows the error
                    fail_input(sentence);
                return [this, path, sentence] { ask_for_model(path, sentence); };
            };
            std::optional<std::string> place = model.empty() ? project::find_model(work, own_path, recent)
                                                             : std::optional(checkpoint::model_folder(model));
            if (!place)
                place = project::find_model(work, own_path, cached_paths());
            if (!place)
                return ask(project::missing_model_message(work.project, own_path));
            const checkpoint::TextModelPtr text = checkpoint::open_text_model(*place);
            try {
                checkpoint::check_identity(checkpoint::read_patch_header(work.file).made_for, *text->model,
                                           path);
            } catch (const Error& other) {
                return ask(other.what());
            }
            const checkpoint::ModelEdits edits = project::edits_of_project(*text->model, work);
            const auto questions = read_questions(work.project.questions, text->model->config().vocab);
            const OpenedModel opened = open_model(text, texts_of(work.project), 0, edits, progress);
            return [this, path, own_path, again, opened, questions, view = work.project.view] {
                setup_.leave_lesson();
                files_.chooser.reset();
                wants_model_.clear();
                files_.path = own_path;
                path_of_checkpoint_ = true;
                workspace_.open(opened, !again, view);
                if (questions)
                    ask_again(workspace_, state_, *questions);
                workspace_.session().follow();
                came_recovered(path, again);
            };
        },
        [this, path, again = recovered != nullptr](const std::string& sentence) {
            not_recovered(path, again, sentence);
        });
}

void Files::ask_for_model(const std::string& path, const std::string& sentence) {
    wants_model_ = path;
    files_.chooser.emplace(make_chooser(PathPurpose::find_model, state_, last_folder_));
    models_for_ = std::make_shared<const int>();
    offer_models();
    files_.chooser->chooser.fail(checkpoint::is_adapter(path)
                                     ? sentence
                                     : tr("files_checkpoint.choose_folder_model",
                                          "{}. Choose the folder of the model, or its GGUF file.", sentence));
}

void Files::model_chosen(const std::string& model) {
    if (!checkpoint::is_adapter(wants_model_))
        return load_work(wants_model_, model, nullptr);
    checkpoint::set_adapter_base(checkpoint::model_folder(model), wants_model_);
    load_checkpoint(wants_model_, texts_of_adapter_);
}

bool Files::edits_to_keep() const {
    return autosave_ && of_checkpoint() && files_.unsaved &&
           (kept_part_ == nullptr || !same_work(*workspace_.own().document->part(), *kept_part_));
}

void Files::keep_edits() {
    keeper_.poll();
    if (!edits_to_keep() || keeper_.busy() || now_ < kept_at_ + keep_gap)
        return;
    kept_at_ = now_;
    const RunSpecPtr part = workspace_.own().document->part();
    project::CheckpointProject project = project_of(workspace_.own(), {}, files_.path);
    project.metadata = autosave_metadata(files_.path);
    keeper_.start(
        "", false,
        [this, part, file = kept_file_, project = std::move(project)](Progress&) mutable -> FileJob::Done {
            if (file == nullptr)
                file = std::make_shared<const KeptFile>(
                    KeptFile::create(setup_.state_folder, std::string(autosave_prefix), project_suffix));
            save_work(*part, project, file->path().string());
            return [this, part, file] {
                kept_file_ = file;
                kept_part_ = part;
                drop_recovered_edits();
                if (!files_.unsaved || !of_checkpoint())
                    forget_edits();
            };
        },
        [this](const std::string& sentence) {
            kept_at_ = now_ + retry_gap;
            files_.save_error =
                tr("common.edits_not_kept_safe", "Your edits are not autosaved: {}.", sentence);
            state_.error = files_.save_error;
        });
}

void Files::drop_recovered_edits() {
    if (!recovered_edits_.empty())
        discard_recovery({.file = recovered_edits_});
    recovered_edits_.clear();
}

void Files::forget_edits() {
    kept_part_ = nullptr;
    std::error_code ignored;
    if (kept_file_ != nullptr)
        fs::remove(kept_file_->path(), ignored);
    kept_file_.reset();
}

void Files::look_for_kept_edits(const std::string& model) {
    if (setup_.state_folder.empty())
        return;
    std::error_code fault;
    for (fs::directory_iterator at(setup_.state_folder, fault), end; !fault && at != end;
         at.increment(fault)) {
        const std::string path = at->path().string();
        if (!keeps_edits_of(at->path(), model) || is_locked(lock_of(at->path())))
            continue;
        const bool known =
            std::ranges::any_of(recoveries_, [&](const Recovery& one) { return one.file.string() == path; });
        if (known)
            continue;
        const auto written = fs::last_write_time(at->path(), fault);
        const std::time_t when =
            fault ? 0 : std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(written));
        fault.clear();
        recoveries_.push_back({.file = at->path(), .title = model, .edited_at = when});
        files_.recoveries.push_back({path,
                                     tr("files_checkpoint.edits", "Edits of {}", model),
                                     tr("files_checkpoint.not_saved_patch", "Not saved as a patch"),
                                     date_text(when, std::time(nullptr)),
                                     {}});
    }
}

} // namespace headscope::app
