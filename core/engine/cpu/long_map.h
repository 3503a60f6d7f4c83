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

/// A map for sequences of any length: weights are computed on demand and never all in memory at once. Memory:
/// queries and keys of the head, the softmax parameters of each row that was read, and a few megabytes per
/// thread. A fully masked row has weights 0. Results do not depend on the number of threads. The softmax
/// parameters of a row are cached from its first read; runs of another length would change their last bit.
class LongMap final : public WeightsMap {
public:
    /// Head h of batch entry b. `projections` projects the queries and keys of this head, or of all heads if
    /// a norm combines them. Throws Error(input) for an invalid problem, for an invalid head or entry and for
    /// numbers outside float32's range; MemoryShortage; Error(cancelled).
    LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
            std::shared_ptr<CpuMachine> machine, Progress& progress);
    ~LongMap() override;

    /// Reads all keys for rows that no call has read before, and only the keys of the part for the others.
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    /// One pass over the scores of the rows. The bands are divided among threads.
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
