#include "app/state/find_step.h"

#include "core/trace/find_stop.h"
#include "core/trace/stage.h"

namespace headscope::app {

std::optional<StageGroup> find_step(const StepStrip& walk, std::string_view name) {
    if (const auto stop = find_stop(name); stop && walk.has(*stop))
        return stop;
    const auto around = find_block_stage(name), stage = around ? around : find_stage(name);
    if (!stage)
        return std::nullopt;
    if (const StageGroup group = tensor_info(*stage).group; walk.has(group))
        return group;
    // Without a norm after the attention branch, its output is added unchanged.
    const bool is_output = walk.whole_block() && *stage == TensorId::attn_out;
    return is_output ? std::optional(StageGroup::output) : std::nullopt;
}

} // namespace headscope::app
