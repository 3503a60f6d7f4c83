#pragma once

#include "app/jobs/autosave.h"
#include "app/jobs/derived.h"
#include "app/jobs/file_job.h"
#include "app/jobs/recovery.h"
#include "app/session/workspace.h"
#include "app/shell/picture_previews.h"
#include "app/shell/program_options.h"
#include "app/views/state.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

namespace headscope::app {

/// The last part of a path.
std::string file_name(const std::string& path);

/// Everything about files while the window is open: what is saved and what is not, opening, saving, writing
/// out, and what a killed run left behind. Keeps AppState::files up to date; reading and writing go on a
/// thread of their own. For the thread that made it.
class Files {
public:
    struct Setup {
        /// Where the autosaved project and the list of recent files are kept; empty: nowhere.
        std::filesystem::path state_folder;
        std::string keeps_nothing = {};                           ///< as Program::Options has it
        std::function<void()> wake;                               ///< as Program::Options has it
        std::function<void(const std::string& path)> show_lesson; ///< of a file; throws Error(input)
        std::function<void()> leave_lesson; ///< shows the user's own document where a lesson plays
        std::function<void(std::string png)> offer_picture = {}; ///< as Program::Options has it
        ProgramOptions film = {}; ///< of a program that films: the same device and lessons
    };
    Files(AppState& state, Workspace& workspace, Setup setup);

    /// Does what was asked for, or asks back. Throws Error(input) with the sentence to show.
    void act(const FileCommand& command);
    /// Opens whatever the program can open, after the question about unsaved changes. `texts`: for a
    /// checkpoint.
    void open_path(const std::string& path, const ModelTexts& texts = {});
    /// Saves as if the path had been chosen, over a file that is there. Throws Error(input) likewise.
    void save_path(const std::string& path);
    void document_changed(); ///< call after every change of the document
    /// Call once a frame; `now` counts seconds.
    void frame(double now);
    /// Whether frames must follow each other for what is under way.
    bool busy() const;
    /// Blocks until nothing is under way. For pictures and tests.
    void settle();
    /// The user wants to quit, and nothing is lost by it.
    bool quitting() const { return quitting_; }

private:
    struct Open {
        std::string path;
        ModelTexts texts{};
    };
    struct Recover {
        Recovery recovery;
    };
    /// What would replace the document.
    using Step = std::variant<NewProject, QuitProgram, Open, Recover>;
    /// A document read from a file.
    struct Loaded {
        DocumentPtr document;
        std::string path, view; ///< that "Save" writes to; and as project_view.h has it
        std::vector<std::string> notes;
    };

    void ask_first(Step step);                   ///< about work that would be lost, then do_step() or nothing
    std::string loss_by(const Step& step) const; ///< a sentence
    void do_step(const Step& step);
    void open_now(const Open& open);
    void answer(UnsavedAnswer answer);
    void load_project(const std::string& path);
    void load_problem(const std::string& path);
    void load_attention(const std::string& path);
    void show_lesson(const std::string& path);
    void open_survey(const std::string& path);
    void load_checkpoint(const std::string& folder, const ModelTexts& texts);
    /// A project of a checkpoint, or a patch, with the model that was chosen for it; empty: with its own.
    void load_work(const std::string& path, const std::string& model, const Recovery* recovered);
    void ask_for_model(const std::string& path, const std::string& sentence);
    void load_edits(const std::string& path, bool recovered); ///< of a patch, over the open checkpoint
    void came_recovered(const std::string& path, bool recovered);
    void not_recovered(const std::string& path, bool recovered, const std::string& sentence);
    void keep_edits(); ///< unsaved work on a checkpoint, for the case that the program is killed
    void forget_edits();
    void drop_recovered_edits();
    void look_for_kept_edits(const std::string& model); ///< as earlier versions kept them
    void recover(const Recovery& recovery);
    void cannot_open(const std::string& path);
    std::filesystem::path recent_list() const;
    void put_in_place(Loaded loaded, bool counts_as_saved);
    bool replaces(const Step& step) const; ///< the user's document, which lessons and surveys leave
    void save();
    void save_to(const std::string& path);
    void save_lesson_to(const std::string& path); ///< the lesson's problem, not the user's project
    void saved_as(const DocumentPtr& document, const std::string& path);
    void chosen(const std::string& path);
    void write_out(const std::string& label, const std::string& path, std::function<void(Progress&)> write,
                   const std::string& part = {}); ///< a part of a map, in words
    void choose(PathPurpose purpose);
    void offer_models(); ///< of the Hugging Face cache, to the chooser, once they are known
    void copy(Copied (*what)(const OnScreen&));
    void copy_picture();
    void look_for_recoveries();
    const Recovery& recovery(const std::string& path) const;
    void leave(const std::string& path);
    void discard(const std::string& path);

    bool of_checkpoint() const { return workspace_.own().document->is_checkpoint(); } ///< the user's document
    bool edits_to_keep() const; ///< the user's work on a checkpoint is neither saved nor kept

    void cancel_job();
    void say_cancelled(); ///< once the job is over
    void say(std::string sentence);
    void failed(const std::string& sentence);
    void refresh();
    void remember(const std::string& path);

    AppState& state_;
    FilesState& files_;
    Workspace& workspace_;
    Setup setup_;
    std::optional<Step> next_;      ///< goes on after the answer, or after saving
    std::optional<Step> waiting_;   ///< until the job is over
    std::optional<Loaded> remains_; ///< of a damaged project, while it is offered
    std::vector<Recovery> recoveries_;
    std::filesystem::path last_folder_;
    double now_ = 0, job_began_ = 0, notice_until_ = 0;
    std::string cancelled_; ///< the job that the user has stopped
    std::optional<Autosave> autosave_;
    bool quitting_ = false, path_of_checkpoint_ = false; ///< what FilesState::path holds is of a checkpoint
    std::string wants_model_;                            ///< path of the project whose model is being chosen
    std::string recovered_edits_;               ///< file of a dead run whose edits are on screen; empty: none
    ModelPartPtr kept_part_;                    ///< whose edits are in kept_file_
    std::shared_ptr<const KeptFile> kept_file_; ///< null: none was written
    double kept_at_ = -1;                       ///< when it was last written, in the seconds of frame()
    std::shared_ptr<const int> models_for_;     ///< one for each chooser that waits for them; null: none does
    DerivedValues models_;                      ///< of the cache
    PicturePreviews preview_;
    FileJob keeper_, job_;
};

} // namespace headscope::app
