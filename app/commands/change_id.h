#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope::app {

/// What a step of the history changes. Steps of one gesture that change the same are one step.
struct ChangeId {
    std::size_t kind = 0;             ///< of the command; 0: like no other step
    std::array<std::int64_t, 9> of{}; ///< which cell, block, head or layer
    bool same_as(const ChangeId& other) const { return kind != 0 && kind == other.kind && of == other.of; }
};

} // namespace headscope::app
