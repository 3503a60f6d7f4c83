#pragma once

#include "core/checkpoint/model/stacks.h"
#include "core/trace/tensor_id.h"

#include <cstdint>
#include <vector>

namespace headscope::app {

struct ModelPart;

/// The stops of attention, which every problem has.
std::vector<StageGroup> attention_stops();

/// The stops that can be walked, from left to right. A problem has one layer, and that has attention alone.
struct Walk {
    std::vector<StageGroup> before = {}; ///< the first layer; empty where attention is all there is
    std::vector<StageGroup> layer = attention_stops(); ///< of the open layer
    std::vector<StageGroup> after = {};                ///< the last layer
    std::int64_t layers = 1;

    /// Whether there is more than attention.
    bool whole_block() const { return !before.empty(); }
    bool has(StageGroup stop) const;
    /// `before`, `layer` or `after`: the one with that stop; `layer` for a stop that is in none.
    const std::vector<StageGroup>& part_with(StageGroup stop) const;
    StageGroup first() const { return before.empty() ? layer.front() : before.front(); }
    StageGroup last() const { return after.empty() ? layer.back() : after.back(); }
    bool operator==(const Walk&) const = default;
};

/// A stop of one layer; of a stop before or after the layers the layer says nothing.
struct WalkPlace {
    StageGroup stop;
    std::int64_t layer;
};
/// One stop to the right (+1) or to the left (-1), into the next layer at the end of one. The ends stay.
WalkPlace stepped(const Walk& walk, WalkPlace from, int by);

/// The stops of a stack of a checkpoint with layer l open. A layer of a decoder that reads an encoder is
/// walked in two stacks: to its cross-attention, and from there on.
Walk walk_of(const ModelPart& part, checkpoint::Stack stack, std::int64_t l);

} // namespace headscope::app
