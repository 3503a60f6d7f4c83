#include "core/run/execution.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headscope::run {

namespace {

/// A captured node that shares a block of memory with others.
bool is_small(const Plan::Node& node) {
    constexpr std::int64_t most_numbers = 1024;
    return node.kept && node.stored && !node.leaf && node.shape.count() <= most_numbers;
}

} // namespace

Execution::Execution(const PlanPtr& plan, Leaves leaves, NodeInterventions interventions,
                     const RunPtr& previous, Progress& progress, const TakeNode& take)
    : plan_(*plan), previous_(previous.get()), progress_(progress), take_(take),
      values_(graph_.nodes().size()) {
    run_->plan_ = plan;
    run_->leaves_ = std::move(leaves);
    run_->interventions_ = std::move(interventions);
    run_->tensors_.resize(graph_.nodes().size());
    run_->parts_.resize(plan_.parts().size());
    run_->computed_.resize(graph_.nodes().size());
    if (previous_ != nullptr && (previous_->plan().device() != plan_.device() || !plan_.shares()))
        previous_ = nullptr; // another device may round otherwise
    if (previous_ != nullptr || !plan_.parts().empty())
        inputs_ = &plan_.inputs();
}

/// Names are compared once for each pair of graphs, which is slower than a small run: keep the graph.
void Execution::match_graphs() {
    const graph::Graph& before = previous_->graph();
    if (same_graph(before, graph_))
        return;
    previous_ids_.assign(graph_.nodes().size(), -1);
    for (const Node& planned : plan_.nodes()) {
        const graph::Node& node = graph_.node(planned.id);
        const std::optional<NodeId> found = before.try_find(node.name);
        if (!found)
            continue;
        const graph::Node& other = before.node(*found);
        const bool same_attributes =
            node.op == graph::Op::constant || node.attributes == other.attributes; // constants: by numbers
        const bool same_inputs =
            std::ranges::equal(node.inputs, other.inputs, [&](const auto& mine, const auto& theirs) {
                return previous_id(mine.node) == theirs.node;
            });
        if (other.name == node.name && node.op == other.op && same_attributes && same_inputs &&
            node.axes == other.axes)
            previous_ids_[static_cast<std::size_t>(planned.id)] = *found;
    }
}

const TensorPtr& Execution::known(NodeId id) const {
    static const TensorPtr nothing;
    const NodeId before = previous_ == nullptr ? -1 : previous_id(id);
    return before < 0 ? nothing : previous_->known(before);
}

std::span<const NodeIntervention> Execution::previous_interventions_on(NodeId id) const {
    const NodeId before = previous_id(id);
    return before < 0 ? std::span<const NodeIntervention>() : of_node(previous_->interventions_, before);
}

std::span<const NodeIntervention> Execution::previous_rows_apart(NodeId id) const {
    const NodeId before = previous_id(id);
    return before < 0 || previous_->tensors_[static_cast<std::size_t>(before)] != nullptr
               ? std::span<const NodeIntervention>()
               : of_node(previous_->interventions_, before);
}

bool Execution::has_rows_apart(const Node& node) const {
    return node.rows_apart && set_whole_rows(interventions_on(node.id), node.shape);
}

/// Reads a leaf and applies its interventions.
void Execution::set_leaf(const Node& node) {
    Values::Node& value = at(node.id);
    const Leaves& leaves = run_->leaves_;
    const auto index = static_cast<std::size_t>(node.id);
    if (const auto* constant = std::get_if<graph::Constant>(&graph_.node(node.id).attributes))
        value.shared = &constant->values;
    else if (index < leaves.by_node.size() && leaves.by_node[index] != nullptr)
        value.shared = &leaves.by_node[index];
    if (value.shared == nullptr || !((*value.shared)->shape() == node.shape)) {
        value.shared = nullptr;
        value.owner = leaves.read(graph_, node.id);
    }
    const Tensor& given = *value.holder();
    if (has_rows_apart(node)) {
        value.changed_rows = interventions_on(node.id);
    } else if (node.intervened) {
        auto changed = std::make_shared<Tensor>(given.shape(), given.values());
        apply(interventions_on(node.id), node.heads, node.all, *changed);
        value.owner = std::move(changed);
        value.shared = nullptr;
    }
    value.numbers = value.holder().get();
}

HeadSet Execution::heads_with_other_interventions(const Node& node) const {
    const auto mine = interventions_on(node.id), before = previous_interventions_on(node.id);
    if (same(mine, before))
        return 0;
    HeadSet heads = 0;
    for (const auto& list : {mine, before})
        for (const NodeIntervention& one : list)
            heads |= heads_of(node.heads, one.box);
    return heads;
}

HeadSet Execution::changed_heads(const Node& node, const TensorPtr& numbers) const {
    const TensorPtr& before = known(node.id);
    if (before == numbers)
        return 0;
    if (before == nullptr || !(before->shape() == numbers->shape()))
        return node.all;
    return different_heads(node.heads, *numbers, *before);
}

/// Marks the heads whose numbers can differ from those of the previous run.
void Execution::find_dirty() {
    const Leaves &mine = run_->leaves_, *const before = previous_ == nullptr ? nullptr : &previous_->leaves_;
    constexpr std::span<const NodeIntervention> no_interventions_on_node;
    const bool no_interventions =
        run_->interventions_.empty() && (previous_ == nullptr || previous_->interventions_.empty());
    for (std::size_t n = 0; n < plan_.nodes().size(); ++n) {
        const Node& node = plan_.nodes()[n];
        Values::Node& value = at(node.id);
        if (node.leaf) {
            const auto index = static_cast<std::size_t>(node.id);
            const bool is_given = (index < mine.by_node.size() && mine.by_node[index] != nullptr) ||
                                  graph_.node(node.id).op == graph::Op::constant;
            const bool apart = has_rows_apart(node), changed = node.intervened && !apart;
            const bool same_source = !is_given && !changed && before != nullptr &&
                                     previous_id(node.id) >= 0 && before->source == mine.source &&
                                     known(node.id) == nullptr;
            if (is_given || node.kept || changed) {
                set_leaf(node);
                value.dirty = before == nullptr ? node.all
                              : same_source     ? 0
                                                : changed_heads(node, value.holder());
                if (node.kept || changed)
                    run_->tensors_[index] = value.holder();
            } else {
                value.dirty = same_source ? 0 : node.all;
            }
            // Rows that are apart are in no tensor that could be compared.
            if (before != nullptr && !same(apart ? interventions_on(node.id) : no_interventions_on_node,
                                           previous_rows_apart(node.id)))
                value.dirty = node.all;
            continue;
        }
        if (before == nullptr || previous_id(node.id) < 0) {
            value.dirty = node.all;
            continue;
        }
        const HeadSet intervened = no_interventions ? 0 : heads_with_other_interventions(node);
        for (const Plan::Input& input : (*inputs_)[n])
            value.dirty |= input.spread.readers_of(at(input.node).dirty);
        if (intervened != 0 && value.dirty == 0 && previous_interventions_on(node.id).empty() &&
            known(node.id) != nullptr)
            value.changed = intervened;
        value.dirty |= intervened;
    }
}

/// Takes the captured parts of leaves, and shares those that cannot have changed; the heads of the others are
/// wanted.
void Execution::share_parts() {
    for (std::size_t n = 0; n < plan_.parts().size(); ++n) {
        const Plan::Capture& part = plan_.parts()[n];
        Values::Node& value = at(part.node);
        const Node& node = *plan_.find(part.node);
        if (node.leaf) {
            if (value.numbers == nullptr)
                set_leaf(node);
            run_->parts_[n] = cut(*value.numbers, part.box);
            continue;
        }
        const HeadSet heads = heads_of(node.heads, part.box);
        if (previous_ != nullptr && (heads & value.dirty) == 0)
            run_->parts_[n] = previous_->find_part(previous_id(part.node), part.box);
        if (run_->parts_[n] == nullptr)
            value.wanted |= heads;
    }
}

/// Marks the heads to compute: those that are wanted and not known.
void Execution::find_computed() {
    share_parts();
    for (std::size_t n = plan_.nodes().size(); n-- > 0;) {
        const Node& node = plan_.nodes()[n];
        Values::Node& value = at(node.id);
        if (node.leaf)
            continue;
        if (node.kept)
            value.wanted = node.all;
        if (previous_ == nullptr && plan_.parts().empty()) { // a capture needs every node
            value.computed = node.all;
            continue;
        }
        if (const TensorPtr& before = known(node.id); before != nullptr && (node.stored || node.shares) &&
                                                      (!node.box || value.dirty == 0 || value.changed != 0))
            value.shared = &before;
        value.numbers = value.holder().get();
        if (value.changed != 0) // the inputs are not needed
            continue;
        value.computed = value.wanted & (value.shared == nullptr ? node.all : value.dirty);
        if (value.computed == 0)
            continue;
        if (!node.by_heads)
            value.computed = node.all;
        for (const Plan::Input& input : (*inputs_)[n])
            at(input.node).wanted |= input.spread.read_by(value.computed);
    }
}

/// Makes room for the captured nodes to compute that are small. What is taken is freed one by one.
void Execution::make_block() {
    if (take_)
        return;
    std::size_t tensors = 0;
    std::int64_t numbers = 0;
    for (const Node& node : plan_.nodes())
        if (is_small(node) && values_.at(node.id).computed != 0) {
            ++tensors;
            numbers += TensorBlock::room_for(node.shape);
        }
    if (tensors > 0)
        block_ = std::make_shared<TensorBlock>(tensors, numbers);
}

void Execution::allocate(const Node& node) {
    Values::Node& value = at(node.id);
    if (!node.stored || value.computed == 0)
        return;
    std::shared_ptr<Tensor> out = block_ != nullptr && is_small(node) ? TensorBlock::add(block_, node.shape)
                                                                      : plan_.backend().make(node.shape);
    if (value.computed != node.all && value.shared != nullptr)
        std::ranges::copy((*value.shared)->values(), out->data());
    value.out = out.get();
    value.part = node.box ? &*node.box : nullptr;
    value.owner = std::move(out);
    value.shared = nullptr;
}

/// Applies interventions to the computed heads of a node.
void Execution::finish_node(const Node& node) {
    Values::Node& value = at(node.id);
    if (value.out == nullptr)
        return;
    if (node.intervened)
        apply(interventions_on(node.id), node.heads, value.computed, *value.out);
    value.numbers = value.out;
    require_finite(node);
}

void Execution::require_finite(const Node& node) const {
    const graph::Node& of = graph_.node(node.id);
    if (of.role == graph::Role::stream &&
        !std::ranges::all_of(values_.at(node.id).numbers->values(),
                             [](float number) { return std::isfinite(number); }))
        fail_not_finite(of.name);
}

/// Applies interventions to a copy of what the previous run computed without them.
void Execution::change(const Node& node) {
    Values::Node& value = at(node.id);
    const std::shared_ptr<Tensor> changed = plan_.backend().make((*value.shared)->shape());
    std::ranges::copy((*value.shared)->values(), changed->data());
    apply(interventions_on(node.id), node.heads, value.changed, *changed);
    value.owner = changed;
    value.shared = nullptr;
    value.numbers = changed.get();
    require_finite(node);
}

/// The part of a node that is in memory; null: all of it.
const Box* Execution::stored_box(const Node& node) const {
    const Values::Node& value = values_.at(node.id);
    return node.box && value.numbers != nullptr && value.numbers->shape() == node.shape ? &*node.box
                                                                                        : nullptr;
}

/// A captured part of a node that was computed.
TensorPtr Execution::cut_part(const Node& node, Box box) const {
    const Values::Node& value = values_.at(node.id);
    if (const Box* const stored = stored_box(node)) {
        if (box == *stored)
            return value.owner;
        for (std::size_t axis = 0; axis < box.first.size(); ++axis)
            box.first[axis] -= stored->first[axis];
    }
    return cut(*value.numbers, box);
}

/// Calls the kernel of a step. Of inputs with more rows than the step computes it gets copies of those rows.
void Execution::call_kernel(const Plan::PlannedStep& planned) {
    struct Whole {
        NodeId id;
        const Tensor* numbers;
    };
    std::vector<Whole> whole;
    std::vector<TensorPtr> rows;
    for (const NodeId id : planned.row_inputs) {
        Values::Node& value = at(id);
        const Node& node = *plan_.find(id);
        const Box* const stored = stored_box(node);
        Box box = with_rows(*planned.rows, value.numbers->shape());
        if (stored != nullptr && box == *stored)
            continue;
        for (std::size_t axis = 0; stored != nullptr && axis < box.first.size(); ++axis)
            box.first[axis] -= stored->first[axis];
        whole.push_back({id, value.numbers});
        rows.push_back(cut(*value.numbers, box));
        value.numbers = rows.back().get();
    }
    planned.step.kernel->compute(values_, progress_);
    for (const Whole& input : whole)
        at(input.id).numbers = input.numbers;
}

void Execution::compute(const Plan::PlannedStep& planned) {
    progress_.check();
    bool has_work = false;
    for (const NodeId id : planned.step.nodes)
        has_work = has_work || at(id).computed != 0;
    if (has_work) {
        for (const NodeId id : planned.step.nodes)
            allocate(*plan_.find(id));
        for (const NodeId id : planned.leaves)
            if (at(id).numbers == nullptr)
                set_leaf(*plan_.find(id));
        values_.progress_begin = planned.progress_begin;
        values_.progress_end = planned.progress_end;
        call_kernel(planned);
        for (const NodeId id : planned.step.nodes)
            finish_node(*plan_.find(id));
    }
    for (const NodeId id : planned.step.nodes)
        if (const Values::Node& value = at(id); value.changed != 0 && value.wanted != 0)
            change(*plan_.find(id));
    for (std::size_t n = 0; n < plan_.parts().size(); ++n) {
        const Plan::Capture& part = plan_.parts()[n];
        if (run_->parts_[n] == nullptr &&
            std::ranges::find(planned.step.nodes, part.node) != planned.step.nodes.end())
            run_->parts_[n] = cut_part(*plan_.find(part.node), part.box);
    }
    hand_over(planned);
    release(planned);
}

void Execution::hand_over(const Plan::PlannedStep& planned) const {
    if (!take_)
        return;
    for (const NodeId id : planned.step.nodes)
        if (plan_.find(id)->kept)
            take_(id, values_.at(id).holder());
}

void Execution::release(const Plan::PlannedStep& planned) {
    for (const NodeId id : planned.released) {
        if (plan_.find(id)->kept && !take_)
            continue;
        Values::Node& value = at(id);
        value.owner = nullptr;
        value.shared = nullptr;
        value.numbers = nullptr;
    }
}

void Execution::keep_results() {
    for (const Node& node : plan_.nodes()) {
        Values::Node& value = at(node.id);
        const auto index = static_cast<std::size_t>(node.id);
        run_->computed_[index] = node.leaf ? value.dirty : value.computed | value.changed;
        if (!node.leaf && node.kept && !take_)
            run_->tensors_[index] = value.shared != nullptr ? *value.shared : std::move(value.owner);
    }
    run_->empty_rows_ = std::move(values_.empty_rows);
    if (previous_ == nullptr || previous_->empty_rows_.empty())
        return;
    for (const Node& node : plan_.nodes()) {
        const NodeId before = previous_id(node.id);
        const Values::Node& value = at(node.id);
        const HeadSet shared = node.leaf ? 0 : node.all & ~(value.computed | (value.dirty & ~value.changed));
        for (const EmptyRow& row : previous_->empty_rows_)
            if (row.node == before && (head_bit(row.h, node.heads.heads) & shared) != 0)
                run_->empty_rows_.push_back({node.id, row.b, row.h, row.i});
    }
    std::ranges::sort(run_->empty_rows_, {},
                      [](const EmptyRow& row) { return std::tuple(row.node, row.b, row.h, row.i); });
}

/// The bytes of the nodes to compute, at most.
std::uint64_t Execution::needed_bytes() const {
    const std::uint64_t most = take_ ? plan_.bytes_if_taken() : plan_.bytes();
    if (previous_ == nullptr)
        return most;
    std::uint64_t bytes = 0;
    for (const Node& node : plan_.nodes())
        if (const Values::Node& value = values_.at(node.id);
            !node.leaf && node.stored && (value.computed | value.changed) != 0)
            bytes += bytes_of(node.shape);
    return std::min(bytes, most);
}

RunPtr Execution::result() {
    progress_.check();
    if (previous_ != nullptr)
        match_graphs();
    find_dirty();
    find_computed();
    // Asked first, because making the sentences takes longer than a small run.
    const std::uint64_t bytes = needed_bytes();
    if (!fits_in_memory(bytes))
        plan_.backend().release();
    if (!fits_in_memory(bytes))
        require_memory(bytes, tr("common.run", "this run"),
                       tr("run.capture_less", "take a shorter text, or capture fewer nodes"));
    make_block();
    for (const Plan::PlannedStep& step : plan_.steps()) {
        compute(step);
        progress_.report(step.progress_end);
    }
    keep_results();
    plan_.backend().finish();
    return std::move(run_);
}

} // namespace headscope::run
