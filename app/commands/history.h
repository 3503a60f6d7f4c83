#pragma once

#include "app/state/document.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace headscope::app {

/// Undo and redo by value: every state is a document, and documents share the tensors that an edit did not
/// touch.
class History {
public:
    /// One state, named by the command that led to it.
    struct State {
        DocumentPtr document;
        std::string label;  ///< "edit W_O[5, 1]"
        std::string detail; ///< "1.00 → 1.70"; may be empty
        std::uint64_t gesture = 0;
    };

    /// byte_budget: what all states together may hold; the oldest go first, the current one always stays.
    explicit History(DocumentPtr first, std::size_t byte_budget = std::size_t{256} << 20);

    /// A new state after the current one; what could be redone is forgotten. When the current state has the
    /// same label and gesture (one drag, one stretch of typing), it is replaced: one gesture is one step.
    void push(State state);
    /// Moves by that many states, as far as there are any, and returns the current document.
    const DocumentPtr& move(std::int64_t by);

    const std::vector<State>& states() const { return states_; }
    std::size_t position() const { return position_; }
    bool can_undo() const { return position_ > 0; }
    bool can_redo() const { return position_ + 1 < states_.size(); }
    /// Bytes of all tensors and painted masks that the states hold, each counted once.
    std::size_t bytes() const { return bytes_; }

    /// How many of the oldest states the budget has cost so far.
    std::size_t dropped() const { return dropped_; }

private:
    /// Counts a state's tensors in, or out when `by` is -1.
    void count(const State& state, int by);
    void keep_budget();

    std::vector<State> states_;
    std::size_t position_ = 0;
    std::size_t byte_budget_;
    std::size_t bytes_ = 0, dropped_ = 0;
    std::unordered_map<const void*, std::size_t> held_; ///< how many states hold a tensor
};

} // namespace headscope::app
