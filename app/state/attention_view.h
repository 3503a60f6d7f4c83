#pragma once

#include "core/analysis/reading_options.h"
#include "core/checkpoint/model/stacks.h"

#include <cstdint>
#include <string>

namespace headscope::app {

/// Which part of a head's map is looked at: 1 is the whole of it, and the middle of what is seen, as shares
/// of its width and height.
struct MapWindow {
    float zoom = 1;
    float x = 0.5F, y = 0.5F;
    bool operator==(const MapWindow&) const = default;
};

/// How attention weights of a file or a model are looked at.
struct AttentionView {
    checkpoint::Stack stack = checkpoint::Stack::own; ///< whose heads the board shows
    std::int64_t layer = 0;                           ///< of the head that is open, in that stack
    bool board = true;                                ///< all heads beside the open one
    std::string pattern = {}; ///< heads that do this are marked on the board; empty: none
    MapWindow map = {};
    analysis::ReadingOptions reading = {};  ///< how the weights are read otherwise than they are held
    analysis::ReadingOptions possible = {}; ///< what of that would do anything to them; follows the set
    bool log_colours = false;               ///< colours of weights by their logarithm
    bool operator==(const AttentionView&) const = default;
};

} // namespace headscope::app
