#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/head_projection.h"
#include "core/engine/vulkan/attention_run.h"
#include "core/engine/weights_map.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headscope::vulkan {

/// The queries, keys and mask of one head on a device, and the softmax parameters of the rows that were read.
/// Computes rectangles of weights, and pools parts of the map in one pass over their scores. For one thread,
/// which must have exclusive use of the device. Members throw what LongMap::pooled throws.
class HeadMap {
public:
    HeadMap(const Problem& problem, std::int64_t b, std::int64_t h, const engine::ProjectedHead& head,
            Gpu& gpu, bool share);

    /// Computes the softmax of those rows of the part that have allowed keys in it and were not read before.
    void compute_new_softmax(const MapPart& part, Progress& progress);
    /// Weights of rows that were read, (rows, cols).
    Tensor weights(const MapPart& part, Progress& progress);
    /// The largest weight and the sum of weights of each pixel of each part, one row of pixels after another.
    /// The parts must have the same columns. With `find`, they must have all columns, and the softmax of
    /// unread rows is computed in the same pass.
    std::vector<float> pool(const std::vector<MapPart>& parts, std::int64_t cells, bool find,
                            Progress& progress);
    /// The maximum number of rows with so many pixels that one call of pool() computes.
    std::int64_t rows_of_pixels(std::int64_t width) const;

private:
    /// Rows that one dispatch reads together.
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
    bool all_have_softmax(std::int64_t first, std::int64_t rows) const;

    Dims dims_; ///< of the whole problem
    std::int64_t b_, h_;
    MaskRows masks_;
    Gpu& gpu_;
    Arena arena_;
    Kernels kernels_;
    Scoring scoring_; ///< of this head alone
    float sink_;
    std::vector<std::uint8_t> has_softmax_; ///< rows whose softmax is on the device
};

} // namespace headscope::vulkan
