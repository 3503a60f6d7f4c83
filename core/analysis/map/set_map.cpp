#include "core/analysis/map/set_map.h"

#include "core/base/message.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headscope::analysis {

namespace {

constexpr std::int64_t read_at_once = std::int64_t{1} << 20U; ///< numbers

std::int64_t pixels_of(std::int64_t weights, std::int64_t cells) {
    return (weights + cells - 1) / cells;
}

} // namespace

SetMap::SetMap(AttentionSetPtr set, std::int64_t l, std::int64_t h) : set_(std::move(set)), l_(l), h_(h) {}

MapBand SetMap::band_of(const MapPart& part, std::int64_t cells, const Progress& cancel) const {
    Eigen::ArrayXf largest = Eigen::ArrayXf::Constant(part.cols, -std::numeric_limits<float>::infinity());
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(part.cols); // not finite where a weight is not
    const std::int64_t at_once = std::clamp<std::int64_t>(read_at_once / part.cols, 1, part.rows);
    std::vector<float> room(static_cast<std::size_t>(at_once * part.cols));
    for (std::int64_t first = 0; first < part.rows; first += at_once) {
        cancel.check();
        const std::int64_t rows = std::min(at_once, part.rows - first);
        set_->read_part(l_, h_, {part.row + first, part.col, rows, part.cols},
                        std::span(room).first(static_cast<std::size_t>(rows * part.cols)));
        for (std::int64_t i = 0; i < rows; ++i) {
            const Eigen::Map<const Eigen::ArrayXf> row(room.data() + i * part.cols, part.cols);
            largest = largest.max(row);
            sum += row.cast<double>();
        }
    }
    MapBand band;
    for (std::int64_t col = 0; col < part.cols; col += cells) {
        const std::int64_t count = std::min(cells, part.cols - col);
        const double total = sum.segment(col, count).sum();
        const bool finite = std::isfinite(total);
        band.largest.push_back(finite ? largest.segment(col, count).maxCoeff() : NAN);
        band.mean.push_back(finite ? static_cast<float>(total / static_cast<double>(part.rows * count))
                                   : NAN);
    }
    return band;
}

Tensor SetMap::pooled(const MapPart& part, std::int64_t cells, Pooling pooling, Progress& progress) const {
    check_part(rows(), cols(), part);
    const std::int64_t height = pixels_of(part.rows, cells), width = pixels_of(part.cols, cells);
    require_map_memory(
        static_cast<std::uint64_t>(height * width),
        tr("common.take_smaller_rectangle_overview", "take a smaller rectangle, or an overview"));
    Tensor out(Shape{height, width});
    if (cells == 1) {
        progress.check();
        set_->read_part(l_, h_, part, out.values());
        return out;
    }
    for (std::int64_t p = 0; p < height; ++p) {
        const MapPart under{part.row + p * cells, part.col, std::min(cells, part.rows - p * cells),
                            part.cols};
        const MapBand band = band_of(under, cells, progress);
        std::ranges::copy(pooling == Pooling::max ? band.largest : band.mean, out.data() + p * width);
        progress.report(static_cast<float>(p + 1) / static_cast<float>(height));
    }
    return out;
}

std::vector<MapBand> SetMap::bands(std::span<const std::int64_t> which, std::int64_t cells,
                                   Progress& progress) const {
    std::vector<MapBand> out;
    for (const std::int64_t p : which) {
        out.push_back(band_of({p * cells, 0, std::min(cells, rows() - p * cells), cols()}, cells, progress));
        progress.report(static_cast<float>(out.size()) / static_cast<float>(which.size()));
    }
    return out;
}

} // namespace headscope::analysis
