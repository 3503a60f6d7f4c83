#pragma once

#include "core/analysis/heads/head_map.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// One layer of a board.
struct BoardRow {
    std::vector<analysis::HeadMap> heads = {};
    std::string error = {};    ///< one sentence when the layer could not be read; then there are no heads
    std::uint64_t version = 0; ///< no two rows of the program have the same
};

/// All heads of a set of attention weights as small maps, as far as they are there already. For the thread
/// that draws.
class HeadBoard {
public:
    HeadBoard() = default;
    HeadBoard(const HeadBoard&) = delete;
    HeadBoard& operator=(const HeadBoard&) = delete;
    virtual ~HeadBoard() = default;

    virtual const AttentionInfo& info() const = 0;
    /// Null while the layer has not been read. `l` in [0, L).
    virtual std::shared_ptr<const BoardRow> row(std::int64_t l) const = 0;
    /// How many layers have been read, or failed.
    virtual std::int64_t ready() const = 0;
};

} // namespace headscope::app
