#include "app/state/screens/long_map_view.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Returns the first visible weight along an axis; negative if the map is centered.
double first_seen(double middle, double room, std::int64_t count) {
    const auto all = static_cast<double>(count);
    return all <= room ? (all - room) / 2 : std::clamp(middle - room / 2, 0.0, all - room);
}

/// Returns the size of a weight in pixels at which the whole map fits the viewport.
double fitting_pixels(const LongMapView& view, std::int64_t rows, std::int64_t cols) {
    return std::min({static_cast<double>(view.height) / static_cast<double>(rows),
                     static_cast<double>(view.width) / static_cast<double>(cols),
                     std::ldexp(1.0, -min_map_scale)});
}

} // namespace

int whole_scale(const LongMapView& view, std::int64_t rows, std::int64_t cols) {
    int scale = min_map_scale;
    while (std::ldexp(static_cast<double>(rows), -scale) > static_cast<double>(view.height) ||
           std::ldexp(static_cast<double>(cols), -scale) > static_cast<double>(view.width))
        ++scale;
    return scale;
}

VisibleMap visible_map(const LongMapView& view, std::int64_t rows, std::int64_t cols) {
    VisibleMap sight;
    const int whole = whole_scale(view, rows, cols);
    sight.scale = std::min(view.scale.value_or(whole), whole);
    sight.pixels = view.scale ? std::ldexp(1.0, -sight.scale) : fitting_pixels(view, rows, cols);
    // Snap to whole pixels, so that the value under the mouse matches the drawn pixel.
    const auto snapped = [&](double first) { return std::round(first * sight.pixels) / sight.pixels; };
    sight.top = snapped(first_seen(view.row, static_cast<double>(view.height) / sight.pixels, rows));
    sight.left = snapped(first_seen(view.col, static_cast<double>(view.width) / sight.pixels, cols));
    return sight;
}

MapPart visible_part(const LongMapView& view, std::int64_t rows, std::int64_t cols) {
    const VisibleMap sight = visible_map(view, rows, cols);
    const auto axis = [&](double first, float room, std::int64_t count) {
        const double end =
            std::min(first + static_cast<double>(room) / sight.pixels, static_cast<double>(count));
        const auto begin = static_cast<std::int64_t>(std::max(std::floor(first), 0.0));
        return std::pair(begin, std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(end)) - begin, 1));
    };
    const auto [row, rows_seen] = axis(sight.top, view.height, rows);
    const auto [col, cols_seen] = axis(sight.left, view.width, cols);
    return {row, col, rows_seen, cols_seen};
}

} // namespace headscope::app
