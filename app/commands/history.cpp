#include "app/commands/history.h"

#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <type_traits>

namespace headscope::app {

History::History(DocumentPtr first, std::size_t byte_budget) : byte_budget_(byte_budget) {
    // Translators: the noun, where the history begins
    states_.push_back({std::move(first), tr("history.start", "start")});
    count(states_.back(), 1);
}

void History::push(State state) {
    State& current = states_[position_];
    const bool same_gesture =
        position_ > 0 && current.gesture == state.gesture && current.change.same_as(state.change);
    for (std::size_t i = position_ + 1; i < states_.size(); ++i)
        count(states_[i], -1);
    states_.resize(position_ + 1);
    count(state, 1);
    if (same_gesture) {
        // Merge details: "1.00 → 1.50" and "1.50 → 1.70" become "1.00 → 1.70".
        constexpr std::string_view arrow = " → ";
        const auto begin = current.detail.find(arrow), end = state.detail.find(arrow);
        if (begin != std::string::npos && end != std::string::npos)
            state.detail = current.detail.substr(0, begin) + state.detail.substr(end);
        count(current, -1);
        current = std::move(state);
        keep_budget();
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

void History::count(const State& state, int by) {
    const auto add = [&](const void* key, std::size_t size) {
        std::size_t& holders = state_counts_[key];
        if (by > 0 && holders++ == 0)
            bytes_ += size;
        if (by < 0 && --holders == 0) {
            bytes_ -= size;
            state_counts_.erase(key);
        }
    };
    const auto add_tensor = [&](const TensorPtr& tensor) {
        if (tensor != nullptr)
            add(tensor.get(), static_cast<std::size_t>(tensor->count()) * sizeof(float));
    };
    const Problem& problem = state.document->problem;
    const Problem& unedited = state.document->unedited != nullptr ? *state.document->unedited : problem;
    visit_fields(
        [&](const Field&, const auto& value, const auto& before) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TensorPtr>)
                if (state.document->is_experiment() || value != before) // a checkpoint's own stay in its file
                    add_tensor(value);
        },
        problem, unedited);
    if (const RunSpecPtr part = state.document->is_checkpoint() ? state.document->part() : nullptr)
        for (const auto& [attention, edits] : part->edits) {
            for (const auto& [weight, tensor] : edits.tensors)
                add_tensor(tensor);
            for (const auto& [table, rows] : edits.rows)
                for (const auto& [row, numbers] : rows)
                    add_tensor(numbers);
            for (const checkpoint::PatchedRows& patch : edits.patched)
                add_tensor(patch.rows);
        }
    for (const MaskRule& rule : state.document->recipe.painted_mask)
        if (const auto* painted = std::get_if<ExplicitMask>(&rule))
            add(painted->allowed.get(), painted->allowed->values.size());
}

void History::keep_budget() {
    if (bytes_ <= byte_budget_ / 4)
        return;
    // Drop a little more than needed, because erasing at the front moves all later states.
    const std::size_t usual = byte_budget_ / 4, spare = usual / 16;
    const auto too_many = [&](std::size_t older) {
        return bytes_ > byte_budget_ || (older > min_undo_steps && bytes_ > usual - spare);
    };
    std::size_t drop = 0;
    while (drop < position_ && too_many(position_ - drop))
        count(states_[drop++], -1);
    states_.erase(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(drop));
    position_ -= drop;
    dropped_ += drop;
}

std::vector<std::string> steps_of(const History& history) {
    constexpr std::size_t most = 100;
    const auto& states = history.states();
    std::vector<std::string> steps = states.front().steps_before_saving;
    for (std::size_t i = 1; i <= history.position(); ++i)
        steps.push_back(states[i].label);
    if (steps.size() > most)
        steps.erase(steps.begin(), steps.end() - most);
    return steps;
}

} // namespace headscope::app
