#include "core/engine/cpu/rows/experts.h"

#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/cpu/rows/layer_rows.h"
#include "core/tensor/views.h"

#include <algorithm>

namespace headscope::cpu::nodes {

namespace {

/// The matrix and bias of one expert in parameters (experts, d_in, d_out) and (experts, d_out).
ExpertLinear expert_of(const Values& values, NodeId W, NodeId b, std::int64_t expert) {
    const Shape& shape = values[W].shape();
    return {.W = {table_row(values, W, expert), shape[2], shape[1], shape[2]},
            .b = b == no_node ? nullptr : table_row(values, b, expert),
            .owner = {}};
}

class RouteKernel final : public Kernel {
public:
    RouteKernel(NodeId id, const Node& node)
        : node_(id), numbers_(node.inputs[0].node), choice_bias_(optional_input(node, 1)),
          route_(std::get<graph::Route>(node.attributes)) {}
    void compute(Values& values, Progress&) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        std::ranges::copy(values[numbers_].values(), out->data());
        route_rows(out->values(), out->shape().back(0), route_,
                   choice_bias_ == no_node ? nullptr : values[choice_bias_].data());
    }

private:
    NodeId node_, numbers_, choice_bias_;
    graph::Route route_;
};

/// The nodes of a mixture: expert_sum(fractions, gate(x W_gate, x W_in), W_out).
struct Mixture {
    NodeId sum, act, gate, in;
    NodeId fractions, x, W_gate, b_gate, W_in, b_in, W_out, b_out;
    graph::Gate how;
    graph::Experts experts;
};

/// Computes the chosen experts of each token.
class MixtureKernel final : public Kernel {
public:
    MixtureKernel(Mixture mixture, std::shared_ptr<CpuMachine> machine)
        : m_(mixture), cpu_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override {
        if (Tensor* const out = values.out(m_.sum); out != nullptr)
            mix_experts(
                cpu_, values[m_.x], values[m_.fractions],
                [&](std::int64_t expert) {
                    return Expert{.gate = expert_of(values, m_.W_gate, m_.b_gate, expert),
                                  .in = expert_of(values, m_.W_in, m_.b_in, expert),
                                  .out = expert_of(values, m_.W_out, m_.b_out, expert)};
                },
                m_.how, m_.experts, *out, progress);
    }

private:
    Mixture m_;
    mutable CpuDense cpu_;
};

/// The fractions that multiply what an expert_linear reads; no_node if none do.
NodeId scale_of(const Node& node) {
    return std::get<graph::Experts>(node.attributes).scaled_input ? node.inputs[2].node : no_node;
}

/// The bias of an expert_linear; no_node if it has none.
NodeId bias_of(const Node& node) {
    return optional_input(node, scale_of(node) == no_node ? 2 : 3);
}

/// Empty if another kernel, a capture or an intervention needs the numbers in between.
std::optional<Mixture> find_mixture(const StepList& list, NodeId sum, const Node& node) {
    const NodeId act = node.inputs[1].node;
    if (!list.is_internal(act) || list.node(act).op != Op::gate)
        return std::nullopt;
    const auto& gate = std::get<graph::Gate>(list.node(act).attributes);
    const NodeId opens = list.node(act).inputs[0].node, in = list.node(act).inputs[1].node;
    const auto is_inner = [&](NodeId id, NodeId reader) {
        return list.is_internal(id) && list.node(id).op == Op::expert_linear &&
               list.readers(id) == std::vector<NodeId>{reader};
    };
    if (!has_gate_kernel(gate) || list.readers(act) != std::vector<NodeId>{sum} || !is_inner(opens, act) ||
        !is_inner(in, act) || list.node(opens).inputs[0].node != list.node(in).inputs[0].node)
        return std::nullopt;
    const auto& experts = std::get<graph::Experts>(node.attributes);
    for (const NodeId id : {opens, in})
        if (scale_of(list.node(id)) != (experts.scaled_input ? node.inputs[0].node : no_node))
            return std::nullopt;
    return Mixture{.sum = sum,
                   .act = act,
                   .gate = opens,
                   .in = in,
                   .fractions = node.inputs[0].node,
                   .x = list.node(in).inputs[0].node,
                   .W_gate = list.node(opens).inputs[1].node,
                   .b_gate = bias_of(list.node(opens)),
                   .W_in = list.node(in).inputs[1].node,
                   .b_in = bias_of(list.node(in)),
                   .W_out = node.inputs[2].node,
                   .b_out = optional_input(node, 3),
                   .how = gate,
                   .experts = experts};
}

/// x times the matrix of every expert, for a node that is captured.
class ExpertLinearKernel final : public Kernel {
public:
    ExpertLinearKernel(NodeId id, const Node& node, std::shared_ptr<CpuMachine> machine)
        : node_(id), x_(node.inputs[0].node), W_(node.inputs[1].node), scale_(scale_of(node)),
          b_(bias_of(node)), cpu_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const Tensor& x = values[x_];
        const std::int64_t depth = x.shape().back(0), rows = x.count() / depth, experts = out->shape()[2],
                           width = out->shape()[3];
        Tensor of_expert(Shape{rows, width}), scaled(Shape{scale_ == no_node ? 0 : rows, depth});
        for (std::int64_t e = 0; e < experts; ++e) {
            const ExpertLinear expert = expert_of(values, W_, b_, e);
            for (std::int64_t row = 0; row < scaled.shape()[0]; ++row)
                MutableRow(scaled.data() + row * depth, depth) =
                    values[scale_].data()[row * experts + e] * ConstRow(x.data() + row * depth, depth);
            const float* const read = scale_ == no_node ? x.data() : scaled.data();
            cpu_.multiply({read, depth, rows, depth}, expert.W, expert.b, of_expert.data(), progress);
            for (std::int64_t row = 0; row < rows; ++row)
                std::copy_n(of_expert.data() + row * width, width, out->data() + (row * experts + e) * width);
        }
    }

private:
    NodeId node_, x_, W_, scale_, b_;
    mutable CpuDense cpu_;
};

/// The sum over the chosen experts, from their activations.
class ExpertSumKernel final : public Kernel {
public:
    ExpertSumKernel(NodeId id, const Node& node, std::shared_ptr<CpuMachine> machine)
        : node_(id), fractions_(node.inputs[0].node), act_(node.inputs[1].node), W_(node.inputs[2].node),
          b_(optional_input(node, 3)), how_(std::get<graph::Experts>(node.attributes)),
          cpu_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override {
        if (Tensor* const out = values.out(node_); out != nullptr)
            sum_experts(
                cpu_, values[act_], values[fractions_],
                [&](std::int64_t expert) { return expert_of(values, W_, b_, expert); }, how_, *out, progress);
    }

private:
    NodeId node_, fractions_, act_, W_, b_;
    graph::Experts how_;
    mutable CpuDense cpu_;
};

} // namespace

void add_experts(StepList& list) {
    list.for_each(Op::route, [&](NodeId id, const Node& node) {
        list.add_rows(id, std::make_unique<RouteKernel>(id, node));
    });
    list.for_each(Op::expert_sum, [&](NodeId id, const Node& node) {
        if (const auto found = find_mixture(list, id, node))
            list.add({.nodes = {found->gate, found->in, found->act, id},
                      .kernel = std::make_unique<MixtureKernel>(*found, list.machine()),
                      .reads_changed_rows = {found->W_gate, found->b_gate, found->W_in, found->b_in,
                                             found->W_out, found->b_out},
                      .by_rows = true});
        else
            list.add({.nodes = {id},
                      .kernel = std::make_unique<ExpertSumKernel>(id, node, list.machine()),
                      .reads_changed_rows = {node.inputs[2].node, optional_input(node, 3)},
                      .by_rows = true});
    });
    list.for_each(Op::expert_linear, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id},
                  .kernel = std::make_unique<ExpertLinearKernel>(id, node, list.machine()),
                  .reads_changed_rows = {node.inputs[1].node, bias_of(node)},
                  .by_rows = true});
    });
}

} // namespace headscope::cpu::nodes
