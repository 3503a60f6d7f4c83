#include "core/run/evaluated_node.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headscope::run {

namespace {

class EvaluatedNode final : public Kernel {
public:
    EvaluatedNode(const graph::Graph& graph, NodeId node) : graph_(graph), node_(node) {}

    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        progress.check();
        const graph::Node& node = graph_.node(node_);
        std::vector<graph::Operand> operands;
        for (const graph::Reading& input : node.inputs)
            operands.emplace_back(graph_.node(input.node).axes, values[input.node].data());
        std::vector<double> result(static_cast<std::size_t>(out->count()));
        graph_.operation(node_).all({node.attributes, operands, node.axes}, result);
        std::ranges::transform(result, out->data(), [](double number) { return static_cast<float>(number); });
    }

private:
    graph::Graph graph_;
    NodeId node_;
};

} // namespace

std::unique_ptr<const Kernel> make_evaluated_node(const graph::Graph& graph, NodeId node) {
    return std::make_unique<EvaluatedNode>(graph, node);
}

} // namespace headscope::run
