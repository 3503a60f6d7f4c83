#pragma once

#include "app/commands/change_id.h"
#include "app/state/document.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headscope::app {

/// Undo and redo by value: every state is a document, and documents share the tensors that an edit did not
/// touch.
class History {
public:
    /// One state, named by the command that led to it.
    struct State {
        DocumentPtr document;
        std::string label;         ///< "edit W_O[5, 1]"
        std::string detail = {};   ///< "1.00 → 1.70"; may be empty
        ChangeId change = {};      ///< what led to it
        std::uint64_t gesture = 0; ///< during which that happened: one drag, one stretch of typing
        /// Of the first state: what had led to it before it was saved, oldest first. Nothing goes back there.
        std::vector<std::string> earlier = {};
    };

    /// byte_budget: what all states together may hold, the current one apart. They hold a quarter of that
    /// where kept_steps suffice: the oldest go first.
    explicit History(DocumentPtr first, std::size_t byte_budget = std::size_t{192} << 20);
    static constexpr std::size_t kept_steps = 16; ///< that can be taken back

    /// A new state after the current one; what could be redone is forgotten. When the same gesture made the
    /// same change to the current state, that is replaced: one gesture is one step.
    void push(State state);
    /// What had led to the first state before it was saved.
    void begin_after(std::vector<std::string> earlier) { states_.front().earlier = std::move(earlier); }
    /// Moves by that many states, as far as there are any, and returns the current document.
    const DocumentPtr& move(std::int64_t by);

    const std::vector<State>& states() const { return states_; }
    std::size_t position() const { return position_; }
    /// What is stored in the document's file, or was given at first; null: never saved.
    const DocumentPtr& saved() const { return saved_; }
    void mark_saved(DocumentPtr document) { saved_ = std::move(document); }
    /// Bytes of all tensors and painted masks that the states hold, each counted once.
    std::size_t bytes() const { return bytes_; }

    /// How many of the oldest states the budget has cost so far.
    std::size_t dropped() const { return dropped_; }

private:
    /// Counts a state's tensors in, or out when `by` is -1.
    void count(const State& state, int by);
    void keep_budget();

    std::vector<State> states_;
    DocumentPtr saved_;
    std::size_t position_ = 0;
    std::size_t byte_budget_;
    std::size_t bytes_ = 0, dropped_ = 0;
    std::unordered_map<const void*, std::size_t> held_; ///< how many states hold a tensor
};

/// What led to the current state, oldest first: the labels of its steps, the latest hundred of them.
std::vector<std::string> steps_of(const History& history);

} // namespace headscope::app
