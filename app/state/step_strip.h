#pragma once

#include "core/checkpoint/model/stacks.h"
#include "core/trace/tensor_id.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

struct RunSpec;

/// The steps of attention, which every problem has.
std::vector<StageGroup> attention_steps();

/// The steps of the strip, from left to right. A problem has one layer, which consists of attention alone.
struct StepStrip {
    std::vector<StageGroup> before = {}; ///< steps before the first layer; empty: attention only
    std::vector<StageGroup> layer = attention_steps(); ///< steps of the open layer
    std::vector<StageGroup> after = {};                ///< steps after the last layer
    std::int64_t layers = 1;

    /// Returns true if there are steps other than those of attention.
    bool whole_block() const { return !before.empty(); }
    bool has(StageGroup step) const;
    /// Returns the one of `before`, `layer` and `after` that has the step; `layer` if none has it.
    const std::vector<StageGroup>& section_with(StageGroup step) const;
    StageGroup first() const { return before.empty() ? layer.front() : before.front(); }
    StageGroup last() const { return after.empty() ? layer.back() : after.back(); }
    bool operator==(const StepStrip&) const = default;
};

/// A step in one layer; for a step before or after the layers, the layer is not used.
struct StripPosition {
    StageGroup step;
    std::int64_t layer;
};
/// Moves one step right (+1) or left (-1), into the neighboring layer at the end of a layer. Stops at both
/// ends.
StripPosition stepped(const StepStrip& strip, StripPosition from, int by);

/// Returns the steps of a stack of a checkpoint with layer l open. A decoder layer with cross-attention is
/// split between two stacks: up to its cross-attention, and from there on.
StepStrip step_strip_of(const RunSpec& part, checkpoint::Stack stack, std::int64_t l);

} // namespace headscope::app
