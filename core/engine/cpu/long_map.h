#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>

namespace headscope::cpu {

struct CpuMachine;

/// What a pixel shows of the weights that it stands for.
enum class Pooling : std::uint8_t { max, mean };

/// A map of weights made smaller.
struct Overview {
    Tensor pixels; ///< (ceil(Tq / cells), ceil(Tk / cells))
    std::int64_t cells =
        1; ///< a pixel stands for cells x cells weights, at the last row and column for fewer
};

/// Rows [row, row + rows) and columns [col, col + cols) of a map.
struct MapPart {
    std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// Throws Error(input) when a problem of these sizes has no head h or no batch entry b.
void check_head(const Dims& dims, std::int64_t b, std::int64_t h);
/// Throws Error(input) when the part is empty or leaves a map of these sizes.
void check_part(const Dims& dims, const MapPart& part);

/// The attention weights (Tq, Tk) of one head, of any length: they are made where they are asked for and
/// never held together. Memory: queries and keys of the head, and a few megabytes for each thread. A row that
/// may attend to nothing has weights 0. Results do not depend on the number of threads. For one thread at a
/// time.
class LongMap {
public:
    /// Head h of batch entry b. Projects the queries and keys of this head with `projections`, or of all
    /// heads where a norm joins them. Throws Error(input) for an invalid problem, for a head or entry that it
    /// has not and for numbers beyond float32's range; MemoryShortage; Error(cancelled).
    LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
            std::shared_ptr<CpuMachine> machine, Progress& progress);
    ~LongMap();

    /// (part.rows, part.cols): the weights themselves. Reads all keys of the rows. Throws Error(input) when
    /// the part leaves the map and for scores beyond float32's range; MemoryShortage; Error(cancelled).
    Tensor rectangle(const MapPart& part, Progress& progress) const;
    /// The whole map in one pass over the scores, with at most `most` >= 1 pixels a side. Threads share rows
    /// of pixels. Throws likewise.
    Overview overview(std::int64_t most, Pooling pooling, Progress& progress) const;

    std::int64_t rows() const { return problem_.dims.Tq; }
    std::int64_t cols() const { return problem_.dims.Tk; }

private:
    struct State;
    Problem problem_;
    std::unique_ptr<State> state_;
};

} // namespace headscope::cpu
