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

/// The services that the workspace provides to a session.
class SessionHost {
public:
    virtual SessionState& state() = 0;
    /// Computes the document's trace for the screen. Only the newest document counts.
    virtual void compute(const DocumentPtr& document) = 0;
    /// Makes a document the current one, as a new step of the history.
    virtual void push(History::State step) = 0;
    virtual std::uint64_t gesture() const = 0; ///< number of the current gesture; its changes form one step
    /// Returns the labels of the history, oldest first, for the file.
    virtual std::vector<std::string> steps() const = 0;
    /// For jobs: called on a worker's thread when there are new results; may be empty.
    virtual const std::function<void()>& wake() const = 0;

protected:
    ~SessionHost() = default;
};

/// The open document of one kind: defines what is computed, shown, undone and saved. Owns every value that
/// its views show in addition to the trace, and the work on these values. A document of another kind gets
/// another session. For the thread that created it; no member except settle() blocks.
class Session {
public:
    explicit Session(SessionHost& host) : host_(host) {}
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    virtual ~Session() = default;

    // Computation.
    /// Updates everything after a change of the document or the view. Throws Error(input) if the weights
    /// cannot be transformed as the view requests; the view is then reset.
    virtual void follow() {}
    /// Takes over finished results of workers.
    virtual void take_results() {}
    virtual bool busy() const { return false; }
    /// Blocks until everything is computed and taken over. For export and tests.
    virtual void settle() {}
    /// Returns the document whose trace belongs on screen: the newest, or the one shown in its place.
    virtual const DocumentPtr& document_to_show() const { return state().document; }

    // View.
    /// Returns the sizes for the choice of a head: `dims`, plus the means if there are any.
    virtual Dims with_means(Dims dims) const { return dims; }
    /// The view changed, but neither the choice of heads nor the reading options.
    virtual void view_changed(ViewState&) const {}
    /// Called when a new trace is on screen.
    virtual void trace_shown() {}
    /// Reports the visible layers of the grid.
    virtual void set_visible_layers(std::int64_t /*first*/, std::int64_t /*last*/) {}
    virtual void act(const ModelAction&) {}
    /// Advances animations and generation to `now` (seconds from program start). Returns true while any is
    /// active.
    virtual bool advance_animations(double /*now*/) { return false; }

    // Changes and undo.
    /// Returns why nothing can be changed now, one sentence; empty if it can.
    virtual std::string edit_blocked_reason() const { return {}; }
    /// Returns the label of a history entry.
    virtual std::string history_label(std::string name) const { return name; }
    /// Returns the document to show for a state of the history.
    virtual DocumentPtr restored(const DocumentPtr& next) { return next; }

    // Saving.
    /// Throws Error(input) if this kind of document does not support the command.
    virtual void check(const FileCommand&) const {}
    /// Returns a function that writes the document in its current state; thread-safe. Throws Error(input).
    virtual std::function<void(const std::string& path)> save_function() const = 0;
    /// Returns true if replacing the document by the saved one loses no work.
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
