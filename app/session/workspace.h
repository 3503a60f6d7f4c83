#pragma once

#include "app/commands/command.h"
#include "app/jobs/engine_selector.h"
#include "app/jobs/model_runner.h"
#include "app/jobs/runner.h"
#include "app/session/session.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// The open document with its history, its session, and the engine that computes its trace. Updates a
/// SessionState. For the thread that created it; only settle() and await() block.
class Workspace final : private SessionHost {
public:
    struct Setup {
        std::string device = "auto";
        std::function<void()> wake;    ///< called on worker threads when there are new results; may be empty
        std::function<void()> changed; ///< the document or its place in the history changed
        std::function<void()> drop_baseline; ///< the baseline A belongs to another checkpoint
    };
    /// Throws what make_document and make_engine throw. `setup.changed` is not called.
    Workspace(SessionState& state, const project::Recipe& recipe, Setup setup);

    Session& session() { return *session_; }
    const Session& session() const { return *session_; }
    const History& history() const { return history_; }

    // User actions. All throw Error(input) with a message for the user; nothing has changed then.
    void run(const Command& command);
    /// Undo and redo (Ctrl Z), unless a field or a dialog has the keyboard focus. While a lesson is open,
    /// this is the history of the lesson's document: a scene of the lesson is a step of it, and the course
    /// only notices that the learner has left the scene.
    void move_in_history(std::int64_t by);
    void change_view(const ViewChange& change);
    void act(const EngineAction& action);
    /// Ends one gesture: a mouse drag, a stretch of typing or turning of the wheel.
    void end_gesture() { ++gesture_; }

    // A lesson uses a separate document. The user's document, its history, its session and its view are kept
    // aside, and the lesson does not affect them.
    /// Puts the user's document aside. No effect if it already is.
    void suspend_document();
    bool is_suspended() const { return aside_ != nullptr; }
    /// Makes the current document the first state of its history.
    void clear_history() { history_ = History(state_.document); }
    /// Restores the user's document and drops the one on screen. Window settings such as theme and panels
    /// stay. No effect if no document is aside.
    void resume_document();
    /// The user's own document, on screen or aside, and its session.
    const SessionState& own() const { return aside_ ? aside_->state : state_; }
    const Session& own_session() const { return aside_ ? *aside_->session : *session_; }

    // These replace the document and start a new history, as saved or unsaved.
    /// `saved_view`: the view to restore, see project_view.h; empty: not known.
    void show(DocumentPtr document, bool saved, const std::string& saved_view = {});
    /// Shows the initial preset and sentence.
    void show_initial();
    void open(const AttentionSetPtr& set);
    void open(const OpenedModel& opened, bool saved = true, const std::string& saved_view = {});
    /// Shows an opened checkpoint as a further step of the history, as a lesson does.
    void go_to(const OpenedModel& opened, std::string label);
    /// Replaces the edits of the open checkpoint by those of `edited`, as a step of its history.
    void show_edits(const RunSpec& edited, std::string label);

    /// Returns true if the user's own document has unsaved work.
    bool unsaved() const;
    /// Reports that a state of the user's own document was stored in its file.
    void mark_saved(DocumentPtr document);

    /// Takes over finished results of workers. If a new trace replaced the content of the screen, returns the
    /// previous content.
    std::optional<Shown> take_results();
    /// Returns true while results of the session, the engine or the devices are pending.
    bool busy() const { return session_->busy() || runner_.busy() || engines_.busy(); }
    /// Waits up to `at_most` for the trace of a document submitted since the last call. Returns true if
    /// take_results() will have it.
    bool await(std::chrono::milliseconds at_most) { return runner_.await(at_most); }
    /// Returns true if the document's own trace is on screen and no other layer is pending.
    bool shows_document() const {
        return state_.shown.document == state_.document && session_->edit_blocked_reason().empty();
    }
    /// Returns the view adapted to the content of the screen while that is older than the document; empty if
    /// it is not.
    std::optional<ViewState> view_of_shown() const;
    /// Blocks until everything is computed; take_results() then takes the trace. For export and tests.
    void settle();

private:
    /// The user's document while a lesson is open.
    struct Aside {
        SessionState state;
        History history;
        std::unique_ptr<Session> session;
        bool unsaved = false;
    };

    SessionState& state() override { return state_; }
    void compute(const DocumentPtr& document) override;
    void push(History::State step) override;
    std::uint64_t gesture() const override { return gesture_; }
    std::vector<std::string> steps() const override { return steps_of(history_); }
    const std::function<void()>& wake() const override { return setup_.wake; }

    /// Restores the trace that was released for one that could not be computed.
    void show_again(const Document& failed);
    void document_changed();
    /// Replaces the session by one for the checkpoint and returns its first document.
    DocumentPtr begin_session(const OpenedModel& opened);
    std::unique_ptr<Session> session_for(const Document& document);
    /// Creates a new session if the kind of the document changed, and updates the session.
    void follow_kind();

    SessionState& state_;
    Setup setup_;
    History history_;
    std::uint64_t gesture_ = 1;
    EngineSelector engines_; ///< outlives the runner, which uses its engine
    Runner runner_;
    std::unique_ptr<Aside> aside_;     ///< null: the document on screen is the user's own
    std::unique_ptr<Session> session_; ///< never null after construction
    std::size_t session_kind_ = 0;     ///< index of the session's kind in Document::kind
};

} // namespace headscope::app
