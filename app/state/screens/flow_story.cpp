#include "app/state/screens/flow_story.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float query_seconds = 1.2F, compare_seconds = 0.8F, scale_seconds = 0.8F, softmax_seconds = 1.4F,
                value_seconds = 0.4F, write_seconds = 0.8F, join_seconds = 1.0F;
constexpr std::size_t keys_told_alone = 4;

float passed(float from, float to, float time) {
    return to > from ? std::clamp((time - from) / (to - from), 0.0F, 1.0F) : time >= to ? 1.0F : 0.0F;
}

} // namespace

FlowStep FlowStory::step_at(float time) const {
    int step = 0;
    while (step + 1 < flow_step_count && time >= starts[static_cast<std::size_t>(step) + 1])
        ++step;
    return static_cast<FlowStep>(step);
}

float FlowStory::progress(FlowStep step, float time) const {
    return passed(start(step), end(step), time);
}

float FlowStory::compared(std::size_t key, float time) const {
    const float from = start(FlowStep::compare), all = end(FlowStep::compare) - from;
    return passed(from + all * key_starts[key], from + all * key_starts[key + 1], time);
}

float FlowStory::mixed(std::size_t key, float time) const {
    // The first value starts with the step; the last one arrives at its end.
    const float from = start(FlowStep::mix), all = end(FlowStep::mix) - from;
    const float slots = static_cast<float>(key_starts.size());
    const float travel = all / std::max(slots, 2.0F), room = all - travel;
    return passed(from + room * key_starts[key], from + room * key_starts[key + 1] + travel, time);
}

FlowStory flow_story(std::span<const float> weights) {
    FlowStory story;
    const auto told_alone = [&](float weight) {
        return weights.size() <= keys_told_alone || weight >= least_told_weight;
    };
    const auto small =
        static_cast<float>(std::ranges::count_if(weights, [&](float weight) { return !told_alone(weight); }));
    const float slots =
        static_cast<float>(weights.size()) - small + (small > 0 ? 1.0F : 0.0F); // in times of one key
    float at = 0;
    for (const float weight : weights) {
        story.key_starts.push_back(at / slots);
        at += told_alone(weight) ? 1.0F : 1.0F / small;
    }
    story.key_starts.push_back(1);
    const std::array<float, flow_step_count> seconds{
        query_seconds,   compare_seconds * slots,     scale_seconds,
        softmax_seconds, value_seconds * (slots + 1), write_seconds,
        join_seconds};
    float all = 0;
    for (const float step : seconds)
        all += step;
    const float shrunk = std::min(1.0F, longest_flow_story / all);
    for (std::size_t step = 0; step < seconds.size(); ++step)
        story.starts[step + 1] = story.starts[step] + seconds[step] * shrunk;
    return story;
}

float ease_in_out(float t) {
    t = std::clamp(t, 0.0F, 1.0F);
    const float back = 1 - t;
    return t < 0.5F ? 4 * t * t * t : 1 - 4 * back * back * back;
}

} // namespace headscope::app
