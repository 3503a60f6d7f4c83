#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/cpu/rows/layer_rows.h"

#include <algorithm>

namespace headscope::cpu::nodes {

namespace {

/// x W + b without a limit.
struct MlpLinear {
    NodeId node = no_node, W = no_node, b = no_node;
};

/// The nodes of an MLP; see graph::Mlp.
struct MlpNodes {
    NodeId x = no_node, act = no_node;
    MlpLinear in, gate, out; ///< gate: absent in an MLP without one
    graph::Function function{};
};

/// Computes an MLP in blocks of rows, so that the numbers between its matrices take little memory in a long
/// text.
class MlpKernel final : public Kernel {
public:
    MlpKernel(const MlpNodes& mlp, const std::shared_ptr<CpuMachine>& machine) : m_(mlp), cpu_(machine) {}

    void compute(Values& values, Progress& progress) const override {
        constexpr std::int64_t numbers_at_once = std::int64_t{1} << 22U; // of d_ff
        Tensor* const out = values.out(m_.out.node);
        if (out == nullptr)
            return;
        const Tensor& x = values[m_.x];
        const std::int64_t D = x.shape().back(0), d_ff = values[m_.in.W].shape()[1],
                           width = out->shape().back(0), rows = x.count() / D,
                           most = std::clamp<std::int64_t>(numbers_at_once / d_ff, 1, rows);
        const auto in = cpu_.make(Shape{most, d_ff}),
                   gate = m_.gate.node == no_node ? nullptr : cpu_.make(in->shape());
        for (std::int64_t first = 0; first < rows; first += most) {
            const std::int64_t count = std::min(most, rows - first);
            const auto numbers = static_cast<std::size_t>(count * d_ff);
            const std::span<float> in_rows = in->values().first(numbers);
            multiply(values, m_.in, {x.data() + first * D, D, count, D}, in->data(), progress);
            if (gate == nullptr) {
                activate(cpu_, in_rows, m_.function, progress);
            } else {
                const std::span<float> gate_rows = gate->values().first(numbers);
                multiply(values, m_.gate, {x.data() + first * D, D, count, D}, gate->data(), progress);
                activate(cpu_, gate_rows, m_.function, progress);
                multiply_by(in_rows, gate_rows);
            }
            multiply(values, m_.out, {in->data(), d_ff, count, d_ff}, out->data() + first * width, progress);
        }
    }

private:
    void multiply(const Values& values, const MlpLinear& linear, const Block& rows, float* to,
                  const Progress& progress) const {
        const Tensor& W = values[linear.W];
        cpu_.multiply(rows, {W.data(), W.shape()[1], W.shape()[0], W.shape()[1]},
                      linear.b == no_node ? nullptr : values[linear.b].data(), to, progress);
    }

    MlpNodes m_;
    mutable CpuDense cpu_;
};

std::optional<MlpLinear> plain_linear(const StepList& list, NodeId id) {
    const Node& node = list.node(id);
    if (node.op != Op::linear || !list.is_free(id))
        return std::nullopt;
    const auto& linear = std::get<graph::Linear>(node.attributes);
    if (linear.transposed || linear.limit != 0)
        return std::nullopt;
    return MlpLinear{id, node.inputs[1].node, optional_input(node, 2)};
}

/// Finds an MLP from its activation or gate; empty if a capture, an intervention or another node needs the
/// numbers in between.
std::optional<MlpNodes> find_mlp(const StepList& list, NodeId act) {
    const Node& node = list.node(act);
    const std::vector<NodeId> readers = list.readers(act);
    if (!list.is_internal(act) || readers.size() != 1 || list.node(readers[0]).inputs[0].node != act)
        return std::nullopt;
    const auto inner = [&](std::size_t input) -> std::optional<MlpLinear> {
        const NodeId id = node.inputs[input].node;
        if (!list.is_internal(id) || list.readers(id) != std::vector<NodeId>{act})
            return std::nullopt;
        return plain_linear(list, id);
    };
    const auto* gated = std::get_if<graph::Gate>(&node.attributes);
    if (gated != nullptr && (gated->limit != 0 || gated->offset != 0))
        return std::nullopt;
    const std::optional<MlpLinear> out = plain_linear(list, readers[0]), in = inner(gated != nullptr ? 1 : 0),
                                   gate = gated != nullptr ? inner(0) : MlpLinear();
    if (!out || !in || !gate)
        return std::nullopt;
    MlpNodes mlp{.x = list.node(in->node).inputs[0].node,
                 .act = act,
                 .in = *in,
                 .gate = *gate,
                 .out = *out,
                 .function = gated != nullptr ? gated->function
                                              : std::get<graph::Activation>(node.attributes).function};
    if (gated != nullptr && list.node(gate->node).inputs[0].node != mlp.x)
        return std::nullopt;
    return mlp;
}

} // namespace

void add_mlps(StepList& list) {
    for (const Op op : {Op::activation, Op::gate})
        list.for_each(op, [&](NodeId id, const Node&) {
            const std::optional<MlpNodes> mlp = find_mlp(list, id);
            if (!mlp)
                return;
            std::vector<NodeId> nodes{mlp->in.node};
            if (mlp->gate.node != no_node)
                nodes.push_back(mlp->gate.node);
            nodes.insert(nodes.end(), {id, mlp->out.node});
            list.add({.nodes = std::move(nodes),
                      .kernel = std::make_unique<MlpKernel>(*mlp, list.machine()),
                      .by_rows = true});
        });
}

} // namespace headscope::cpu::nodes
