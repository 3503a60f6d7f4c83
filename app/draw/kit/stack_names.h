#pragma once

#include "app/draw/kit/controls.h"
#include "core/base/message.h"
#include "core/checkpoint/model/stacks.h"

#include <span>
#include <string_view>
#include <vector>

namespace headscope::app {

/// The names of one of the three attention stacks of an encoder-decoder.
struct StackNames {
    checkpoint::Stack stack;
    Message name;            ///< "Decoder self"
    Message title;           ///< "Decoder self-attention"
    Message reads;           ///< "target reads earlier target"
    Message mask;            ///< "causal"
    std::string_view action; ///< id in the table of actions
};
/// In the order of computation.
std::span<const StackNames> named_stacks();
const StackNames& names_of_stack(checkpoint::Stack stack);

/// The switch between the three stacks; that of context.view is on.
std::vector<Segment> stack_segments(const DrawContext& context);

} // namespace headscope::app
