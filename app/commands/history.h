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
/// change.
class History {
public:
    /// One state, named after the command that produced it.
    struct State {
        DocumentPtr document;
        std::string label;         ///< "edit W_O[5, 1]"
        std::string detail = {};   ///< "1.00 → 1.70"; may be empty
        ChangeId change = {};      ///< the change that led to it
        std::uint64_t gesture = 0; ///< the gesture of that change: one drag, one stretch of typing
        /// For the first state: labels of the steps before the last save, oldest first. They cannot be
        /// undone.
        std::vector<std::string> steps_before_saving = {};
    };

    /// byte_budget: limit for all states except the current one. The oldest states are dropped first: beyond
    /// a quarter of the budget as long as min_undo_steps remain, beyond the whole budget in any case.
    explicit History(DocumentPtr first, std::size_t byte_budget = std::size_t{192} << 20);
    static constexpr std::size_t min_undo_steps = 16; ///< states to keep for undo

    /// Adds a state after the current one and drops the states that could be redone. If the same gesture made
    /// the same change to the current state, replaces that state: one gesture is one step.
    void push(State state);
    /// Sets the labels of the steps before the first state.
    void set_earlier_steps(std::vector<std::string> earlier) {
        states_.front().steps_before_saving = std::move(earlier);
    }
    /// Moves by that many states, clamped, and returns the current document.
    const DocumentPtr& move(std::int64_t by);

    const std::vector<State>& states() const { return states_; }
    std::size_t position() const { return position_; }
    /// The document in the project's file, or the initial one; null: never saved.
    const DocumentPtr& saved() const { return saved_; }
    void mark_saved(DocumentPtr document) { saved_ = std::move(document); }
    /// Bytes of all tensors and painted masks in the states, each counted once.
    std::size_t bytes() const { return bytes_; }

    /// The number of states dropped to keep the budget.
    std::size_t dropped() const { return dropped_; }

private:
    /// Adds a state's tensors to the count, or subtracts them if `by` is -1.
    void count(const State& state, int by);
    void keep_budget();

    std::vector<State> states_;
    DocumentPtr saved_;
    std::size_t position_ = 0;
    std::size_t byte_budget_;
    std::size_t bytes_ = 0, dropped_ = 0;
    std::unordered_map<const void*, std::size_t> state_counts_; ///< how many states hold a tensor
};

/// Returns the labels of the steps to the current state, oldest first; at most the last hundred.
std::vector<std::string> steps_of(const History& history);

} // namespace headscope::app
