#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/head_projection.h"
#include "core/engine/vulkan/run.h"
#include "core/engine/weights_map.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headscope::vulkan {

/// The queries, keys and mask of one head on a device, and the softmax of the rows that were read. Of a map
/// it makes rectangles of weights, and pools parts in one pass over their scores. For one thread, while it
/// has the device. Members throw what LongMap::pooled throws.
class HeadMap {
public:
    HeadMap(const Problem& problem, std::int64_t b, std::int64_t h, const engine::ProjectedHead& head,
            Gpu& gpu, bool share);

    /// The softmax of those rows of the part that have keys in it and were not read before.
    void read_new_rows(const MapPart& part, Progress& progress);
    /// Weights of rows that were read, (rows, cols).
    Tensor weights(const MapPart& part, Progress& progress);
    /// Of each pixel of each part the largest weight and the sum, row after row of pixels. The parts have the
    /// same columns. find: they have all, and the softmax of their rows is found on the way where it is not
    /// known.
    std::vector<float> pool(const std::vector<MapPart>& parts, std::int64_t cells, bool find,
                            Progress& progress);
    /// How many rows of so many pixels pool() makes at most in one call.
    std::int64_t rows_of_pixels(std::int64_t width) const;

private:
    /// Rows that are read together.
    struct Piece {
        Slab slab;
        Runs runs;
        PixelRows to;
    };
    std::pair<std::int64_t, std::int64_t> keys_of(std::int64_t first, std::int64_t rows) const;
    Runs runs_of(const MapPart& part, std::int64_t cells, std::int64_t first, std::int64_t rows) const;
    bool fits(const Piece& piece) const;
    void add_pieces(std::vector<Piece>& pieces, const MapPart& part, std::int64_t cells,
                    const PixelRows& to) const;
    void read(const std::vector<Piece>& pieces, bool find, bool pool, Progress& progress);
    void check_faults();
    [[noreturn]] void fail_score(TensorId stage, std::int64_t i);
    bool all_known(std::int64_t first, std::int64_t rows) const;

    Dims dims_; ///< of the whole problem
    std::int64_t b_, h_;
    MaskRows masks_;
    Gpu& gpu_;
    Arena arena_;
    Kernels kernels_;
    Scoring scoring_; ///< of this head alone
    float sink_;
    std::vector<std::uint8_t> known_; ///< rows whose softmax is on the device
};

} // namespace headscope::vulkan
