#pragma once

#include "app/jobs/autosave.h"
#include "app/jobs/derived.h"
#include "app/jobs/file_job.h"
#include "app/jobs/recovery.h"
#include "app/session/workspace.h"
#include "app/shell/files/files_setup.h"
#include "app/shell/files/loaded_document.h"
#include "app/shell/picture_previews.h"
#include "app/views/state.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

namespace headscope::app {

/// Returns the last component of a path.
std::string file_name(const std::string& path);

/// File handling of the window: unsaved changes, opening, saving, export and recovery. Updates
/// AppState::files; a separate thread reads and writes. For the thread that created it.
class Files {
public:
    Files(AppState& state, Workspace& workspace, FilesSetup setup);

    /// Handles a command, or asks the user first. Throws Error(input) with a message for the user.
    void act(const FileCommand& command);
    /// Opens any supported file, after the question about unsaved changes. `texts`: for a checkpoint.
    void open_path(const std::string& path, const ModelTexts& texts = {});
    /// Opens a checkpoint and compares it with another one, see CompareWithCheckpoint.
    void open_compared(const std::string& path, const ModelTexts& texts, const std::string& other);
    /// Saves as if the path had been chosen, replacing an existing file. Throws Error(input) likewise.
    void save_path(const std::string& path);
    /// Writes as if the path had been chosen in its dialog, replacing an existing file. Throws likewise.
    void write_path(const FileToWrite& file);
    void document_changed(); ///< call after every change of the document
    /// Call once a frame; `now` counts seconds.
    void frame(double now);
    bool busy() const; ///< frames must be drawn continuously for a job in progress
    void settle();     ///< blocks until no job is in progress; for export and tests
    /// Returns true if the user wants to quit and no work is lost.
    bool quitting() const { return quitting_; }

private:
    struct Open {
        std::string path;
        ModelTexts texts{};
    };
    struct Recover {
        Recovery recovery;
    };
    /// An action that would replace the document.
    using Step = std::variant<NewProject, QuitProgram, Open, Recover>;

    void ask_first(Step step); ///< asks about work that would be lost, then do_step() or nothing
    std::string loss_by(const Step& step) const; ///< a sentence
    void do_step(const Step& step);
    void open_now(const Open& open);
    void answer(UnsavedAnswer answer);
    void load_project(const std::string& path);
    void load_problem(const std::string& path);
    void load_attention(const std::string& path);
    void show_attention(const std::string& path, const AttentionSetPtr& set);
    void choose_attention();
    void answer_attention(bool open);
    void show_lesson(const std::string& path);
    void open_survey(const std::string& path);
    void write_lesson_step(bool append); ///< to the clipboard, or to the file of the open lesson
    void open_sentences(const std::string& path);
    void open_prompts(const std::string& path);
    void show_sentence(int wanted);
    void load_checkpoint(const std::string& folder, const ModelTexts& texts);
    /// Loads a project of a checkpoint, or a patch. `model`: the chosen model; empty: the project's own.
    void load_work(const std::string& path, const std::string& model, const Recovery* recovered);
    void ask_for_model(const std::string& path, const std::string& sentence);
    void model_chosen(const std::string& model); ///< for a project, or as the base of a LoRA adapter
    void compare_with(const std::string& path);  ///< compares the open checkpoint with the one at the path
    void load_edits(const std::string& path, bool recovered); ///< applies a patch to the open checkpoint
    void came_recovered(const std::string& path, bool recovered);
    void not_recovered(const std::string& path, bool recovered, const std::string& sentence);
    void keep_edits(); ///< saves unsaved work on a checkpoint in case the program is killed
    void forget_edits();
    void drop_recovered_edits();
    void look_for_kept_edits(const std::string& model); ///< files of earlier versions of Headscope
    void recover(const Recovery& recovery);
    void cannot_open(const std::string& path);
    std::filesystem::path recent_list() const;
    void put_in_place(LoadedDocument loaded, bool counts_as_saved);
    bool replaces(const Step& step) const; ///< the user's document; false for lessons and surveys
    void save();
    void save_to(const std::string& path);
    void save_lesson_to(const std::string& path); ///< the lesson's input, not the user's project
    void saved_as(const DocumentPtr& document, const std::string& path);
    void chosen(const std::string& path);
    void write_view(const FileToWrite& file, ScreenSnapshot screen);
    void write_out(const std::string& label, const std::string& path, std::function<void(Progress&)> write,
                   const std::string& part = {}); ///< `part`: description of the part of a map
    void choose(PathPurpose purpose);
    void offer_models(); ///< adds the models of the Hugging Face cache to the chooser when they are known
    void copy(Copied (*what)(const ScreenSnapshot&));
    void copy_picture();
    void copy_render_command();
    void look_for_recoveries();
    const Recovery& recovery(const std::string& path) const;
    void leave(const std::string& path);
    void discard(const std::string& path);
    bool of_checkpoint() const { return workspace_.own().document->is_checkpoint(); } ///< user's document
    bool edits_to_keep() const; ///< the user's work on a checkpoint is neither saved nor kept
    void cancel_job();
    void say_cancelled(); ///< after the job has ended
    void say(std::string sentence);
    void failed(const std::string& sentence);
    void refresh();
    void remember(const std::string& path);

    AppState& state_;
    FilesState& files_;
    Workspace& workspace_;
    FilesSetup setup_;
    std::optional<Step> next_;              ///< continues after the answer, or after saving
    std::optional<Step> waiting_;           ///< continues after the job
    std::optional<LoadedDocument> remains_; ///< the readable part of a damaged project, while it is offered
    std::vector<Recovery> recoveries_;
    std::filesystem::path last_folder_;
    double now_ = 0, job_began_ = 0, notice_until_ = 0;
    std::string cancelled_; ///< label of the job that the user cancelled
    std::optional<Autosave> autosave_;
    bool quitting_ = false, path_of_checkpoint_ = false; ///< the latter is about FilesState::path
    std::string wants_model_;     ///< path of the project or adapter whose model the user is choosing
    ModelTexts texts_of_adapter_; ///< those that an adapter in wants_model_ opens with
    std::string compared_next_;   ///< path to compare with when the checkpoint is open; empty: none
    std::string recovered_edits_; ///< file of a dead run whose edits are on screen; empty: none
    RunSpecPtr kept_part_;        ///< the part whose edits are in kept_file_
    std::shared_ptr<const KeptFile> kept_file_; ///< null: not written
    double kept_at_ = -1;                       ///< time of the last write, in the seconds of frame()
    std::shared_ptr<const int> models_for_;     ///< token of the chooser that waits for them; null: none
    DerivedValues models_;                      ///< the models of the Hugging Face cache
    PicturePreviews preview_;
    FileJob keeper_, job_;
};

} // namespace headscope::app
