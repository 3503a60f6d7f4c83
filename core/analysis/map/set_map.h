#pragma once

#include "core/engine/weights_map.h"
#include "core/trace/attention_set.h"

#include <cstdint>

namespace headscope::analysis {

/// One head of a set of attention weights, read where it is looked at: what is asked of a part reads the rows
/// and keys of that part alone, some rows at a time.
class SetMap final : public WeightsMap {
public:
    /// l in [0, L), h in [0, H) of the set.
    SetMap(AttentionSetPtr set, std::int64_t l, std::int64_t h);

    std::int64_t rows() const override { return set_->info().Tq; }
    std::int64_t cols() const override { return set_->info().Tk; }
    Tensor pooled(const MapPart& part, std::int64_t cells, Pooling pooling,
                  Progress& progress) const override;
    std::vector<MapBand> bands(std::span<const std::int64_t> which, std::int64_t cells,
                               Progress& progress) const override;

private:
    /// One row of pixels.
    MapBand band_of(const MapPart& part, std::int64_t cells, const Progress& cancel) const;

    AttentionSetPtr set_;
    std::int64_t l_, h_;
};

} // namespace headscope::analysis
