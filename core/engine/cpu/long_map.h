#pragma once

#include "core/attention/problem.h"
#include "core/base/progress.h"
#include "core/engine/engine.h"
#include "core/engine/weights_map.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>

namespace headscope::cpu {

struct CpuMachine;
class RowRuns;

/// Of any length: weights are made where they are asked for and never held together. Memory: queries and keys
/// of the head, the softmax of each row that was read, and a few megabytes for each thread. A row that may
/// attend to nothing has weights 0. Results do not depend on the number of threads. A row's softmax is kept
/// as it was found first; runs of another length would change its last bit.
class LongMap final : public WeightsMap {
public:
    /// Head h of batch entry b. Projects the queries and keys of this head with `projections`, or of all
    /// heads where a norm joins them. Throws Error(input) for an invalid problem, for a head or entry that it
    /// has not and for numbers beyond float32's range; MemoryShortage; Error(cancelled).
    LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
            std::shared_ptr<CpuMachine> machine, Progress& progress);
    ~LongMap() override;

    /// Reads all keys of the rows that no call has read before, and for the others those of the part alone.
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    /// One pass over the scores of the rows. Threads share the bands.
    std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                               Progress& progress) const override;
    std::int64_t rows() const override { return problem_.dims.Tq; }
    std::int64_t cols() const override { return problem_.dims.Tk; }

private:
    struct State;
    void make_bands(std::span<const std::int64_t> which, std::int64_t cells, RowRuns& runs, MapBand* out,
                    const Progress& cancel) const;

    Problem problem_;
    std::unique_ptr<State> state_;
};

} // namespace headscope::cpu
