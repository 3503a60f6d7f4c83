#include "core/engine/weights_map.h"

#include "core/base/error.h"
#include "core/tensor/shape.h"

namespace headscope {

void check_part(std::int64_t rows, std::int64_t cols, const MapPart& part) {
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
        return first >= 0 && count >= 1 && count <= extent && first <= extent - count;
    };
    if (!inside(part.row, part.rows, rows) || !inside(part.col, part.cols, cols))
        fail_input("rows " + std::to_string(part.row) + " to " + std::to_string(part.row + part.rows) +
                   " and columns " + std::to_string(part.col) + " to " +
                   std::to_string(part.col + part.cols) +
                   " are asked for; the map has (Tq, Tk) = " + Shape({rows, cols}).text());
}

} // namespace headscope
