#pragma once

#include "core/analysis/heads/head_map.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// One layer of the grid of heads.
struct HeadGridRow {
    std::vector<analysis::HeadMap> heads = {};
    std::string error = {};    ///< one sentence if the layer could not be read; `heads` is then empty
    std::uint64_t version = 0; ///< unique among all rows of the process
};

/// The grid of heads: small maps of all heads of a set of attention weights, as far as they are available.
/// For the thread that draws.
class HeadGrid {
public:
    HeadGrid() = default;
    HeadGrid(const HeadGrid&) = delete;
    HeadGrid& operator=(const HeadGrid&) = delete;
    virtual ~HeadGrid() = default;

    virtual const AttentionInfo& info() const = 0;
    /// Null until the layer has been read. `l` in [0, L).
    virtual std::shared_ptr<const HeadGridRow> row(std::int64_t l) const = 0;
    /// The number of layers that have been read or have failed.
    virtual std::int64_t ready() const = 0;
};

} // namespace headscope::app
