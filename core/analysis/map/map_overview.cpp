#include "core/analysis/map/map_overview.h"

#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace headscope::analysis {

namespace {

std::int64_t steps(std::int64_t count, std::int64_t step) {
    return (count + step - 1) / step;
}

/// How far [first, first + count) lies from [begin, begin + length); 0 where they meet.
std::int64_t gap(std::int64_t first, std::int64_t count, std::int64_t begin, std::int64_t length) {
    return std::max<std::int64_t>({0, begin - (first + count - 1), first - (begin + length - 1)});
}

/// The largest of these numbers and `before`; NaN is left out.
float largest_number(const std::vector<float>& numbers, float before) {
    return std::accumulate(numbers.begin(), numbers.end(), before,
                           [](float a, float b) { return std::fmax(a, b); });
}

void add(MapOverview& overview, std::int64_t number, MapBand band) {
    overview.largest = largest_number(band.largest, overview.largest);
    overview.largest_mean = largest_number(band.mean, overview.largest_mean);
    overview.bands[static_cast<std::size_t>(number)] = std::make_shared<const MapBand>(std::move(band));
    ++overview.read;
}

/// The last band of [begin, end) that is read, or of those before; -1: there is none.
std::int64_t band_before(const MapOverview& overview, std::int64_t end) {
    while (end > 0 && overview.bands[static_cast<std::size_t>(end - 1)] == nullptr)
        --end;
    return end - 1;
}

/// NaN where one of both is.
constexpr auto larger_or_nan = [](double a, double b) {
    const double larger = a > b ? a : b; // b where b is NaN
    return std::isnan(a) ? a : larger;
};

/// Pixels of a band, and how many keys each of them stands for.
struct Pixels {
    std::int64_t first = 0, count = 0; ///< of the band's
    Eigen::ArrayXd keys = {};
};

Pixels pixels_over(const MapOverview& overview, const MapPart& part) {
    const std::int64_t first = part.col / overview.cells;
    const std::int64_t count = steps(part.col + part.cols, overview.cells) - first;
    Pixels out{first, count, Eigen::ArrayXd::Constant(count, static_cast<double>(overview.cells))};
    const std::int64_t last = overview.cols - (first + count - 1) * overview.cells;
    out.keys(count - 1) = static_cast<double>(std::min(overview.cells, last));
    return out;
}

/// Of several bands together: at each pixel the largest number, or the sum of all weights under it.
struct BandsTogether {
    Eigen::ArrayXd numbers;
    double queries = 0;
};

BandsTogether together(const MapOverview& overview, const std::vector<std::int64_t>& bands,
                       const Pixels& pixels, Pooling pooling) {
    BandsTogether out{Eigen::ArrayXd::Zero(pixels.count)};
    for (const std::int64_t number : bands) {
        const MapBand& band = *overview.bands[static_cast<std::size_t>(number)];
        const auto queries =
            static_cast<double>(std::min(overview.cells, overview.rows - number * overview.cells));
        out.queries += queries;
        if (pooling == Pooling::max)
            std::transform(out.numbers.begin(), out.numbers.end(), band.largest.begin() + pixels.first,
                           out.numbers.begin(), larger_or_nan);
        else
            out.numbers += queries * pixels.keys *
                           Eigen::Map<const Eigen::ArrayXf>(band.mean.data() + pixels.first, pixels.count)
                               .cast<double>();
    }
    return out;
}

} // namespace

std::int64_t overview_cells(std::int64_t rows, std::int64_t cols, std::int64_t most) {
    return static_cast<std::int64_t>(
        std::bit_ceil(static_cast<std::uint64_t>(steps(std::max(rows, cols), most))));
}

std::vector<std::int64_t> coarse_first(std::int64_t count, std::int64_t first) {
    std::vector<std::int64_t> order;
    std::int64_t step = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(count / first, 1))));
    for (std::int64_t n = 0; n < count; n += step)
        order.push_back(n);
    for (; step > 1; step /= 2)
        for (std::int64_t n = step / 2; n < count; n += step)
            order.push_back(n);
    return order;
}

MapOverview read_overview(const WeightsMap& map, std::int64_t most,
                          const std::function<void(const MapOverview&)>& put, const MapOverview* so_far,
                          Progress& progress) {
    using Clock = std::chrono::steady_clock;
    // A picture of it costs as much as some of the reading: the longer it takes, the rarer it is shown.
    constexpr Clock::duration between = std::chrono::milliseconds(150);
    constexpr int share_of_time = 12;
    constexpr std::int64_t rows_together = 64, groups_together = 8; ///< enough work for all threads
    MapOverview out;
    if (so_far != nullptr) {
        out = *so_far;
    } else {
        out = {.rows = map.rows(), .cols = map.cols(), .cells = overview_cells(map.rows(), map.cols(), most)};
        out.bands.resize(static_cast<std::size_t>(steps(out.rows, out.cells)));
    }
    const std::int64_t count = std::ssize(out.bands), group = steps(rows_together, out.cells);
    const std::vector<std::int64_t> order = coarse_first(steps(count, group));
    const auto start = Clock::now();
    auto last_put = start;
    for (std::size_t n = 0; n < order.size();) {
        std::vector<std::int64_t> which;
        for (std::int64_t taken = 0; n < order.size() && taken < groups_together; ++n) {
            const std::int64_t first = order[n] * group, end = std::min(count, first + group);
            const std::size_t before = which.size();
            for (std::int64_t band = first; band < end; ++band)
                if (out.bands[static_cast<std::size_t>(band)] == nullptr)
                    which.push_back(band);
            taken += which.size() > before ? 1 : 0;
        }
        if (which.empty())
            break;
        const auto share = [&](std::int64_t read) {
            return static_cast<float>(read) / static_cast<float>(count);
        };
        progress.set_part(share(out.read), share(out.read + std::ssize(which)));
        std::vector<MapBand> bands = map.bands(which, out.cells, progress);
        for (std::size_t b = 0; b < which.size(); ++b)
            add(out, which[b], std::move(bands[b]));
        if (const auto now = Clock::now();
            now - last_put > std::max(between, (now - start) / share_of_time)) {
            put(out);
            last_put = now;
        }
    }
    return out;
}

MapPart part_under(const MapTile& tile, std::int64_t side, std::int64_t rows, std::int64_t cols) {
    const std::int64_t across = side << tile.scale;
    MapPart part{tile.row * across, tile.col * across, 0, 0};
    part.rows = std::clamp<std::int64_t>(rows - part.row, 0, across);
    part.cols = std::clamp<std::int64_t>(cols - part.col, 0, across);
    return part;
}

std::vector<MapTile> tiles_for(const MapPart& view, int scale, std::int64_t side, std::int64_t around,
                               std::int64_t rows, std::int64_t cols) {
    const std::int64_t across = side << scale;
    const auto range = [&](std::int64_t first, std::int64_t count, std::int64_t extent) {
        const auto floor = [&](std::int64_t n) { return n >= 0 ? n / across : -steps(-n, across); };
        return std::pair(std::max<std::int64_t>(floor(first) - around, 0),
                         std::min(floor(first + count - 1) + around, (extent - 1) / across));
    };
    const auto [top, bottom] = range(view.row, view.rows, rows);
    const auto [left, right] = range(view.col, view.cols, cols);
    std::vector<std::tuple<std::int64_t, std::int64_t, MapTile>> found;
    for (std::int64_t row = top; row <= bottom; ++row)
        for (std::int64_t col = left; col <= right; ++col)
            found.emplace_back(std::max(gap(row * across, across, view.row, view.rows),
                                        gap(col * across, across, view.col, view.cols)),
                               std::abs(row - col), MapTile{scale, row, col});
    std::ranges::sort(found);
    std::vector<MapTile> out;
    std::ranges::transform(found, std::back_inserter(out), [](const auto& one) { return std::get<2>(one); });
    return out;
}

TilePixels tile_of(const MapOverview& overview, const MapTile& tile, std::int64_t side, Pooling pooling) {
    const std::int64_t cells = std::int64_t{1} << tile.scale;
    const MapPart part = part_under(tile, side, overview.rows, overview.cols);
    TilePixels out{.rows = steps(part.rows, cells), .cols = steps(part.cols, cells)};
    out.values.assign(static_cast<std::size_t>(out.rows * out.cols), 0.0F);
    out.state.assign(static_cast<std::size_t>(out.rows), PixelRow::none);
    const std::int64_t count = std::ssize(overview.bands);
    const Pixels pixels = pixels_over(overview, part);
    std::vector<std::pair<std::int64_t, std::int64_t>> runs; // of each column: its first pixel, and how many
    for (std::int64_t col = 0; col < out.cols; ++col) {
        const std::int64_t left = (part.col + col * cells) / overview.cells - pixels.first;
        const std::int64_t end = steps(part.col + (col + 1) * cells, overview.cells) - pixels.first;
        runs.emplace_back(left, std::min(pixels.count, end) - left);
    }
    for (std::int64_t row = 0; row < out.rows; ++row) {
        const std::int64_t first = (part.row + row * cells) / overview.cells;
        const std::int64_t end = std::min(count, steps(part.row + (row + 1) * cells, overview.cells));
        std::vector<std::int64_t> from;
        for (std::int64_t band = first; band < end; ++band)
            if (overview.bands[static_cast<std::size_t>(band)] != nullptr)
                from.push_back(band);
        const bool all = std::ssize(from) == end - first && cells >= overview.cells;
        if (from.empty())
            from.push_back(band_before(overview, first));
        if (from.front() < 0)
            continue;
        out.state[static_cast<std::size_t>(row)] = all ? PixelRow::exact : PixelRow::coarse;
        const BandsTogether bands = together(overview, from, pixels, pooling);
        for (std::int64_t col = 0; col < out.cols; ++col) {
            const auto [left, width] = runs[static_cast<std::size_t>(col)];
            const auto numbers = bands.numbers.segment(left, width);
            const double pooled =
                pooling == Pooling::max
                    ? numbers.redux(larger_or_nan)
                    : numbers.sum() / (bands.queries * pixels.keys.segment(left, width).sum());
            out.values[static_cast<std::size_t>(row * out.cols + col)] = static_cast<float>(pooled);
        }
    }
    return out;
}

} // namespace headscope::analysis
