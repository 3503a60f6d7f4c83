#include "core/checkpoint/run/run_part.h"

#include "core/graph/operation.h"
#include "core/tensor/views.h"
#include "core/trace/stage.h"

#include <algorithm>

namespace headscope::checkpoint {

const ModelConfig& RunPart::config() const {
    return in_stack(text->model()->config(), place.stack);
}

const TensorPtr& RunPart::find(TensorId id) const {
    static const TensorPtr none;
    if (is_block_weight(id))
        return weights[id];
    if (const auto instead = given.find(id); instead != given.end())
        return instead->second;
    return node(id) == no_node ? none : run->tensor(node(id));
}

float RunPart::value(TensorId id, Index at) const {
    if (id == TensorId::logits || id == TensorId::probabilities)
        at[1] -= position;
    if (is_block_weight(id) && is_table(id))
        return number_in_row(table_row(id, at[0]), find(id)->shape(), at);
    const Tensor& tensor = *find(id);
    return tensor.data()[tensor.shape().offset(at)];
}

bool RunPart::is_set(TensorId id, const Index& at) const {
    return id == TensorId::mlp_act && std::ranges::any_of(patched, [&](const PatchedRows& patch) {
               return patch.at == id && patch.holds(at[1], at[2]);
           });
}

float RunPart::own_value(TensorId weight, const Index& at) const {
    const Tensor& tensor = *own[weight];
    return tensor.data()[tensor.shape().offset(at)];
}

std::span<const float> RunPart::table_row(TensorId table, std::int64_t row) const {
    if (const auto edited = weights.rows.find(table); edited != weights.rows.end())
        if (const auto found = edited->second.find(row); found != edited->second.end())
            return found->second->values();
    return row_of(*own[table], row);
}

std::optional<TensorId> RunPart::stage_of(graph::NodeId node) const {
    const auto found = std::ranges::find(nodes, node);
    return found == nodes.end() ? std::nullopt : std::optional(static_cast<TensorId>(found - nodes.begin()));
}

const Tensor* RunPart::numbers(graph::NodeId node) const {
    if (const TensorPtr& captured = run->tensor(node))
        return captured.get();
    const auto* const constant = std::get_if<graph::Constant>(&graph().node(node).attributes);
    return constant == nullptr ? nullptr : constant->values.get();
}

bool RunPart::can_explain(graph::NodeId node) const {
    return std::ranges::all_of(graph().node(node).inputs, [this](const graph::Reading& input) {
        return numbers(input.node) != nullptr;
    });
}

graph::Arithmetic RunPart::explain(graph::NodeId id, const Index& at) const {
    const graph::Node& node = graph().node(id);
    std::vector<graph::Operand> operands;
    for (const graph::Reading& input : node.inputs)
        operands.emplace_back(graph().node(input.node).axes, numbers(input.node)->data());
    return graph().operation(id).explain({node.attributes, operands, node.axes}, at);
}

std::vector<float> row_lengths(const Tensor& x) {
    const std::int64_t D = x.shape().back(0);
    const ConstRows rows(x.data(), x.count() / D, D);
    const Eigen::VectorXf lengths = rows.rowwise().norm();
    return {lengths.begin(), lengths.end()};
}

} // namespace headscope::checkpoint
