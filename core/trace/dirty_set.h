#pragma once

#include "core/trace/stage_set.h"

#include <cstdint>
#include <vector>

namespace headscope {

/// The tensors that an edit changes, head by head. A tensor with an axis of heads is listed under its heads
/// (k, v and their splits under key/value heads); one without stands in `whole`.
struct DirtySet {
    StageSet whole;
    std::vector<StageSet> heads; ///< H entries

    /// Everything of these stages, as in a run from scratch.
    static DirtySet all(std::int64_t H, StageSet stages) {
        return {stages, std::vector<StageSet>(static_cast<std::size_t>(H), stages)};
    }
    bool has(TensorId id, std::int64_t head) const { return heads[static_cast<std::size_t>(head)].has(id); }
    /// What is dirty for some head or as a whole.
    StageSet stages() const {
        StageSet any = whole;
        for (const StageSet& head : heads)
            any = any | head;
        return any;
    }
    bool operator==(const DirtySet&) const = default;
};

} // namespace headscope
