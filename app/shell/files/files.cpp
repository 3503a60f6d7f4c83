#include "app/shell/files/files.h"

#include "app/session/checkpoint_work.h"
#include "app/shell/files/file_choosers.h"
#include "app/state/files/opened_path.h"
#include "app/state/files/recent_files.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/checkpoint/files/other_files.h"
#include "core/checkpoint/files/packaged_models.h"

#include <imgui.h>

#include <algorithm>
#include <ctime>

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

constexpr double notice_seconds = 4, long_notice_seconds = 12;

} // namespace

std::string file_name(const std::string& path) {
    return fs::path(path).filename().string();
}

Files::Files(AppState& state, Workspace& workspace, FilesSetup setup)
    : state_(state), files_(state.files), workspace_(workspace), setup_(std::move(setup)),
      models_(setup_.wake), preview_(setup_.wake), keeper_(setup_.wake), job_(setup_.wake) {
    files_.packaged = checkpoint::packaged_models();
    if (setup_.state_folder.empty())
        return;
    files_.recent = read_recent_files(recent_list());
    look_for_recoveries();
    autosave_.emplace(setup_.state_folder, setup_.wake);
}

void Files::act(const FileCommand& command) {
    state_.error.clear();
    workspace_.session().check(command);
    std::visit(Overloaded{[&](const NewProject& step) { ask_first(step); },
                          [&](const QuitProgram& step) { ask_first(step); },
                          [&](const OpenPath& open) { open_path(open.path); },
                          [&](const ChooseProject&) { choose(PathPurpose::open); },
                          [&](const ChooseComparison&) { choose(PathPurpose::compare); },
                          [&](const CompareWithCheckpoint& with) { compare_with(with.path); },
                          [&](const SaveProject&) { save(); },
                          [&](const SaveProjectAs&) { choose(PathPurpose::save_project); },
                          [&](const ExportPicture&) { choose(PathPurpose::picture); },
                          [&](const ExportNumbers&) { choose(PathPurpose::numbers); },
                          [&](const ExportScript&) { choose(PathPurpose::script); },
                          [&](const RecordFilm&) { choose(PathPurpose::film); },
                          [&](const CopyPicture&) { copy_picture(); },
                          [&](const CopyRenderCommand&) { copy_render_command(); },
                          [&](const CopyStage&) { copy(copy_stage); },
                          [&](const CopyMatrix&) { copy(copy_matrix); },
                          [&](const CopyScript&) { copy(copy_script); },
                          [&](const CopyLessonStep&) { write_lesson_step(false); },
                          [&](const AppendLessonStep&) { write_lesson_step(true); },
                          [&](const ChooseSentences&) { choose(PathPurpose::sentences); },
                          [&](const OpenSentences& open) { open_sentences(open.path); },
                          [&](const StepSentence& step) { show_sentence(state_.view.sentence + step.by); },
                          [&](const DropSentences&) {
                              state_.view.sentences = nullptr;
                              state_.view.sentence = -1;
                          },
                          [&](const ChooseAttention&) { choose_attention(); },
                          [&](const SelectAttention& what) {
                              if (files_.attention && files_.attention->options->find(what.part) != nullptr) {
                                  files_.attention->part = what.part;
                                  files_.attention->text = std::clamp<std::int64_t>(
                                      what.text, 0, files_.attention->selected().texts - 1);
                              }
                          },
                          [&](const AnswerAttention& given) { answer_attention(given.open); },
                          [&](const ChoosePrompts&) { choose(PathPurpose::prompts); },
                          [&](const CopyFarWeights&) { copy(copy_far_weights); },
                          [&](const ChosenPath& path) { chosen(path.path); },
                          [&](const CloseChooser&) {
                              files_.chooser.reset();
                              wants_model_.clear();
                              next_.reset();
                              compared_next_.clear();
                          },
                          [&](const AnswerUnsaved& given) { answer(given.answer); },
                          [&](const AnswerDamaged& given) {
                              files_.damaged.reset();
                              if (given.open && remains_)
                                  put_in_place(std::move(*remains_), false);
                              remains_.reset();
                          },
                          [&](const RecoverProject& what) { ask_first(Recover{recovery(what.path)}); },
                          [&](const DiscardRecovery& what) { discard(what.path); },
                          [&](const LeaveRecovery& what) { leave(what.path); },
                          [&](const CancelJob&) { cancel_job(); },
                          [&](const ForgetRecent&) {
                              files_.recent.clear();
                              forget_recent_files(setup_.state_folder.empty() ? fs::path() : recent_list());
                          }},
               command);
}

void Files::open_path(const std::string& path, const ModelTexts& texts) {
    if (files_.question || files_.damaged)
        return; // answer the open question first
    compared_next_.clear();
    ask_first(Open{path, texts});
}

void Files::ask_first(Step step) {
    if (job_.busy()) {
        waiting_ = std::move(step);
        return;
    }
    if (!files_.unsaved || !replaces(step))
        return do_step(step);
    files_.question = UnsavedQuestion{files_.path.empty() ? "" : files_.name(), loss_by(step)};
    next_ = std::move(step);
}

std::string Files::loss_by(const Step& step) const {
    const bool named = !files_.path.empty();
    return std::visit(
        Overloaded{[&](const NewProject&) {
                       return named ? tr("files.changed_since_last_saved",
                                         "Starting over will discard the changes since the last save.")
                                    : tr("files.changed_would_lost_beginning",
                                         "Starting over will discard your changes.");
                   },
                   [&](const QuitProgram&) {
                       return named ? tr("files.changed_since_last_saved_2",
                                         "Quitting will discard the changes since the last save.")
                                    : tr("files.changed_would_lost_quitting",
                                         "Quitting will discard your changes.");
                   },
                   [&](const Open& open) {
                       const std::string name = file_name(open.path);
                       return named ? tr("files.changed_since_last_saved_3",
                                         "Opening {} will discard the changes since the last save.", name)
                                    : tr("files.changed_would_lost_opening",
                                         "Opening {} will discard your changes.", name);
                   },
                   [&](const Recover&) {
                       return named
                                  ? tr("files.changed_since_last_saved_4",
                                       "Recovering other work will discard the changes since the last save.")
                                  : tr("files.changed_would_lost_recovering",
                                       "Recovering other work will discard your changes.");
                   }},
        step);
}

bool Files::replaces(const Step& step) const {
    const Open* const open = std::get_if<Open>(&step);
    if (open == nullptr)
        return true;
    const PathKind kind = kind_of_path(open->path);
    if (kind == PathKind::unknown && is_prompt_file(*state_.document, open->path))
        return false;
    return kind != PathKind::lesson && kind != PathKind::survey;
}

void Files::answer(UnsavedAnswer answer) {
    files_.question.reset();
    if (answer == UnsavedAnswer::cancel) {
        compared_next_.clear();
        return next_.reset();
    }
    if (answer == UnsavedAnswer::save) {
        setup_.leave_lesson(); // the user's project is saved, not the lesson
        return save();
    }
    if (const auto step = std::exchange(next_, std::nullopt))
        do_step(*step);
}

void Files::open_now(const Open& open) {
    files_.attention.reset(); // another file makes its question meaningless
    std::string path;
    try {
        path = checkpoint::model_folder(open.path);
    } catch (const Error& fault) {
        return failed(fault.what());
    }
    switch (kind_of_path(path)) {
    case PathKind::project:
        return is_checkpoint_work(path) ? load_work(path, {}, nullptr) : load_project(path);
    case PathKind::problem:
        return load_problem(path);
    case PathKind::tensors:
        return load_attention(path);
    case PathKind::patch:
        return load_edits(path, false);
    case PathKind::survey:
        return open_survey(path);
    case PathKind::checkpoint:
        return load_checkpoint(path, open.texts);
    case PathKind::lesson:
        return show_lesson(path);
    case PathKind::unknown:
        return is_prompt_file(*state_.document, path) ? open_prompts(path) : cannot_open(path);
    case PathKind::folder:
        return cannot_open(path);
    }
}

void Files::do_step(const Step& step) {
    std::visit(Overloaded{[&](const NewProject& anew) {
                              setup_.leave_lesson();
                              files_.chooser.reset();
                              files_.attention.reset();
                              files_.path.clear();
                              workspace_.show_initial();
                              if (anew.to_course)
                                  state_.view.tab = LeftTab::course;
                          },
                          [&](const QuitProgram&) {
                              quitting_ = true;
                              keeper_.wait();
                              forget_edits();
                              if (autosave_)
                                  autosave_->forget();
                          },
                          [&](const Open& open) { open_now(open); },
                          [&](const Recover& what) { recover(what.recovery); }},
               step);
}

void Files::open_survey(const std::string& path) {
    if (!state_.document->is_checkpoint())
        return failed(
            tr("files.survey_checkpoints_heads_open",
               "{} is a survey of a checkpoint's heads: open the checkpoint first, then the survey.",
               file_name(path)));
    files_.chooser.reset();
    workspace_.session().act(OpenSurvey{path});
}

void Files::show_lesson(const std::string& path) {
    try {
        setup_.show_lesson(path);
        files_.chooser.reset();
        remember(path);
    } catch (const Error& fault) {
        failed(fault.what());
    }
}

void Files::cannot_open(const std::string& path) {
    std::error_code none;
    if (fs::exists(path, none))
        return failed(checkpoint::other_path_sentence(path) + ".");
    if (!setup_.state_folder.empty()) {
        remove_recent_file(recent_list(), path);
        files_.recent = read_recent_files(recent_list());
    }
    failed(tr("files.no_file_any_more", "The file {} no longer exists; choose another.", path));
}

fs::path Files::recent_list() const {
    return setup_.state_folder / "recent.json";
}

void Files::recover(const Recovery& recovery) {
    if (kind_of_path(recovery.file.string()) == PathKind::patch)
        return load_edits(recovery.file.string(), true);
    if (is_checkpoint_work(recovery.file.string()))
        return load_work(recovery.file.string(), {}, &recovery);
    const std::uint64_t revision = state_.document->revision + 1;
    job_.start(
        tr("files.recovering", "Recovering {}", recovery.title), true,
        [this, recovery, revision](Progress&) -> FileJob::Done {
            project::OpenedProject opened = load_recovery(recovery);
            LoadedDocument loaded{make_document(opened.recipe, revision), recovery.project_path,
                                  std::move(opened.view), std::move(opened.notes)};
            return [this, recovery, loaded = std::move(loaded)] {
                put_in_place(loaded, false);
                leave(recovery.file.string());
                // Delete the file of the dead run only after this run has kept its content.
                if (autosave_)
                    autosave_->flush();
                if (autosave_ && autosave_->saved())
                    discard_recovery(recovery);
                if (loaded.notes.empty())
                    say(tr("common.recovered_save_keep", "Recovered. Save it to keep it"));
            };
        },
        [this, file = recovery.file.string()](const std::string& sentence) {
            for (RecoveryOffer& offer : files_.recoveries)
                if (offer.path == file)
                    offer.error = sentence;
        });
}

void Files::put_in_place(LoadedDocument loaded, bool counts_as_saved) {
    setup_.leave_lesson();
    files_.chooser.reset();
    files_.path = loaded.path;
    path_of_checkpoint_ = false;
    workspace_.show(loaded.document, counts_as_saved, loaded.view);
    if (counts_as_saved && !loaded.path.empty())
        remember(loaded.path);
    if (!loaded.notes.empty()) {
        say(joined(loaded.notes, {}, " "));
        notice_until_ = now_ + long_notice_seconds;
    }
}

void Files::choose(PathPurpose purpose) {
    if (job_.busy())
        return;
    files_.chooser.emplace(make_chooser(purpose, state_, last_folder_));
    models_for_ =
        purpose == PathPurpose::open || purpose == PathPurpose::find_model || purpose == PathPurpose::compare
            ? std::make_shared<const int>()
            : nullptr;
    offer_models();
    if (purpose == PathPurpose::picture)
        preview_.show(state_);
}

void Files::offer_models() {
    models_.begin_frame();
    models_.retain({models_for_});
    if (models_for_ == nullptr || !files_.chooser)
        return;
    using Offered = std::vector<OfferedModel>;
    const Derived<Offered> found = models_.ask<Offered>(
        {models_for_, ""}, Priority::on_screen, [](Progress&, const auto&) { return cached_models(); });
    if (!found.done)
        return;
    if (found.value != nullptr)
        files_.chooser->chooser.offer(*found.value);
    models_for_ = nullptr;
}

void Files::copy(Copied (*what)(const ScreenSnapshot&)) {
    if (!state_.shown.ready())
        return;
    const Copied copied = what({state_.shown, state_.view});
    ImGui::SetClipboardText(copied.text.c_str());
    say(copied.message);
}

void Files::say(std::string sentence) {
    files_.notice = std::move(sentence);
    notice_until_ = now_ + notice_seconds;
}

void Files::failed(const std::string& sentence) {
    if (files_.chooser)
        files_.chooser->chooser.fail(sentence);
    else
        state_.error = sentence;
}

void Files::remember(const std::string& path) {
    if (setup_.state_folder.empty())
        return;
    add_recent_file(recent_list(), path);
    files_.recent = read_recent_files(recent_list());
}

void Files::document_changed() {
    // Do not overwrite the file with a document of another kind, which a lesson or the history can show.
    if (path_of_checkpoint_ != of_checkpoint())
        files_.path.clear();
    files_.unsaved = workspace_.unsaved();
    if (!files_.unsaved || !of_checkpoint())
        files_.unsaved_edits = false;
    else if (!workspace_.is_suspended()) // else the history is that of a lesson
        files_.unsaved_edits =
            has_unsaved_edits(*workspace_.own().document->part(), workspace_.history().saved());
    files_.lesson = workspace_.is_suspended();
    if (autosave_) {
        if (files_.unsaved && !of_checkpoint())
            autosave_->request_save(workspace_.own().document, files_.path);
        else
            autosave_->forget();
    }
    if (!files_.unsaved || !of_checkpoint())
        forget_edits();
    refresh();
}

void Files::refresh() {
    if (autosave_)
        if (std::string error = autosave_->take_error(); !error.empty()) {
            files_.save_error = error;
            state_.error = std::move(error);
        }
    if (files_.unsaved && files_.save_error.empty() && !setup_.no_state_folder_reason.empty())
        files_.save_error = state_.error = setup_.no_state_folder_reason;
    const bool kept =
        autosave_ && (of_checkpoint() ? !edits_to_keep() && !keeper_.busy() : autosave_->saved());
    if (kept)
        files_.save_error.clear();
    files_.save_state = !files_.unsaved ? (files_.path.empty() ? SaveState::untouched : SaveState::saved)
                        : kept          ? SaveState::autosaved
                        : files_.save_error.empty() ? SaveState::changed
                                                    : SaveState::failed;
}

void Files::frame(double now) {
    now_ = now;
    job_.poll();
    if (!job_.busy()) {
        files_.job.reset();
        job_began_ = now;
        say_cancelled();
        if (auto step = std::exchange(waiting_, std::nullopt))
            ask_first(std::move(*step));
    }
    if (job_.busy())
        files_.job = FileJobView{job_.label(), job_.fraction() > 0 ? job_.fraction() : -1, now - job_began_,
                                 job_.blocking()};
    offer_models();
    preview_.frame(files_.chooser);
    keep_edits();
    if (now >= notice_until_)
        files_.notice.clear();
    refresh();
}

bool Files::busy() const {
    return job_.busy() || waiting_ || keeper_.busy() || edits_to_keep() || models_.busy() || preview_.busy();
}

void Files::settle() {
    while (job_.busy() || waiting_) {
        job_.wait();
        if (auto step = std::exchange(waiting_, std::nullopt))
            ask_first(std::move(*step));
    }
    files_.job.reset();
    say_cancelled();
    models_.wait();
    offer_models();
    preview_.settle(files_.chooser);
    keeper_.wait();
    if (edits_to_keep()) {
        kept_at_ = -1;
        now_ = std::max(now_, 0.0);
        keep_edits();
        keeper_.wait();
    }
    if (autosave_)
        autosave_->flush();
    refresh();
}

void Files::look_for_recoveries() {
    recoveries_ = find_recoveries(setup_.state_folder);
    for (const Recovery& found : recoveries_) {
        const bool named = !found.project_path.empty();
        files_.recoveries.push_back(
            {found.file.string(),
             named ? file_name(found.project_path) : found.title,
             named ? tr("files.changes_not", "Changes that are not in {}", found.project_path)
                   : tr("files.never_saved_file_own", "Never saved in a file of its own"),
             date_text(static_cast<std::time_t>(found.edited_at), std::time(nullptr)),
             {}});
    }
}

const Recovery& Files::recovery(const std::string& path) const {
    const auto found =
        std::ranges::find_if(recoveries_, [&](const Recovery& one) { return one.file.string() == path; });
    if (found == recoveries_.end())
        throw Error(ErrorKind::internal, "no recovery is known at " + path);
    return *found;
}

void Files::leave(const std::string& path) {
    std::erase_if(files_.recoveries, [&](const RecoveryOffer& offer) { return offer.path == path; });
}

void Files::discard(const std::string& path) {
    discard_recovery(recovery(path));
    leave(path);
}

} // namespace headscope::app
