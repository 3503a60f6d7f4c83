#pragma once

#include "core/checkpoint/run/block_trace.h"
#include "core/export/pytorch_values.h"

#include <string>
#include <vector>

namespace headscope::exporting {

/// What a script of one layer of a checkpoint has beyond that of its attention.
struct ScriptLayer {
    std::vector<ScriptValue> inputs;   ///< resid_in and the weights around attention; x is computed from them
    std::vector<ScriptValue> expected; ///< what leaves the layer
    std::string before;                ///< text before the stages of attention, which sets x
    std::string after;                 ///< text behind them, down to what leaves the layer
    std::string checks;                ///< compares that, where the script compares
};

/// Of a layer with one MLP; `block.place.layer` >= 0. Throws Error(input) for a mixture of experts.
ScriptLayer script_layer(const checkpoint::BlockTrace& block);

} // namespace headscope::exporting
