#include "core/engine/cpu/nodes/nodes.h"

#include <algorithm>

namespace headscope::cpu::nodes {

std::vector<NodeId> StepList::readers(NodeId id) const {
    std::vector<NodeId> readers;
    for (const NodeId reader : graph().readers(id))
        if (needs_.is_computed(reader))
            readers.push_back(reader);
    return readers;
}

NodeId StepList::free_reader(NodeId id, Op op) const {
    for (const NodeId reader : graph().readers(id))
        if (node(reader).op == op && is_free(reader) && node(reader).inputs[0].node == id)
            return reader;
    return no_node;
}

void StepList::add(run::Step step) {
    for (const NodeId id : step.nodes)
        taken_[static_cast<std::size_t>(id)] = true;
    steps_.push_back(std::move(step));
}

const float* table_row(const Values& values, NodeId table, std::int64_t row) {
    const std::span<const run::NodeIntervention> changed = values.changed_rows(table);
    const auto last = std::find_if(changed.rbegin(), changed.rend(), [row](const run::NodeIntervention& one) {
        return one.box.first[0] == row;
    });
    if (last != changed.rend())
        return last->values->data();
    const Tensor& numbers = values[table];
    return numbers.data() + row * (numbers.count() / numbers.shape()[0]);
}

NodeId optional_input(const Node& node, std::size_t at) {
    return at < node.inputs.size() ? node.inputs[at].node : no_node;
}

HeadVectors head_vectors(const Tensor& tensor, std::int64_t width) {
    const Shape& shape = tensor.shape();
    return shape.rank() == 4
               ? HeadVectors{tensor.data(), shape[1] * shape[2] * width, shape[2] * width, width}
               : HeadVectors{tensor.data(), shape[1] * shape[2], width, shape[2]};
}

} // namespace headscope::cpu::nodes
