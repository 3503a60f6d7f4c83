#include "app/commands/history.h"

#include <algorithm>
#include <set>

namespace headscope {

History::History(DocumentPtr first, std::size_t byte_budget) : byte_budget_(byte_budget) {
    states_.push_back({std::move(first), "start", {}, 0});
}

void History::push(State state) {
    State& current = states_[position_];
    const bool same_gesture =
        position_ > 0 && current.label == state.label && current.gesture == state.gesture;
    states_.resize(position_ + 1);
    if (same_gesture) {
        // The detail keeps where the gesture began: "1.00 → 1.50" and "1.50 → 1.70" become "1.00 → 1.70".
        constexpr std::string_view arrow = " → ";
        const auto begin = current.detail.find(arrow), end = state.detail.find(arrow);
        if (begin != std::string::npos && end != std::string::npos)
            state.detail = current.detail.substr(0, begin) + state.detail.substr(end);
        current = std::move(state);
        return;
    }
    states_.push_back(std::move(state));
    ++position_;
    keep_budget();
}

const DocumentPtr& History::move(std::int64_t by) {
    const auto target = static_cast<std::int64_t>(position_) + by;
    position_ = static_cast<std::size_t>(
        std::clamp<std::int64_t>(target, 0, static_cast<std::int64_t>(states_.size()) - 1));
    return states_[position_].document;
}

std::size_t History::bytes() const {
    std::set<const Tensor*> seen;
    std::size_t total = 0;
    const auto add = [&](const TensorPtr& tensor) {
        if (tensor != nullptr && seen.insert(tensor.get()).second)
            total += static_cast<std::size_t>(tensor->count()) * sizeof(float);
    };
    for (const State& state : states_) {
        const Problem& problem = state.document->problem;
        const Weights& w = problem.weights;
        for (const TensorPtr& tensor :
             {problem.x, problem.x_kv, w.W_Q, w.W_K, w.W_V, w.W_O, w.b_Q, w.b_K, w.b_V, w.b_O})
            add(tensor);
    }
    return total;
}

void History::keep_budget() {
    // Counting is linear in the states, so that it is done only now and then.
    constexpr std::size_t check_every = 64;
    if (states_.size() % check_every != 0)
        return;
    while (position_ > 0 && bytes() > byte_budget_) {
        const std::size_t drop = std::max<std::size_t>(1, position_ / 8);
        states_.erase(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(drop));
        position_ -= drop;
    }
}

} // namespace headscope
