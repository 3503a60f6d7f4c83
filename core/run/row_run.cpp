#include "core/run/row_run.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::run {

namespace {

/// Nodes that a call cannot get rows of from the graph itself.
std::vector<NodeId> given_nodes(const graph::Graph& graph, const std::vector<std::string>& text) {
    std::vector<NodeId> given;
    for (const std::string& name : text)
        if (const NodeId id = graph.find(name); !graph::is_leaf(graph.node(id).op))
            given.push_back(id);
    return given;
}

bool is_pair_node(const graph::Axes& axes) {
    return axes.find("Tq") && axes.find("Tk");
}

/// The part of an intervention that concerns these rows, with the rows counted from the first of them.
std::optional<NodeIntervention> in_rows(const NodeIntervention& one, int axis, RowRange rows) {
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t first = std::max(one.box.first[at], rows.first),
                       end = std::min(one.box.first[at] + one.box.count[at], rows.end);
    if (first >= end)
        return std::nullopt;
    NodeIntervention part = one;
    if (one.values->shape().rank() != 0) {
        Box box{.first = {}, .count = one.box.count};
        box.first[at] = first - one.box.first[at];
        box.count[at] = end - first;
        part.values = cut(*one.values, box);
    }
    part.box.first[at] = first - rows.first;
    part.box.count[at] = end - first;
    return part;
}

} // namespace

RowRun::RowRun(const graph::Graph& graph, const std::vector<graph::Part>& captures, Leaves leaves,
               const Interventions& interventions, const std::vector<std::string>& text, Backend& backend)
    : leaves_(std::move(leaves)), interventions_(resolve(graph, interventions)) {
    plan_ = std::make_shared<const Plan>(graph, captures, interventions_, backend, given_nodes(graph, text));
    leaves_.by_node.resize(graph.nodes().size());
    fixed_.resize(graph.nodes().size());
    states_.resize(plan_->steps().size());
    find_growing(text);
    for (const Plan::PlannedStep& step : plan_->steps())
        if (step.evaluated && grows_[static_cast<std::size_t>(step.step.nodes.front())])
            throw Error(ErrorKind::internal,
                        "no kernel computes rows of " + graph.node(step.step.nodes.front()).name);
}

RowRun::RowRun(const RowRun& other)
    : plan_(other.plan_), leaves_(other.leaves_), interventions_(other.interventions_), text_(other.text_),
      grows_(other.grows_), keys_grow_(other.keys_grow_), keeps_(other.keeps_), fixed_(other.fixed_),
      rows_(other.rows_), began_(other.began_) {
    for (const auto& state : other.states_)
        states_.push_back(state == nullptr ? nullptr : state->clone());
}

void RowRun::find_growing(const std::vector<std::string>& text) {
    const std::size_t count = graph().nodes().size();
    grows_.resize(count);
    keys_grow_.resize(count);
    keeps_.resize(count);
    for (const std::string& name : text) {
        text_.push_back(graph().find(name));
        grows_[static_cast<std::size_t>(text_.back())] = true;
    }
    for (const Plan::Node& planned : plan_->nodes()) {
        if (planned.leaf)
            continue;
        const auto id = static_cast<std::size_t>(planned.id);
        const graph::Node& node = graph().node(planned.id);
        for (const graph::Reading& input : node.inputs) {
            const auto read = static_cast<std::size_t>(input.node);
            grows_[id] = grows_[id] || grows_[read];
            keys_grow_[id] = keys_grow_[id] || keys_grow_[read];
        }
        if (node.op == graph::Op::dot_product)
            keys_grow_[id] = grows_[static_cast<std::size_t>(node.inputs[1].node)];
        if (!is_pair_node(node.axes))
            keys_grow_[id] = false;
        for (const graph::Reading& input : node.inputs)
            if (const auto read = static_cast<std::size_t>(input.node); grows_[id] && !grows_[read])
                keeps_[read] = true;
        keeps_[id] = planned.kept && !grows_[id];
    }
}

/// The axis of a node's tokens; -1: none.
int RowRun::row_axis(NodeId id) const {
    const graph::Axes& axes = graph().node(id).axes;
    if (const std::optional<int> queries = axes.find("Tq"))
        return *queries;
    return axes.find("Tk").value_or(-1);
}

Shape RowRun::shape_of_rows(NodeId id, RowRange rows) const {
    graph::Axes axes = graph().node(id).axes;
    if (!grows_[static_cast<std::size_t>(id)])
        return axes.shape();
    if (const int axis = row_axis(id); axis >= 0)
        axes = axes.with(axis, {axes[axis].name, rows.count()});
    if (keys_grow_[static_cast<std::size_t>(id)]) {
        const int keys = *axes.find("Tk");
        axes = axes.with(keys, {"Tk", rows.end});
    }
    return axes.shape();
}

void RowRun::truncate(std::int64_t rows) {
    rows_ = std::min(rows_, rows);
    for (const auto& state : states_)
        if (state != nullptr)
            state->truncate(rows_);
}

void RowRun::take_states(RowRun& other) {
    for (std::size_t mine = 0; mine < states_.size(); ++mine)
        for (std::size_t theirs = 0; theirs < other.states_.size(); ++theirs)
            if (other.states_[theirs] != nullptr &&
                graph().node(plan_->steps()[mine].step.nodes.front()).name ==
                    other.graph().node(other.plan_->steps()[theirs].step.nodes.front()).name)
                states_[mine] = std::move(other.states_[theirs]);
    rows_ = other.rows_;
    other.rows_ = 0;
}

const KernelState* RowRun::state(std::string_view node) const {
    const NodeId id = graph().find(node);
    for (std::size_t step = 0; step < states_.size(); ++step)
        if (const std::vector<NodeId>& nodes = plan_->steps()[step].step.nodes;
            std::ranges::find(nodes, id) != nodes.end())
            return states_[step].get();
    return nullptr;
}

void RowRun::set_leaf(Values& values, NodeId id) {
    Values::Node& value = values.at(id);
    const graph::Node& node = graph().node(id);
    value.owner = leaves_.read(graph(), id);
    const std::span<const NodeIntervention> changes = of_node(interventions_, id);
    if (plan_->find(id)->rows_apart && set_whole_rows(changes, node.axes.shape())) {
        value.changed_rows = changes;
    } else if (!changes.empty()) {
        auto changed = std::make_shared<Tensor>(value.owner->shape(), value.owner->values());
        apply(changes, head_axis(node.axes), ~HeadSet{0}, *changed);
        value.owner = std::move(changed);
    }
    value.numbers = value.owner.get();
}

/// Replaces the inputs that have the rows of all tokens by the rows to compute. Attention reads all keys.
void RowRun::slice_inputs(const Plan::PlannedStep& planned, Values& values, RowRange rows,
                          std::vector<std::pair<NodeId, TensorPtr>>& cut_rows) const {
    const std::vector<NodeId>& nodes = planned.step.nodes;
    if (std::ranges::any_of(nodes, [&](NodeId id) { return is_pair_node(graph().node(id).axes); }))
        return;
    for (const NodeId id : nodes) {
        if (!grows_[static_cast<std::size_t>(id)])
            continue;
        const int own = row_axis(id);
        for (const graph::Reading& input : graph().node(id).inputs) {
            const int axis = row_axis(input.node);
            const graph::Axes& axes = graph().node(input.node).axes;
            if (grows_[static_cast<std::size_t>(input.node)] || axis < 0 || own < 0 ||
                axes[axis].size != graph().node(id).axes[own].size)
                continue;
            Box box;
            for (int n = 0; n < axes.rank(); ++n)
                box.count[static_cast<std::size_t>(n)] = axes.size(n);
            box.first[static_cast<std::size_t>(axis)] = rows.first;
            box.count[static_cast<std::size_t>(axis)] = rows.count();
            Values::Node& value = values.at(input.node);
            cut_rows.emplace_back(input.node, cut(*value.numbers, box));
            value.numbers = cut_rows.back().second.get();
        }
    }
}

void RowRun::finish_node(Values& values, NodeId id, RowRange rows) const {
    Values::Node& value = values.at(id);
    if (value.out == nullptr)
        return;
    const graph::Node& node = graph().node(id);
    for (const NodeIntervention& one : of_node(interventions_, id)) {
        const int axis = grows_[static_cast<std::size_t>(id)] ? row_axis(id) : -1;
        if (const auto part = axis < 0 ? std::optional(one) : in_rows(one, axis, rows))
            apply({&*part, 1}, head_axis(node.axes), ~HeadSet{0}, *value.out);
    }
    value.numbers = value.out;
    if (node.role == graph::Role::stream && !value.out->all_finite())
        fail_not_finite(node.name);
}

void RowRun::compute_step(std::size_t n, Values& values, RowRange rows, const std::vector<bool>& wanted,
                          Progress& progress) {
    const Plan::PlannedStep& planned = plan_->steps()[n];
    bool any_grows = false, has_work = false;
    for (const NodeId id : planned.step.nodes) {
        const auto at = static_cast<std::size_t>(id);
        const bool grows = grows_[at];
        any_grows = any_grows || grows;
        Values::Node& value = values.at(id);
        if (!grows && began_) {
            value.owner = fixed_[at];
            value.numbers = value.owner.get();
            continue;
        }
        has_work = true;
        const Plan::Node& node = *plan_->find(id);
        value.computed = node.all;
        if (!node.stored || (node.kept && !node.read && !node.intervened && !wanted[at]))
            continue;
        std::shared_ptr<Tensor> out = plan_->backend().make(shape_of_rows(id, rows));
        value.out = out.get();
        value.owner = std::move(out);
    }
    if (!has_work)
        return;
    for (const NodeId id : planned.leaves)
        if (values.at(id).numbers == nullptr)
            set_leaf(values, id);
    std::vector<std::pair<NodeId, TensorPtr>> cut_rows;
    slice_inputs(planned, values, rows, cut_rows);
    values.progress_begin = planned.progress_begin;
    values.progress_end = planned.progress_end;
    values.rows_ = any_grows ? &rows : nullptr;
    values.state_ = &states_[n];
    planned.step.kernel->compute(values, progress);
    for (const auto& [id, numbers] : cut_rows)
        values.at(id).numbers = values.at(id).owner.get();
    for (const NodeId id : planned.step.nodes)
        finish_node(values, id, rows);
}

std::map<std::string, TensorPtr> RowRun::compute(std::int64_t end,
                                                 const std::map<std::string, TensorPtr>& text,
                                                 std::span<const std::string> wanted, Progress& progress) {
    const RowRange rows{rows_, end};
    std::map<std::string, TensorPtr> results;
    std::vector<bool> is_wanted(graph().nodes().size());
    std::vector<std::pair<NodeId, const std::string*>> names;
    for (const std::string& name : wanted) {
        names.emplace_back(graph().find(name), &name);
        is_wanted[static_cast<std::size_t>(names.back().first)] = true;
    }
    Values values(graph().nodes().size());
    for (const Plan::Node& node : plan_->nodes())
        values.at(node.id).grows = grows_[static_cast<std::size_t>(node.id)];
    for (const auto& [name, numbers] : text) {
        Values::Node& value = values.at(graph().find(name));
        value.owner = numbers;
        value.numbers = numbers.get();
        for (const auto& [id, one] : names)
            if (id == graph().find(name))
                results[*one] = numbers;
    }
    try {
        for (std::size_t n = 0; n < plan_->steps().size(); ++n) {
            progress.check();
            compute_step(n, values, rows, is_wanted, progress);
            for (const NodeId id : plan_->steps()[n].step.nodes) {
                const auto at = static_cast<std::size_t>(id);
                if (!began_ && keeps_[at])
                    fixed_[at] = values.at(id).owner;
                if (is_wanted[at])
                    for (const auto& [wanted_id, name] : names)
                        if (wanted_id == id)
                            results[*name] = values.at(id).owner;
            }
            for (const NodeId id : plan_->steps()[n].released)
                values.at(id).owner = nullptr;
            progress.report(plan_->steps()[n].progress_end);
        }
    } catch (...) {
        truncate(rows_);
        throw;
    }
    began_ = true;
    rows_ = end;
    plan_->backend().finish();
    return results;
}

} // namespace headscope::run
