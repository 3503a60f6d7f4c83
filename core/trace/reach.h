#pragma once

#include "core/trace/stage.h"

#include <cstdint>
#include <vector>

namespace headscope {

/// Which tensors an edit touches, head by head. A tensor with an axis of heads is listed under its heads (k,
/// v and their splits under key/value heads); one without stands in `whole`.
struct Reach {
    StageSet whole;
    std::vector<StageSet> heads; ///< H entries

    /// Everything of these stages, as in a run from scratch.
    static Reach all(std::int64_t H, StageSet stages = StageSet::all()) {
        return {stages, std::vector<StageSet>(static_cast<std::size_t>(H), stages)};
    }
    bool has(TensorId id, std::int64_t head) const { return heads[static_cast<std::size_t>(head)].has(id); }
    /// Touched somewhere.
    StageSet stages() const {
        StageSet any = whole;
        for (const StageSet& head : heads)
            any = any | head;
        return any;
    }
    bool operator==(const Reach&) const = default;
};

} // namespace headscope
