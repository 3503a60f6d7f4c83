#pragma once

#include "app/jobs/derived.h"
#include "app/session/session_state.h"
#include "app/state/prompts/prompt_numbers.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace headscope::app {

/// The list of prompts of a checkpoint (ModelState::prompts): its order, and the numbers of its prompts on
/// the screen that is visible, which a worker measures one prompt after the other. They stay known until the
/// list, the model or its edits change. For one thread.
class PromptListService {
public:
    PromptListService(SessionState& state, std::function<void()> wake)
        : state_(state), values_(std::move(wake)) {}
    ~PromptListService() { state_.model.prompts = nullptr; }
    PromptListService(const PromptListService&) = delete;
    PromptListService& operator=(const PromptListService&) = delete;

    /// Replaces the list; null: removes it.
    void open(PromptListPtr list);
    const PromptListPtr& list() const { return now_.list; }
    const PromptListState& now() const { return now_; }
    /// Remembers the prompt that the document will show.
    void show(std::size_t index) { shown_ = now_.open = index; }
    void sort(PromptOrder order);
    void show_mean(bool on) { now_.mean = on; }

    /// Requests what the view shows. Called before the mean is read.
    void follow();
    /// Compares the prompts with the mean, and publishes the state. Called once Shown::atlas is known, whose
    /// color says the score to compare.
    void publish();
    /// Returns true if the screen shows the mean, even if no prompt is measured yet.
    bool mean_on() const { return now_.list != nullptr && now_.shows_mean(); }
    /// Returns the numbers of the screen on which mean_on() is true; null until a prompt is measured.
    const std::shared_ptr<const NumbersOfPrompts>& numbers() const { return numbers_; }
    // The same as the screens show them; null for other screens.
    const std::shared_ptr<const Effects>& mean_effects() const { return effects_; }
    const std::shared_ptr<const EffectsSweep>& mean_sweep() const { return sweep_; }
    const std::shared_ptr<const PatchingView>& mean_patching() const { return patching_; }
    const std::string& error() const { return error_; } ///< why there are none, one sentence; may be empty
    /// Returns true if prompts of the mean on screen are pending or were stopped.
    bool can_measure() const { return mean_on() && now_.done < now_.count; }
    /// Stops or continues measuring the prompts.
    void measure(bool on);

    bool busy() const { return values_.pending(); }
    void wait() { values_.wait(); }

private:
    /// The objects that all numbers depend on. A new one for every change.
    struct Basis {
        PromptListPtr list;
        checkpoint::TextModelPtr model;
        checkpoint::ModelEdits edits;
    };
    void follow_basis();
    void follow_differences();
    void follow_numbers();
    void show_numbers(std::shared_ptr<const NumbersOfPrompts> numbers);
    /// Makes `key` the numbers on screen; empty: none. Stops the others, so that the worker is free.
    void leave(const std::string& key);

    SessionState& state_;
    PromptListState now_;
    checkpoint::TextModelPtr model_; ///< of the list
    std::optional<std::size_t> shown_;
    std::shared_ptr<const Basis> basis_;
    std::shared_ptr<const NumbersOfPrompts> numbers_;
    std::shared_ptr<const Effects> effects_; ///< made of numbers_, like the next two
    std::shared_ptr<const EffectsSweep> sweep_;
    std::shared_ptr<const PatchingView> patching_;
    std::string asked_; ///< the key of numbers_ on screen; empty: none
    std::string error_;
    std::set<std::string> stopped_; ///< keys that the user stopped
    DerivedValues values_;          ///< destroyed before the members that it uses
};

} // namespace headscope::app
