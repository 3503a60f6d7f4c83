#include "app/commands/screens/flow_change.h"

#include "app/state/view_state.h"
#include "core/base/overloaded.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float lit_seconds = 0.12F, reading_seconds_per_character = 0.06F, longest_frame = 0.1F;
constexpr float tenth_of_second = 0.1F;

void focus_flow_word(ViewState& view, std::int64_t word, std::int64_t Tq) {
    view.flow.word = std::clamp<std::int64_t>(word, 0, Tq - 1);
    view.flow.time = 0;
    view.flow.step_seconds = 0;
    view.selected.reset();
}

void step_flow(ViewState& view, const StepFlow& change) {
    FlowView& flow = view.flow;
    flow.step_seconds = 0;
    if (flow.story.empty())
        return;
    if (!change.whole) {
        flow.time = std::clamp(flow.time + tenth_of_second * static_cast<float>(change.by), 0.0F,
                               flow.story.duration());
        return;
    }
    // A step is shown at its end, which has everything that it adds.
    constexpr float near = 0.01F;
    const auto& starts = flow.story.starts;
    if (change.by > 0) {
        const auto next = std::ranges::find_if(starts, [&](float at) { return at > flow.time + near; });
        flow.time = next == starts.end() ? flow.story.duration() : *next;
    } else {
        const auto next = std::ranges::find_if(starts, [&](float at) { return at >= flow.time - near; });
        flow.time = next == starts.begin() ? 0.0F : *(next - 1);
    }
}

/// Returns true if the sentence of the step has been shown long enough to read it.
bool flow_step_was_read(const FlowView& flow, FlowStep step) {
    return !flow.wait_for_reading ||
           flow.step_seconds >= reading_seconds_per_character *
                                    static_cast<float>(flow.characters[static_cast<std::size_t>(step)]);
}

void play_flow(ViewState& view, float seconds) {
    FlowView& flow = view.flow;
    constexpr float before_end = 0.001F; // the instant still belongs to the step
    const FlowStep step = flow.story.step_at(flow.time);
    const float end = flow.story.end(step);
    flow.step_seconds += seconds;
    const float spent = flow.step_seconds * view.speed, length = end - flow.story.start(step);
    if (!view.animates()) { // steps instead of motion
        flow.time = end - before_end;
        if (spent < length || !flow_step_was_read(flow, step))
            return;
    } else {
        flow.time += seconds * view.speed;
        if (flow.time < end)
            return;
        if (!flow_step_was_read(flow, step)) {
            flow.time = end - before_end;
            return;
        }
    }
    flow.step_seconds = 0;
    flow.time = std::max(flow.time, end);
    if (end >= flow.story.duration()) {
        flow.time = flow.story.duration();
        view.playing = false;
        flow.tour.looked = true;
    }
}

} // namespace

void apply(ViewState& view, const FlowChange& change, std::int64_t Tq) {
    std::visit(
        Overloaded{[&](const FocusFlowWord& c) { focus_flow_word(view, c.word, Tq); },
                   [&](const MoveFlowWord& c) { focus_flow_word(view, flow_word(view.flow, Tq) + c.by, Tq); },
                   [&](const SetFlowTime& c) {
                       view.flow.time = std::max(c.time, 0.0F);
                       view.flow.step_seconds = 0;
                   },
                   [&](const StepFlow& c) {
                       view.playing = false;
                       step_flow(view, c);
                   },
                   [&](const WaitForReading& c) { view.flow.wait_for_reading = c.on; },
                   [&](const OpenFlowParameters& c) {
                       std::optional<TensorId>& open = view.flow.parameters;
                       open = open == c.tensor ? std::nullopt : std::optional(c.tensor);
                   },
                   [&](const EditFlowWord& c) {
                       view.flow.edited = c.word;
                       if (!c.word)
                           return;
                       view.playing = false;
                       if (!c.word->of_second)
                           focus_flow_word(view, c.word->word, Tq);
                   },
                   [&](const OfferFlowTour& c) {
                       view.flow.tour = {.offered = c.offered};
                       view.flow.wait_for_reading = c.offered;
                   }},
        change);
}

void toggle_flow_play(ViewState& view) {
    view.playing = !view.playing;
    view.flow.edited.reset();
    view.flow.step_seconds = 0;
    if (view.playing && view.flow.time >= view.flow.story.duration())
        view.flow.time = 0;
}

bool advance_flow(ViewState& view, float seconds) {
    FlowView& flow = view.flow;
    seconds = std::min(seconds, longest_frame);
    flow.lit = view.animates() ? std::min(1.0F, flow.lit + seconds / lit_seconds) : 1.0F;
    if (view.playing && !flow.story.empty())
        play_flow(view, seconds);
    return view.playing || flow.lit < 1;
}

template class OneOf<FlowChanges>;

} // namespace headscope::app
