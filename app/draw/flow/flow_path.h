#pragma once

#include "app/draw/flow/flow_parts.h"

#include <optional>
#include <vector>

namespace headscope::app {

/// Rows of every matrix that a cell, a word or a head depends on or contributes to, each with its share,
/// 0 to 1.
struct FlowPath {
    std::int64_t query = 0;               ///< the row of X, Q, the map and the outputs
    std::vector<bool> heads;              ///< H
    std::vector<std::vector<float>> keys; ///< the share of each key, for each head
    bool scores = true;                   ///< through queries and keys
    bool values = true;                   ///< through the values
    std::optional<CellAddress> cell = {}; ///< the cell under the mouse
};

/// The path of what is under the mouse; none if it is nothing of the Flow.
std::optional<FlowPath> flow_path(const FlowPage& page);
/// Makes the picture paler and draws the path over it. `lit`: 0 not yet, 1 completely.
void draw_flow_path(const FlowPage& page, const FlowPath& path, float lit);
/// The title and the sentence about the cell under the mouse.
struct FlowCellText {
    std::string title = {}, text = {};
};
FlowCellText flow_cell_text(const FlowPage& page, const FlowPath& path);

} // namespace headscope::app
