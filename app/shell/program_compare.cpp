#include "app/shell/program.h"

#include "app/views/given_weights.h"
#include "core/base/error.h"

#include <algorithm>

namespace headscope::app {

namespace {

bool as_built(const project::Recipe& recipe) {
    return recipe.edits.empty() && recipe.gains.empty() && recipe.temperature == 1.0F;
}

} // namespace

void Program::list_history() {
    const auto& states = history_->states();
    auto& lines = state_.history;
    // A command only changes the end: the state on screen and what was undone.
    if (history_->dropped() != lines_dropped_)
        lines.clear();
    lines_dropped_ = history_->dropped();
    lines.resize(std::min({lines.size(), states.size(), history_->position()}));
    for (std::size_t i = lines.size(); i < states.size(); ++i)
        lines.push_back({states[i].label, states[i].detail});
    const DocumentPtr& baseline = state_.compare.baseline().document;
    for (std::size_t i = 0; i < states.size(); ++i)
        lines[i].baseline = baseline != nullptr && states[i].document == baseline;
    state_.history_position = history_->position();
}

void Program::mark_baseline(bool unedited) {
    if (state_.shown.trace == nullptr)
        return;
    if (reads_checkpoint(state_))
        fail_input("weights that are read otherwise than the model gives them are not compared: mark A at "
                   "another stage, or read them as they are (Heads)");
    if (!unedited || as_built(state_.document->recipe)) {
        const bool newest = state_.shown.document == state_.document;
        const std::string name = as_built(state_.shown.document->recipe) ? "as built"
                                 : newest ? "after " + history_->states()[history_->position()].label
                                          : "as it was marked";
        state_.compare.mark(state_.shown, name);
        list_history();
        return;
    }
    // The state of the history that it is, where there is one, so that the history can point at it.
    const auto& states = history_->states();
    const auto same = std::ranges::find_if(states, [&](const History::State& state) {
        return state.document->unedited == state_.document->unedited && as_built(state.document->recipe);
    });
    baseline_name_ = "as built";
    if (!baseline_runner_)
        baseline_runner_.emplace(engine::make_engine(options_.device), options_.wake);
    baseline_runner_->submit(same != states.end() ? same->document
                                                  : app::apply(state_.document, Command(ResetEdits{})));
}

void Program::update_comparison() {
    if (auto result = baseline_runner_ ? baseline_runner_->poll() : std::nullopt) {
        if (result->trace == nullptr) {
            state_.error = result->error;
        } else {
            state_.compare.mark({result->document, result->trace, std::move(result->metrics)},
                                baseline_name_);
            list_history();
        }
    }
    state_.compare.follow(state_.shown, state_.view.batch, state_.view.group);
}

bool Program::fade_flash(double seconds_since_last) {
    Flash& flash = state_.flash;
    if (flash_begins_) {
        flash_begins_ = false;
        flash.strength = can_flash(flash.before, state_.shown) ? 1.0F : 0.0F;
    } else if (flash.strength > 0) {
        flash.strength =
            std::max(0.0F, flash.strength - static_cast<float>(seconds_since_last / flash_seconds));
    }
    if (flash.strength == 0)
        flash.before = {};
    return flash.strength > 0;
}

} // namespace headscope::app
