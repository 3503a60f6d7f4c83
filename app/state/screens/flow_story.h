#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope::app {

/// The steps of the story of one word in one head, in order.
enum class FlowStep : std::uint8_t {
    query,   ///< the row of X becomes the query
    compare, ///< the query meets one key after another
    scale,   ///< the scores are divided by sqrt(dk)
    softmax, ///< the scores become weights
    mix,     ///< the values are added up by their weights
    write,   ///< the row of the head output is complete
    join     ///< the heads are joined, and W_O mixes them
};
inline constexpr int flow_step_count = 7;

/// The times of a story in seconds of motion at normal speed. A pure function of the weights of the word, so
/// that any instant can be drawn without the ones before it.
struct FlowStory {
    std::array<float, flow_step_count + 1> starts{}; ///< of each step; the last one is the end
    std::vector<float> key_starts;                   ///< Tk + 1 fractions of the time for all keys

    float duration() const { return starts.back(); }
    float start(FlowStep step) const { return starts[static_cast<std::size_t>(step)]; }
    float end(FlowStep step) const { return starts[static_cast<std::size_t>(step) + 1]; }
    /// The step at a time; the last step after the end.
    FlowStep step_at(float time) const;
    /// The fraction of a step that has passed: 0 before it, 1 after it.
    float progress(FlowStep step, float time) const;
    /// The fraction of key j's part of `compare` that has passed.
    float compared(std::size_t key, float time) const;
    /// The fraction of the way of value j in `mix`. Two neighboring values are under way at the same time.
    float mixed(std::size_t key, float time) const;
    bool empty() const { return key_starts.empty(); }
};

/// No story is longer than this many seconds.
inline constexpr float longest_flow_story = 12;
/// Above four keys, the keys with a smaller weight share the time of one key.
inline constexpr float least_told_weight = 0.05F;

/// The story of a word with these weights, one for each key.
FlowStory flow_story(std::span<const float> weights);

/// Starts and ends slowly: cubic, from 0 to 1.
float ease_in_out(float t);

} // namespace headscope::app
