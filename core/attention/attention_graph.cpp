#include "core/attention/graph_of_problem.h"

#include <algorithm>

// The questions about the stages of an attention, answered by its graph.

namespace headscope {

namespace {

std::string replaced(std::string text, const std::string& word, const std::string& with) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + with.size()))
        text.replace(at, word.size(), with);
    return text;
}

/// The questions, asked for nodes.
class Nodes {
public:
    explicit Nodes(const AttentionGraph& graph) : graph_(graph) {}

    std::optional<TensorId> tensor(graph::NodeId id) const {
        return graph_.tensors[static_cast<std::size_t>(id)];
    }
    bool is_computed(graph::NodeId id) const { return !graph::is_leaf(graph_.graph.node(id).op); }
    /// Returns true for a computed node without a row in the table of stages.
    bool stands_for_inputs(graph::NodeId id) const { return !tensor(id) && is_computed(id); }

    void add_inputs(graph::NodeId id, std::vector<TensorId>& to) const {
        for (const graph::Reading& input : graph_.graph.node(id).inputs)
            if (const std::optional<TensorId> known = tensor(input.node))
                to.push_back(*known);
            else if (is_computed(input.node))
                add_inputs(input.node, to);
    }

    void add_reads(graph::NodeId id, const Index& at, std::vector<ReadSpan>& to) const {
        for (const graph::ReadSpan& span : graph_.graph.reads(id, at)) {
            const graph::NodeId input = graph_.graph.node(id).inputs[span.source].node;
            if (const std::optional<TensorId> known = tensor(input))
                to.push_back(known == TensorId::mask ? ReadSpan{*known, at, 3, 1}
                                                     : ReadSpan{*known, span.first, span.axis, span.count});
            else if (is_computed(input))
                for (std::int64_t n = 0; n < span.count; ++n) {
                    Index cell = span.first;
                    cell[static_cast<std::size_t>(span.axis)] += n;
                    add_reads(input, cell, to);
                }
        }
    }

    std::string formula(graph::NodeId id) const {
        std::string text = graph_.graph.formula(id);
        for (const graph::Reading& input : graph_.graph.node(id).inputs)
            if (stands_for_inputs(input.node)) {
                constexpr std::string_view equals = " = ";
                const std::string inner = formula(input.node);
                text =
                    replaced(text, input.name, "(" + inner.substr(inner.find(equals) + equals.size()) + ")");
            }
        return text;
    }

private:
    const AttentionGraph& graph_;
};

} // namespace

bool works_on_head_rows(graph::Op op) {
    using enum graph::Op;
    return op == split_heads || op == head_norm || op == joint_norm || op == rotate || op == token_scale;
}

graph::Op AttentionGraph::op(TensorId stage) const {
    if (!has(stage))
        return graph::Op::input;
    const graph::Node& made = graph.node(node(stage));
    if (made.op == graph::Op::split_heads && Nodes(*this).stands_for_inputs(made.inputs.front().node))
        return graph.node(made.inputs.front().node).op;
    return made.op;
}

std::vector<TensorId> AttentionGraph::inputs(TensorId stage) const {
    std::vector<TensorId> found;
    if (has(stage))
        Nodes(*this).add_inputs(node(stage), found);
    return found;
}

bool AttentionGraph::reads_from(TensorId stage, TensorId input) const {
    return std::ranges::count(inputs(stage), input) > 0;
}

std::vector<ReadSpan> AttentionGraph::reads(TensorId stage, const Index& at) const {
    std::vector<ReadSpan> found;
    if (!graph::is_leaf(op(stage)))
        Nodes(*this).add_reads(node(stage), at, found);
    return found;
}

std::string AttentionGraph::formula(TensorId stage) const {
    return graph::is_leaf(op(stage)) ? "" : Nodes(*this).formula(node(stage));
}

std::vector<TensorId> AttentionGraph::steps_to(TensorId heads) const {
    std::vector<TensorId> steps{heads};
    while (works_on_head_rows(op(steps.back())))
        steps.push_back(first_input(steps.back()));
    std::ranges::reverse(steps);
    return steps;
}

bool AttentionGraph::heads_are_columns() const {
    const auto moved = [&](TensorId heads) {
        return op(heads) == graph::Op::split_heads && op(first_input(heads)) == graph::Op::linear;
    };
    return moved(TensorId::q_heads) && moved(TensorId::k_heads) && moved(TensorId::v_heads);
}

StageSet AttentionGraph::with_sources(StageSet wanted) const {
    const std::span<const TensorInfo> table = stage_table();
    std::for_each(table.rbegin(), table.rend(), [&](const TensorInfo& row) {
        if (wanted.has(row.id) && works_on_head_rows(op(row.id)))
            wanted = wanted.with(first_input(row.id));
    });
    return wanted;
}

} // namespace headscope
