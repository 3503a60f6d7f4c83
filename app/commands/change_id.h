#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headscope::app {

/// Identifies the target of a history entry. Entries of one gesture with the same target are merged.
struct ChangeId {
    std::size_t kind = 0;             ///< kind of command; 0: never the same as another
    std::array<std::int64_t, 9> of{}; ///< the cell, block, head or layer
    bool same_as(const ChangeId& other) const { return kind != 0 && kind == other.kind && of == other.of; }
};

} // namespace headscope::app
