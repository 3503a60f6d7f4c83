#include "core/engine/weights_map.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/tensor/shape.h"

#include <algorithm>
#include <numeric>

namespace headscope {

void check_part(std::int64_t rows, std::int64_t cols, const MapPart& part) {
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
        return first >= 0 && count >= 1 && count <= extent && first <= extent - count;
    };
    if (!inside(part.row, part.rows, rows) || !inside(part.col, part.cols, cols))
        fail_input(
            tr("weights_map.rows_columns_asked_map",
               "rows {} to {} and columns {} to {} are not all in the map, (Tq, Tk) = {}; choose others",
               part.row, part.row + part.rows, part.col, part.col + part.cols, Shape({rows, cols}).text()));
}

void require_map_memory(std::uint64_t numbers, const std::string& advice) {
    require_memory(numbers * sizeof(float), tr("weights_map.map", "this map"), advice);
}

Overview WeightsMap::overview(std::int64_t most, Pooling pooling, Progress& progress) const {
    constexpr std::int64_t numbers_at_once = std::int64_t{2} << 20U;
    if (most < 1)
        fail_input(tr("weights_map.overview_pixels_asked_should",
                      "an overview of {} pixels is empty; it should have at least 1 pixel a side", most));
    const std::int64_t longest = std::max(rows(), cols());
    const std::int64_t cells = divide_rounding_up(longest, std::min(most, longest));
    const std::int64_t height = divide_rounding_up(rows(), cells), width = divide_rounding_up(cols(), cells);
    // Bands contain both poolings. They are computed some at a time, enough for all threads.
    const std::int64_t at_once = std::clamp<std::int64_t>(numbers_at_once / width, 1, height);
    require_map_memory(
        static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height + 2 * at_once),
        tr("common.take_fewer_pixels_command", "take fewer pixels (on the command line --overview)"));
    Overview out{.pixels = Tensor(Shape{height, width}), .cells = cells};
    for (std::int64_t first = 0; first < height; first += at_once) {
        std::vector<std::int64_t> which(static_cast<std::size_t>(std::min(at_once, height - first)));
        std::iota(which.begin(), which.end(), first);
        progress.set_part(static_cast<float>(first) / static_cast<float>(height),
                          static_cast<float>(first + std::ssize(which)) / static_cast<float>(height));
        float* pixels = out.pixels.data() + first * width;
        for (const MapBand& band : bands(which, cells, progress))
            pixels = std::ranges::copy(pooling == Pooling::max ? band.largest : band.mean, pixels).out;
    }
    return out;
}

} // namespace headscope
