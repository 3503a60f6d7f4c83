#include "app/jobs/recomputed.h"

#include "core/base/message.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace headscope::app {

namespace {

/// The heads of a stage that were computed.
struct ComputedHeads {
    std::int64_t count = 0; ///< 0: all heads
    std::int64_t only = -1; ///< the head, if there is exactly one
    bool operator==(const ComputedHeads&) const = default;
};

ComputedHeads computed_heads(const Trace& trace, TensorId id) {
    const auto& axes = tensor_info(id).axes;
    const bool kv = std::ranges::any_of(
        axes, [](Axis a) { return a == Axis::Hkv || a == Axis::Hkv_dk || a == Axis::Hkv_dv; });
    const std::int64_t heads = kv ? trace.dims.Hkv : trace.dims.H;
    std::int64_t count = 0, last = 0;
    for (std::int64_t h = 0; h < heads; ++h)
        if (trace.computed.has(id, h)) {
            ++count;
            last = h;
        }
    if (trace.computed.whole.has(id) || count == heads)
        return {};
    return {count, count == 1 ? last : -1};
}

std::string group_text(const ComputedHeads& heads, const std::string& stages) {
    // Translators: {} are the names of stages
    return heads.count == 0   ? stages
           : heads.count == 1 ? tr("recomputed.head", "{} of head {}", stages, heads.only)
                              : tr("common.heads_2", "{} of {} heads", stages, heads.count);
}

} // namespace

std::string recomputed_text(const Trace& trace) {
    const StageSet stages = trace.computed.stages();
    const StageSet there = StageSet::of(trace.parts);
    const auto all =
        std::ranges::count_if(stage_table(), [&](const TensorInfo& stage) { return there.has(stage.id); });
    if (stages == there)
        return tr("recomputed.recomputed_all_stages", "Recomputed all {} stages.", all);
    // Group the stages by heads.
    std::vector<std::pair<ComputedHeads, std::string>> groups;
    int count = 0;
    for (const TensorInfo& stage : stage_table()) {
        if (!stages.has(stage.id))
            continue;
        ++count;
        const ComputedHeads heads = computed_heads(trace, stage.id);
        const auto group = std::ranges::find(groups, heads, [](const auto& g) { return g.first; });
        if (group == groups.end())
            groups.emplace_back(heads, stage.name);
        else
            group->second += ", " + std::string(stage.name);
    }
    if (count == 0)
        return tr("recomputed.recomputed_nothing_no_number", "Recomputed nothing: no number changed.");
    std::string text;
    for (const auto& [heads, names] : groups)
        text += (text.empty() ? "" : "; ") + group_text(heads, names);
    return tr("recomputed.recomputed_stages", "Recomputed {} of {} stages: {}.", count, all, text);
}

} // namespace headscope::app
