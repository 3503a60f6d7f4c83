#include "core/run/plan_cache.h"

#include <algorithm>

namespace headscope::run {

PlanPtr PlanCache::find(const graph::Graph& graph, const std::vector<graph::Part>& captures,
                        const NodeInterventions& interventions, const std::vector<NodeId>& given) {
    constexpr std::size_t most_plans = 32;
    const auto found = std::ranges::find_if(plans_, [&](const PlanPtr& plan) {
        return plan->fits(graph, captures, interventions, backend_, given);
    });
    if (found != plans_.end())
        plans_.splice(plans_.begin(), plans_, found);
    else
        plans_.push_front(std::make_shared<const Plan>(graph, captures, interventions, backend_, given));
    if (plans_.size() > most_plans)
        plans_.pop_back();
    return plans_.front();
}

} // namespace headscope::run
