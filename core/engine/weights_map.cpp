#include "core/engine/weights_map.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/shape.h"

namespace headscope {

void check_part(std::int64_t rows, std::int64_t cols, const MapPart& part) {
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
        return first >= 0 && count >= 1 && count <= extent && first <= extent - count;
    };
    if (!inside(part.row, part.rows, rows) || !inside(part.col, part.cols, cols))
        fail_input(tr("rows {} to {} and columns {} to {} are asked for; the map has (Tq, Tk) = {}", part.row,
                      part.row + part.rows, part.col, part.col + part.cols, Shape({rows, cols}).text()));
}

} // namespace headscope
