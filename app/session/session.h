#pragma once

#include "app/commands/file_command.h"
#include "app/commands/history.h"
#include "app/commands/model_action.h"
#include "app/session/session_state.h"
#include "app/state/files/files_state.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace headscope::app {

/// What a session asks of the workspace around it.
class SessionHost {
public:
    virtual SessionState& state() = 0;
    /// Computes the document's trace for the screen. The newest document wins.
    virtual void compute(const DocumentPtr& document) = 0;
    /// Puts a document in place as a new step of the history.
    virtual void push(History::State step) = 0;
    virtual std::uint64_t gesture() const = 0; ///< the one under way, which is one step
    /// What led to the document, oldest first, for its file.
    virtual std::vector<std::string> steps() const = 0;
    /// For jobs: called on a worker's thread when there is something to see; may be empty.
    virtual const std::function<void()>& wake() const = 0;

protected:
    ~SessionHost() = default;
};

/// The open document of one kind: what is computed of it, what is looked at, what can be undone, how it is
/// saved. Owns every value that its views show beside the trace, and the work on them. A document of another
/// kind gets another session. For the thread that made it; no member but wait() blocks.
class Session {
public:
    explicit Session(SessionHost& host) : host_(host) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    virtual ~Session() = default;

    // What is computed.
    /// Brings everything in line with the document and the view, after either changed. Throws Error(input)
    /// when the weights cannot be read as the view wants; then the view is what it was.
    virtual void follow() {}
    /// Takes over what workers have finished.
    virtual void take_results() {}
    virtual bool busy() const { return false; }
    /// Blocks until all is computed and taken over. For pictures and tests.
    virtual void settle() {}
    /// The document whose trace belongs on screen: the newest, or what is looked at in its place.
    virtual const DocumentPtr& wanted() const { return state().document; }

    // What is looked at.
    /// Which heads can be in focus: those of `dims`, and means where there are some.
    virtual Dims with_means(Dims dims) const { return dims; }
    /// The view was changed by something else than the choice of heads or of how weights are read.
    virtual void other_page(ViewState&) const {}
    /// A new trace came on screen.
    virtual void came_on_screen() {}
    /// These layers of the board are on screen.
    virtual void look_at(std::int64_t /*first*/, std::int64_t /*last*/) {}
    virtual void act(const ModelAction&) {}
    /// Goes on with what goes on by itself, up to `now` (seconds from program start). True while it does.
    virtual bool advance(double /*now*/) { return false; }

    // What can be changed and undone.
    /// Why nothing can be changed now, one sentence; empty when it can.
    virtual std::string not_now() const { return {}; }
    /// How the history calls a step.
    virtual std::string step_name(std::string name) const { return name; }
    /// A state of the history as it is shown when the user goes there.
    virtual DocumentPtr restored(const DocumentPtr& next) { return next; }

    // How it is saved.
    /// Throws Error(input) when the command needs what this kind of document has not.
    virtual void check(const FileCommand&) const {}
    /// Writes the document as it is now; for any thread. Throws Error(input).
    virtual std::function<void(const std::string& path)> writer() const = 0;
    /// Whether nothing of the document would be lost with the saved one.
    virtual bool same_work(const Document& saved) const = 0;

protected:
    SessionState& state() { return host_.state(); }
    const SessionState& state() const { return host_.state(); }
    SessionHost& host() { return host_; }
    const SessionHost& host() const { return host_; }

private:
    SessionHost& host_;
};

} // namespace headscope::app
