#include "app/state/find_step.h"

#include "core/trace/find_stop.h"
#include "core/trace/stage.h"

namespace headscope::app {

std::optional<StageGroup> find_step(const StepStrip& strip, std::string_view name) {
    if (const auto step = find_stop(name); step && strip.has(*step))
        return step;
    const auto around = find_block_stage(name), stage = around ? around : find_stage(name);
    if (!stage)
        return std::nullopt;
    if (const StageGroup group = tensor_info(*stage).group; strip.has(group))
        return group;
    // Without a norm after the attention branch, its output is added unchanged.
    const bool is_output = strip.whole_block() && *stage == TensorId::attn_out;
    return is_output ? std::optional(StageGroup::output) : std::nullopt;
}

} // namespace headscope::app
