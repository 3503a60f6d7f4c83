#pragma once

#include "core/run/plan.h"

#include <list>
#include <vector>

namespace headscope::run {

/// The plans of recent runs on one backend, which must outlive them. For one thread at a time.
class PlanCache {
public:
    explicit PlanCache(Backend& backend) : backend_(backend) {}

    /// A plan for these captures, interventions and given nodes; see Plan.
    PlanPtr find(const graph::Graph& graph, const std::vector<graph::Part>& captures,
                 const NodeInterventions& interventions, const std::vector<NodeId>& given = {});

private:
    Backend& backend_;
    std::list<PlanPtr> plans_; ///< the one used last first
};

} // namespace headscope::run
