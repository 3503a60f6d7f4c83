#include "core/run/plan.h"

#include "core/base/error.h"
#include "core/run/evaluated_node.h"

#include <algorithm>
#include <utility>

namespace headscope::run {

std::uint64_t bytes_of(const Shape& shape) {
    return sizeof(float) * static_cast<std::uint64_t>(shape.count());
}

bool same_graph(const graph::Graph& a, const graph::Graph& b) {
    return a.nodes().data() == b.nodes().data();
}

Plan::Plan(const graph::Graph& graph, const std::vector<graph::Part>& captures,
           const NodeInterventions& interventions, Backend& backend, std::vector<NodeId> given)
    : graph_(graph), backend_(backend), captures_(captures), given_(std::move(given)),
      place_(graph.nodes().size(), -1) {
    Needs needs(graph);
    for (const NodeIntervention& one : interventions)
        if (intervened_.empty() || intervened_.back() != one.node)
            intervened_.push_back(one.node);
    for (const graph::Part& part : captures) {
        const NodeId id = graph.find(part.node);
        parts_.push_back({part, id, box_of(graph.node(id), part)});
        needs.at(id).computed = needs.at(id).captured = true;
    }
    find_needs(needs);
    order_steps(backend.steps(needs), needs);
    for (const PlannedStep& planned : steps_) {
        if (planned.step.device != cpu_device)
            device_ = planned.step.device;
        shares_ = shares_ && !planned.step.reads_all;
    }
    find_boxes();
    find_lifetimes();
    find_tables();
}

void Plan::find_needs(Needs& needs) {
    const auto count = static_cast<NodeId>(graph_.nodes().size());
    const auto is_leaf = [this](NodeId id) {
        return graph::is_leaf(graph_.node(id).op) || std::ranges::find(given_, id) != given_.end();
    };
    for (NodeId id = count - 1; id >= 0; --id)
        if (needs.at(id).computed && !is_leaf(id))
            for (const graph::Reading& input : graph_.node(id).inputs)
                needs.at(input.node).computed = true;
    for (const NodeId id : intervened_)
        needs.at(id).intervened = needs.at(id).computed;
    for (NodeId id = 0; id < count; ++id) {
        if (!needs.at(id).computed)
            continue;
        const graph::Node& node = graph_.node(id);
        const bool leaf = is_leaf(id);
        place_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(nodes_.size());
        const HeadAxis heads = head_axis(node.axes);
        nodes_.push_back({.id = id,
                          .leaf = leaf,
                          .intervened = needs.at(id).intervened,
                          .stored = leaf || needs.is_stored(id),
                          .heads = heads,
                          .all = all_heads(heads.heads),
                          .shape = node.axes.shape()});
        needs.at(id).computed = !leaf;
    }
    std::erase_if(parts_, [this](const Capture& part) {
        Node& node = nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(part.node)])];
        const bool whole = is_whole(part.box, node.shape);
        node.kept = node.kept || whole;
        return whole;
    });
}

/// Puts each step after those that it reads.
void Plan::order_steps(std::vector<Step> made, const Needs& needs) {
    std::vector<std::int32_t> step_of(graph_.nodes().size(), -1);
    for (std::size_t n = 0; n < made.size(); ++n)
        for (const NodeId id : made[n].nodes)
            step_of[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(n);
    const std::size_t with_kernel = made.size();
    for (const Node& node : nodes_)
        if (needs.is_computed(node.id) && step_of[static_cast<std::size_t>(node.id)] < 0) {
            step_of[static_cast<std::size_t>(node.id)] = static_cast<std::int32_t>(made.size());
            made.push_back({.nodes = {node.id}, .kernel = make_evaluated_node(graph_, node.id)});
        }
    enum class State : std::uint8_t { waiting, entered, done };
    std::vector<State> states(made.size(), State::waiting);
    const auto add = [&](const auto& self, std::size_t n) -> void {
        if (states[n] == State::done)
            return;
        if (states[n] == State::entered)
            throw Error(ErrorKind::internal, "a kernel reads a result of its own through another one");
        states[n] = State::entered;
        for (const NodeId id : made[n].nodes)
            for (const graph::Reading& input : graph_.node(id).inputs) {
                Node& read = nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(input.node)])];
                const std::int32_t from = step_of[static_cast<std::size_t>(input.node)];
                if (from == static_cast<std::int32_t>(n))
                    continue;
                read.stored = read.read = true;
                if (from >= 0)
                    self(self, static_cast<std::size_t>(from));
            }
        states[n] = State::done;
        for (const NodeId id : made[n].nodes) {
            Node& node = nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(id)])];
            node.by_heads = made[n].by_heads;
            node.shares = std::ranges::find(made[n].reads_earlier, id) != made[n].reads_earlier.end();
        }
        steps_.push_back({.step = std::move(made[n]),
                          .leaves = {},
                          .released = {},
                          .progress_begin = 0,
                          .progress_end = 1,
                          .evaluated = n >= with_kernel});
    };
    for (const Node& node : nodes_)
        if (const std::int32_t n = step_of[static_cast<std::size_t>(node.id)]; n >= 0)
            add(add, static_cast<std::size_t>(n));
}

/// The part of a node that its captures and later steps need.
class Plan::Demand {
public:
    void add_whole() { whole_ = true; }
    void add(const Box& box) { box_ = box_ ? bounding_box(*box_, box) : box; }
    /// Absent: all of the node.
    std::optional<Box> box() const { return whole_ ? std::nullopt : box_; }

private:
    bool whole_ = false;
    std::optional<Box> box_;
};

namespace {

/// Returns true if the first axes of both are the same (B, T). A projection of queries may be one of keys.
bool have_same_rows(const graph::Axes& a, const graph::Axes& b) {
    const auto are_tokens = [](const graph::Axis& axis) { return axis.name == "Tq" || axis.name == "Tk"; };
    return a.rank() >= 2 && b.rank() >= 2 && a[0] == b[0] && a[1].size == b[1].size &&
           (a[1].name == b[1].name || (are_tokens(a[1]) && are_tokens(b[1])));
}

} // namespace

/// Restricts what is computed of a node to what its captures and readers need, from the last step to the
/// first: for the logits of one token, the last MLP runs for that token alone.
void Plan::find_boxes() {
    if (parts_.empty())
        return;
    std::vector<Demand> demands(graph_.nodes().size());
    for (const Capture& part : parts_)
        demands[static_cast<std::size_t>(part.node)].add(part.box);
    for (const Node& node : nodes_)
        if (node.kept || node.intervened)
            demands[static_cast<std::size_t>(node.id)].add_whole();
    for (std::size_t n = steps_.size(); n-- > 0;) {
        PlannedStep& step = steps_[n];
        if (step.step.by_rows)
            restrict_rows(step, demands);
        else
            restrict_parts(step, demands);
        for (const NodeId id : step.step.nodes)
            for (const graph::Reading& input : graph_.node(id).inputs) {
                Demand& demand = demands[static_cast<std::size_t>(input.node)];
                if (step.rows && std::ranges::find(step.row_inputs, input.node) != step.row_inputs.end())
                    demand.add(with_rows(*step.rows, graph_.node(input.node).axes.shape()));
                else
                    demand.add_whole();
            }
    }
}

void Plan::restrict_rows(PlannedStep& step, const std::vector<Demand>& demands) {
    std::optional<Box> rows;
    for (const NodeId id : step.step.nodes) {
        if (!find(id)->stored)
            continue;
        const std::optional<Box> box = demands[static_cast<std::size_t>(id)].box();
        const graph::Axes& axes = graph_.node(id).axes;
        if (!box || !have_same_rows(axes, graph_.node(step.step.nodes.front()).axes))
            return;
        rows = rows ? bounding_box(*rows, *box) : *box;
    }
    if (!rows)
        return;
    const Shape& shape = graph_.node(step.step.nodes.front()).axes.shape();
    if (rows->count[0] == shape[0] && rows->count[1] == shape[1])
        return;
    const auto contains = [](const std::vector<NodeId>& all, NodeId id) {
        return std::ranges::find(all, id) != all.end();
    };
    std::vector<NodeId> row_inputs;
    for (const NodeId id : step.step.nodes) {
        bool reads_rows = false;
        for (const graph::Reading& input : graph_.node(id).inputs) {
            if (!have_same_rows(graph_.node(id).axes, graph_.node(input.node).axes))
                continue;
            reads_rows = true;
            if (!contains(step.step.nodes, input.node) && !contains(row_inputs, input.node))
                row_inputs.push_back(input.node);
        }
        if (!reads_rows)
            return;
    }
    step.rows = rows;
    step.row_inputs = std::move(row_inputs);
    for (const NodeId id : step.step.nodes) {
        Node& node = nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(id)])];
        if (!node.stored)
            continue;
        node.box = with_rows(*rows, node.shape);
        node.shape = shape_of(*node.box, node.shape.rank());
    }
}

/// For kernels that store a part of a node: what is captured of a node that no other step reads.
void Plan::restrict_parts(const PlannedStep& step, const std::vector<Demand>& demands) {
    for (const NodeId id : step.step.by_parts) {
        Node& node = nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(id)])];
        node.box = demands[static_cast<std::size_t>(id)].box();
        if (!node.box)
            continue;
        const auto last = static_cast<std::size_t>(node.shape.rank() - 1);
        node.box->first[last] = 0;
        node.box->count[last] = node.shape.back(0);
        node.shape = shape_of(*node.box, node.shape.rank());
    }
}

/// The fraction of the rows of a node that the step computes.
double Plan::computed_part(const PlannedStep& step, const graph::Node& node) {
    if (!step.rows)
        return 1;
    return static_cast<double>(step.rows->count[0] * step.rows->count[1]) /
           static_cast<double>(node.axes.size(0) * node.axes.size(1));
}

void Plan::find_lifetimes() {
    std::vector<std::size_t> last_read(graph_.nodes().size(), 0);
    std::vector<double> costs;
    double all = 0;
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        double cost = 1;
        for (const NodeId id : steps_[n].step.nodes) {
            const graph::Cost of_node = graph_.cost(id);
            cost += (2 * of_node.multiply_adds + of_node.bytes) * computed_part(steps_[n], graph_.node(id));
            last_read[static_cast<std::size_t>(id)] = n;
            for (const graph::Reading& input : graph_.node(id).inputs) {
                last_read[static_cast<std::size_t>(input.node)] = n;
                std::vector<NodeId>& leaves = steps_[n].leaves;
                if (find(input.node)->leaf && std::ranges::find(leaves, input.node) == leaves.end())
                    leaves.push_back(input.node);
            }
        }
        costs.push_back(cost);
        all += cost;
    }
    double before = 0;
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        steps_[n].progress_begin = static_cast<float>(before / all);
        before += costs[n];
        steps_[n].progress_end = static_cast<float>(before / all);
    }
    const auto is_cut = [this](NodeId id) {
        return std::ranges::any_of(parts_, [id](const Capture& part) { return part.node == id; });
    };
    for (const Node& node : nodes_) {
        const auto at = static_cast<std::size_t>(node.id);
        if (node.stored && !is_cut(node.id) && !steps_.empty())
            steps_[last_read[at]].released.push_back(node.id);
    }
    for (const bool taken : {false, true}) {
        std::uint64_t held = 0, most = 0;
        for (const PlannedStep& step : steps_) {
            for (const NodeId id : step.step.nodes)
                if (find(id)->stored)
                    held += bytes_of(find(id)->shape);
            most = std::max(most, held);
            for (const NodeId id : step.released)
                if (!find(id)->leaf && (taken || !find(id)->kept))
                    held -= bytes_of(find(id)->shape);
        }
        (taken ? bytes_if_taken_ : bytes_) = most;
    }
}

/// Marks the leaves with interventions whose kernels take changed rows apart.
void Plan::find_tables() {
    for (Node& node : nodes_)
        node.rows_apart = node.leaf && node.intervened && !node.kept;
    for (const Capture& part : parts_)
        nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(part.node)])].rows_apart = false;
    for (const PlannedStep& step : steps_)
        for (const NodeId id : step.leaves)
            if (const std::vector<NodeId>& tables = step.step.reads_changed_rows;
                std::ranges::find(tables, id) == tables.end())
                nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(id)])].rows_apart = false;
}

namespace {

/// Returns true if the heads of both nodes depend on those of their inputs in the same way.
bool have_same_spreads(const graph::Graph& graph, const graph::Node& a, const graph::Node& b) {
    return a.op == b.op && a.axes == b.axes && a.attributes == b.attributes &&
           std::ranges::equal(a.inputs, b.inputs, [&](const graph::Reading& x, const graph::Reading& y) {
               return graph.node(x.node).axes == graph.node(y.node).axes;
           });
}

} // namespace

/// Layers have the same nodes: those of one are worked out, and the others copy them.
const std::vector<std::vector<Plan::Input>>& Plan::inputs() const {
    std::call_once(inputs_made_, [this] {
        inputs_.resize(nodes_.size());
        std::vector<std::size_t> first; // of their kind
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            if (nodes_[n].leaf)
                continue;
            const graph::Node& node = graph_.node(nodes_[n].id);
            const auto like = std::ranges::find_if(first, [&](std::size_t other) {
                return have_same_spreads(graph_, graph_.node(nodes_[other].id), node);
            });
            for (std::size_t input = 0; input < node.inputs.size(); ++input)
                inputs_[n].push_back({node.inputs[input].node, like == first.end()
                                                                   ? Spread(graph_, nodes_[n].id, input)
                                                                   : inputs_[*like][input].spread});
            if (like == first.end())
                first.push_back(n);
        }
    });
    return inputs_;
}

std::vector<NodeId> Plan::evaluated() const {
    std::vector<NodeId> ids;
    for (const PlannedStep& step : steps_)
        if (step.evaluated)
            ids.push_back(step.step.nodes.front());
    return ids;
}

bool Plan::is_on_cpu(NodeId id) const {
    return std::ranges::any_of(steps_, [id](const PlannedStep& planned) {
        return planned.step.device == cpu_device &&
               std::ranges::find(planned.step.nodes, id) != planned.step.nodes.end();
    });
}

bool Plan::fits(const graph::Graph& graph, const std::vector<graph::Part>& captures,
                const NodeInterventions& interventions, const Backend& backend,
                const std::vector<NodeId>& given) const {
    if (!same_graph(graph, graph_) || &backend != &backend_ || captures != captures_ || given != given_)
        return false;
    std::vector<NodeId> nodes;
    for (const NodeIntervention& one : interventions)
        if (nodes.empty() || nodes.back() != one.node)
            nodes.push_back(one.node);
    return nodes == intervened_;
}

} // namespace headscope::run
