#include "app/jobs/recomputed.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace headscope::app {

namespace {

/// The heads of a stage that were computed: "" for all, else " of head 3" or " of 2 heads".
std::string heads_text(const Trace& trace, TensorId id) {
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
        return "";
    return count == 1 ? " of head " + std::to_string(last) : " of " + std::to_string(count) + " heads";
}

} // namespace

std::string recomputed_text(const Trace& trace) {
    const StageSet stages = trace.computed.stages();
    const StageSet there = StageSet::of(trace.parts);
    const std::string all = std::to_string(
        std::ranges::count_if(stage_table(), [&](const TensorInfo& stage) { return there.has(stage.id); }));
    if (stages == there)
        return "Recomputed all " + all + " stages.";
    // Stages of the same heads stand together.
    std::vector<std::pair<std::string, std::string>> groups;
    int count = 0;
    for (const TensorInfo& stage : stage_table()) {
        if (!stages.has(stage.id))
            continue;
        ++count;
        const std::string heads = heads_text(trace, stage.id);
        const auto group = std::ranges::find(groups, heads, [](const auto& g) { return g.first; });
        if (group == groups.end())
            groups.emplace_back(heads, stage.name);
        else
            group->second += ", " + std::string(stage.name);
    }
    if (count == 0)
        return "Recomputed nothing: no number changed.";
    std::string text;
    for (const auto& [heads, names] : groups)
        text += (text.empty() ? "" : "; ") + names + heads;
    return "Recomputed " + std::to_string(count) + " of " + all + " stages: " + text + ".";
}

} // namespace headscope::app
