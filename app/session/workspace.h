#pragma once

#include "app/commands/command.h"
#include "app/jobs/engine_desk.h"
#include "app/jobs/model_desk.h"
#include "app/jobs/runner.h"
#include "app/session/session.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headscope::app {

/// The open document with its history, the session of its kind, and the engine that computes its trace. Keeps
/// a SessionState up to date. For the thread that made it; nothing but settle() and await() blocks.
class Workspace final : private SessionHost {
public:
    struct Setup {
        std::string device = "auto";
        std::function<void()> wake; ///< called on worker threads when there is something to see; may be empty
        std::function<void()> changed;       ///< another document is in place, or history has moved
        std::function<void()> drop_baseline; ///< the baseline A is of another checkpoint
    };
    /// Throws what make_document and make_engine throw. `setup.changed` is not called.
    Workspace(SessionState& state, const project::Recipe& recipe, Setup setup);

    Session& session() { return *session_; }
    const Session& session() const { return *session_; }
    const History& history() const { return history_; }

    // What the user does. All throw Error(input) with the sentence to show; then nothing has changed.
    void run(const Command& command);
    /// What Ctrl Z does, unless a field or a dialog has the keyboard. While a lesson plays, the history is
    /// that of the lesson's document; a scene of the lesson is a step of it, and the course only notices that
    /// the learner is away from the scene.
    void move_in_history(std::int64_t by);
    void change_view(const ViewChange& change);
    void act(const EngineAction& action);
    /// One stretch of holding the mouse, typing or turning the wheel ends.
    void end_gesture() { ++gesture_; }

    // A lesson plays on a document of its own. The user's document, its history, its session and its view
    // wait beside it: nothing that a lesson does reaches them.
    /// Lays the user's document aside. Nothing happens when it already is.
    void lay_aside();
    bool laid_aside() const { return aside_ != nullptr; }
    /// What is on screen becomes the first state of its history.
    void forget_before() { history_ = History(state_.document); }
    /// Shows the user's document again as it was; the document on screen is dropped. How the window itself
    /// looks, such as its theme and its panels, stays. Nothing happens when none is laid aside.
    void take_back();
    /// The user's own document, on screen or laid aside, and its session.
    const SessionState& own() const { return aside_ ? aside_->state : state_; }
    const Session& own_session() const { return aside_ ? *aside_->session : *session_; }

    // Another document with a history of its own, which begins as saved or unsaved.
    /// `looked_at`: how it was looked at when it was saved, see project_view.h; empty: nothing is known.
    void show(DocumentPtr document, bool saved, const std::string& looked_at = {});
    /// The preset and sentence that the program begins with.
    void show_fresh();
    void open(const AttentionSetPtr& set);
    void open(const OpenedModel& opened, bool saved = true, const std::string& looked_at = {});
    /// Shows a checkpoint that was opened as a further step of the history, as a lesson does.
    void go_to(const OpenedModel& opened, std::string label);
    /// Puts the edits of `edited` in place of those of the open checkpoint, as a step of its history.
    void show_edits(const ModelPart& edited, std::string label);

    /// Whether work would be lost with the user's own document.
    bool unsaved() const;
    /// A state of the user's own document is stored in its file.
    void mark_saved(DocumentPtr document);

    /// Takes over what workers have finished. What was on screen before, when a new trace replaced it.
    std::optional<Shown> take_results();
    /// Whether results of the session, the engine or the devices are still to come.
    bool busy() const { return session_->busy() || runner_.busy() || engines_.busy(); }
    /// Waits at most so long for the trace of a document that came since the last call. Whether
    /// take_results() has it.
    bool await(std::chrono::milliseconds at_most) { return runner_.await(at_most); }
    /// Whether the document's own trace is on screen, and no other layer of it is still to come.
    bool shows_document() const {
        return state_.shown.document == state_.document && session_->not_now().empty();
    }
    /// The view brought to what is on screen, while that lags behind the document; empty when it does not.
    std::optional<ViewState> view_behind() const;
    /// Blocks until everything is computed; take_results() then takes the trace. For pictures and tests.
    void settle();

private:
    /// The user's document while a lesson plays.
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

    /// Brings back the trace that was let go for one that could not be computed.
    void show_again(const Document& failed);
    void document_changed();
    /// A session for it in place of the present one, and its first document.
    DocumentPtr begin_session(const OpenedModel& opened);
    std::unique_ptr<Session> session_for(const Document& document);
    /// Gives a document of another kind another session, and lets the session follow.
    void follow_kind();

    SessionState& state_;
    Setup setup_;
    History history_;
    std::uint64_t gesture_ = 1;
    EngineDesk engines_; ///< outlives the runner, which has its engine
    Runner runner_;
    std::unique_ptr<Aside> aside_;     ///< null: the document on screen is the user's own
    std::unique_ptr<Session> session_; ///< always there after construction
    std::size_t session_kind_ = 0;     ///< index of Document::kind that it is for
};

} // namespace headscope::app
