#pragma once

#include <cstdint>

namespace headscope {

/// Rows [row, row + rows) and columns [col, col + cols) of an attention map.
struct MapPart {
    std::int64_t row = 0, col = 0, rows = 0, cols = 0;
    bool operator==(const MapPart&) const = default;
};

} // namespace headscope
