#include "core/engine/cpu/graph_backend.h"

#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"

namespace headscope::cpu {

std::vector<run::Step> CpuBackend::steps_after(std::vector<run::Step> first, const run::Needs& needs) {
    nodes::StepList list(needs, machine_);
    for (run::Step& step : first)
        list.add(std::move(step));
    nodes::add_attention(list);
    nodes::add_experts(list);
    nodes::add_mlps(list);
    nodes::add_products(list);
    nodes::add_head_rows(list);
    nodes::add_delta(list);
    nodes::add_layer_rows(list);
    nodes::add_score_biases(list);
    return list.take();
}

std::shared_ptr<Tensor> CpuBackend::make(const Shape& shape) {
    return std::make_shared<Tensor>(shape, machine_->store);
}

void CpuBackend::release() {
    machine_->store->release();
}

void CpuBackend::finish() {
    machine_->store->age();
}

} // namespace headscope::cpu
