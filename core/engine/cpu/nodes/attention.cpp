#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/cpu/projections.h"
#include "core/engine/pair_numbers.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headscope::cpu::nodes {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

constexpr std::size_t place(RowStage stage) {
    return static_cast<std::size_t>(stage);
}

/// The nodes of one attention; no_node where one is absent, not computed, or computed by another kernel.
struct Attention {
    std::array<NodeId, row_stage_count> stages{};
    NodeId q = no_node, k = no_node, v = no_node; ///< with heads side by side or split
    NodeId temperature = no_node, sinks = no_node, gains = no_node, W_O = no_node;
    std::array<NodeId, 2> terms{no_node, no_node}; ///< that the scores add
    engine::PairNumbers added{}, allowed{};
    Dims dims;
    graph::Scale scale;
    graph::Mask mask;
    bool has_mask = false;

    NodeId& operator[](RowStage stage) { return stages[place(stage)]; }
    NodeId operator[](RowStage stage) const { return stages[place(stage)]; }
};

/// Keys and values of the tokens of a text that grows, or of the source of a cross-attention.
class AttentionState final : public run::KernelState {
public:
    std::unique_ptr<run::KernelState> clone() const override {
        auto copy = std::make_unique<AttentionState>();
        copy->cache = cache;
        copy->grows = grows;
        return copy;
    }
    void truncate(std::int64_t rows) override {
        if (grows)
            cache.truncate(rows);
    }

    KeyValueCache cache;
    bool grows = true; ///< with the text; false: it holds the source
};

/// Computes the stages `first` to `last` of an attention.
class AttentionKernel final : public Kernel {
public:
    AttentionKernel(Attention attention, const StepList& list, std::size_t first, std::size_t last)
        : a_(std::move(attention)), machine_(list.machine()), first_(first), last_(last) {
        for (const NodeId id : a_.stages)
            if (id != no_node)
                layer_ = engine::layer_name(list.node(id));
    }

    void compute(Values& values, Progress& progress) const override;

private:
    bool has(RowStage stage) const {
        return place(stage) >= first_ && place(stage) <= last_ && a_[stage] != no_node;
    }
    bool any_computes(RowStage stage) const {
        return std::ranges::any_of(machine_->computed_rows,
                                   [stage](RowStages stages) { return has_stage(stages, stage); });
    }
    Dims dims_of(const Values& values) const;
    MaskRows::Stored mask_of(const Values& values) const;
    bool is_open_outside(const Dims& d, const Tensor& numbers, float closed,
                         const MaskRows::Stored& mask) const;
    void pack(AttentionRows& rows, PackedRows& packed, Values& values, const Progress& progress) const;

    Attention a_;
    std::shared_ptr<CpuMachine> machine_;
    std::size_t first_, last_;
    std::string layer_;                         ///< in messages
    mutable std::vector<std::uint8_t> allowed_; ///< of the current run
};

/// The sizes: in a RowRun those of the tokens to compute, and of the keys so far.
Dims AttentionKernel::dims_of(const Values& values) const {
    Dims d = a_.dims;
    if (const run::RowRange* const tokens = values.rows(); tokens != nullptr) {
        d.Tq = tokens->count();
        if (a_.k != no_node && values.grows(a_.k))
            d.Tk = tokens->end;
    }
    return d;
}

MaskRows::Stored AttentionKernel::mask_of(const Values& values) const {
    MaskRows::Stored mask;
    mask.empty = !a_.has_mask;
    if (a_.mask.before)
        mask.reach_back = *a_.mask.before;
    if (a_.mask.after)
        mask.reach_ahead = *a_.mask.after;
    if (a_.mask.chunk)
        mask.chunk = *a_.mask.chunk;
    // Later stages read from the mask only how far a query reaches.
    if (any_computes(RowStage::masked) && a_.added.node != no_node) {
        mask.add = values[a_.added.node].values();
        mask.add_strides = a_.added.strides;
        if (values.rows() != nullptr)
            mask.add = mask.add.subspan(static_cast<std::size_t>(values.rows()->first * a_.added.strides.i));
    }
    if (any_computes(RowStage::masked) && a_.allowed.node != no_node) {
        const std::span<const float> flags = values[a_.allowed.node].values();
        allowed_.resize(flags.size());
        std::ranges::transform(flags, allowed_.begin(), [](float flag) { return flag != 0 ? 1 : 0; });
        mask.allowed = allowed_;
        mask.allowed_strides = a_.allowed.strides;
    }
    return mask;
}

/// Returns true if a pair beyond the reach of the mask has another number than `closed`: an intervention may
/// let a query attend to it.
bool AttentionKernel::is_open_outside(const Dims& d, const Tensor& numbers, float closed,
                                      const MaskRows::Stored& mask) const {
    const float* row = numbers.data();
    for (std::int64_t n = 0; n < d.B * d.H * d.Tq; ++n, row += d.Tk) {
        const MaskRow reach = mask.row(d, n / (d.H * d.Tq), n / d.Tq % d.H, n % d.Tq);
        const auto is_open = [closed](float number) { return number != closed; };
        if (std::any_of(row, row + reach.begin, is_open) || std::any_of(row + reach.end, row + d.Tk, is_open))
            return true;
    }
    return false;
}

RowPart row_part(const run::Box& box) {
    return {.b = box.first[0],
            .batches = box.count[0],
            .h = box.first[1],
            .heads = box.count[1],
            .row = box.first[2],
            .rows = box.count[2]};
}

/// All rows, or the rows of the parts that are stored if nothing is stored whole.
RowPart part_to_compute(const AttentionRows& rows) {
    const RowPart all{.batches = rows.dims.B, .heads = rows.dims.H, .rows = rows.dims.Tq};
    std::int64_t first = all.rows, end = 0;
    for (std::size_t n = 0; n < row_stage_count; ++n) {
        if (rows.stored[n] == nullptr)
            continue;
        if (!rows.stored_parts[n])
            return all;
        first = std::min(first, rows.stored_parts[n]->row);
        end = std::max(end, rows.stored_parts[n]->row + rows.stored_parts[n]->rows);
    }
    RowPart part = all;
    part.row = first;
    part.rows = end - first;
    return end > first ? part : all;
}

/// Packs keys and values for the kernels; in a RowRun after those that are packed already.
void AttentionKernel::pack(AttentionRows& rows, PackedRows& packed, Values& values,
                           const Progress& progress) const {
    const Dims& d = rows.dims;
    CpuMachine& machine = *machine_;
    AttentionState* state = nullptr;
    std::int64_t first = 0;
    if (values.rows() == nullptr) {
        packed = packed_rows(d, machine.kernels, d.Tk);
        packed.memory = machine.packed_for(packed.count());
    } else {
        if (values.state() == nullptr)
            values.state() = std::make_unique<AttentionState>();
        state = static_cast<AttentionState*>(values.state().get());
        state->grows = values.grows(a_.k);
        packed = state->cache.room_for(d, machine.kernels);
        first = state->cache.rows();
    }
    if (first < d.Tk) {
        const bool has_scores = any_computes(RowStage::scores), has_values = any_computes(RowStage::head_out);
        pack_keys_and_values(has_scores ? head_vectors(values[a_.k], d.dk) : HeadVectors(),
                             has_values ? head_vectors(values[a_.v], d.dv) : HeadVectors(), rows, first,
                             machine, progress);
    }
    if (state != nullptr)
        state->cache.set_rows(d.Tk);
}

void AttentionKernel::compute(Values& values, Progress& progress) const {
    using enum RowStage;
    const Dims d = dims_of(values);
    CpuMachine& machine = *machine_;
    std::vector<RowStages>& computed = machine.computed_rows;
    computed.assign(static_cast<std::size_t>(d.H), 0);
    AttentionRows rows{.dims = d, .part = {.batches = d.B, .heads = d.H, .rows = d.Tq}};
    for (std::size_t n = 0; n < row_stage_count; ++n) {
        const NodeId id = a_.stages[n];
        if (id == no_node)
            continue;
        rows.earlier[n] = n <= last_ ? values.find(id) : nullptr;
        if (n < first_ || n > last_)
            continue;
        rows.stored[n] = values.out(id);
        if (const run::Box* const box = values.part(id); box != nullptr)
            rows.stored_parts[n] = row_part(*box);
        const run::HeadSet heads = values.computed(id);
        for (std::int64_t h = 0; h < d.H && heads != 0; ++h)
            if ((heads & run::head_bit(h, d.H)) != 0)
                computed[static_cast<std::size_t>(h)] |= bit_of(static_cast<RowStage>(n));
    }
    rows.computed = computed;
    rows.part = part_to_compute(rows);
    rows.mask = mask_of(values);
    if (any_computes(weights) && !has(masked) &&
        is_open_outside(d, values[a_[masked]], minus_infinity, rows.mask))
        rows.mask = {};
    if (any_computes(head_out) && !has(weights) && is_open_outside(d, values[a_[weights]], 0.0F, rows.mask))
        rows.mask = {};
    const double temperature =
        has(scaled) && a_.temperature != no_node ? static_cast<double>(*values[a_.temperature].data()) : 1.0;
    const double root = a_.scale.root_of > 0 ? std::sqrt(static_cast<double>(a_.scale.root_of)) : 1.0;
    rows.factor = static_cast<float>(a_.scale.factor / (root * temperature));
    rows.score_cap = static_cast<float>(a_.scale.cap);
    rows.sinks = has(weights) && a_.sinks != no_node ? values[a_.sinks].data() : nullptr;
    rows.gains =
        (has(concat) || has(contributions)) && a_.gains != no_node ? values[a_.gains].data() : nullptr;
    rows.W_O = has(contributions) ? values[a_.W_O].data() : nullptr;
    PackedRows packed;
    if (any_computes(scores)) {
        rows.queries = head_vectors(values[a_.q], d.dk);
        for (std::size_t n = 0; n < a_.terms.size(); ++n)
            rows.terms[n] = a_.terms[n] == no_node ? nullptr : values[a_.terms[n]].data();
    }
    if (any_computes(scores) || any_computes(head_out)) {
        rows.packed = &packed;
        pack(rows, packed, values, progress);
    }
    rows.progress_begin = values.progress_begin;
    rows.progress_end = values.progress_end;
    std::vector<MaskedRow> empty;
    engine::naming_layer(layer_, [&] { compute_attention(rows, machine, progress, empty); });
    for (const MaskedRow& row : empty)
        values.empty_rows.push_back({a_[weights], row.b, row.h, row.i});
}

/// Finds the nodes of an attention from its scores on.
class AttentionFinder {
public:
    AttentionFinder(StepList& list, NodeId scores) : list_(list) {
        a_.stages.fill(no_node);
        a_[RowStage::scores] = scores;
    }
    void add_steps();
    /// Adds a step for what is computed from head outputs that another step has.
    void add_ends(NodeId head_out);

private:
    const Node& input(NodeId id, std::size_t at) const { return list_.node(list_.node(id).inputs[at].node); }
    NodeId input_id(NodeId id, std::size_t at) const { return optional_input(list_.node(id), at); }
    void find_stages();
    bool find_mask(NodeId masked);
    void find_ends(NodeId head_out);
    NodeId without_split(NodeId heads, NodeId reader, std::vector<NodeId>& nodes) const;

    StepList& list_;
    Attention a_;
    NodeId gated_ = no_node; ///< head outputs times their gates, which concat and contributions read
};

bool AttentionFinder::find_mask(NodeId masked) {
    a_.mask = std::get<graph::Mask>(list_.node(masked).attributes);
    a_.has_mask = a_.mask.limits_positions() || list_.node(masked).inputs.size() > 1;
    const std::optional<engine::MaskInputs> inputs = engine::mask_inputs(list_.graph(), masked);
    if (inputs) {
        a_.added = inputs->added;
        a_.allowed = inputs->allowed;
    }
    return inputs.has_value();
}

void AttentionFinder::find_ends(NodeId head_out) {
    const NodeId joined = list_.free_reader(head_out, Op::join_heads),
                 projected = list_.free_reader(head_out, Op::head_projection);
    if (joined != no_node)
        a_.gains = input_id(joined, 1);
    if (projected != no_node && (joined == no_node || input_id(projected, 2) == a_.gains)) {
        a_.gains = input_id(projected, 2);
        a_.W_O = input_id(projected, 1);
        a_.dims.D = list_.node(projected).axes.size(3);
        a_[RowStage::contributions] = projected;
    }
    a_[RowStage::concat] = joined;
}

/// Each stage reads the one before; the first that is missing ends the search.
void AttentionFinder::find_stages() {
    using enum RowStage;
    const NodeId scores_id = a_[scores];
    a_.q = input_id(scores_id, 0);
    a_.k = input_id(scores_id, 1);
    a_.terms = {input_id(scores_id, 2), input_id(scores_id, 3)};
    const graph::Axes &axes = list_.node(scores_id).axes, &keys = list_.node(a_.k).axes;
    a_.dims = {.B = axes.size(0),
               .Tq = axes.size(2),
               .Tk = axes.size(3),
               .H = axes.size(1),
               .Hkv = keys.size(1),
               .dk = keys.size(3),
               .dv = 1};
    const NodeId plain = list_.free_reader(scores_id, Op::scale);
    const NodeId scaled_id = plain != no_node ? plain : list_.free_reader(scores_id, Op::soft_cap);
    if (scaled_id == no_node)
        return;
    a_[scaled] = scaled_id;
    a_.scale = std::get<graph::Scale>(list_.node(scaled_id).attributes);
    a_.temperature = input_id(scaled_id, 1);
    const NodeId masked_id = list_.free_reader(scaled_id, Op::mask);
    if (masked_id == no_node || !find_mask(masked_id))
        return;
    a_[masked] = masked_id;
    const NodeId weights_id = list_.free_reader(masked_id, Op::softmax);
    if (weights_id == no_node)
        return;
    a_[weights] = weights_id;
    a_.sinks = input_id(weights_id, 1);
    const NodeId head_out_id = list_.free_reader(weights_id, Op::value_sum);
    if (head_out_id == no_node || input(head_out_id, 1).axes.size(1) != a_.dims.Hkv)
        return;
    a_.v = input_id(head_out_id, 1);
    a_.dims.dv = list_.node(a_.v).axes.size(3);
    a_[head_out] = head_out_id;
    for (const NodeId reader : list_.readers(head_out_id))
        if (list_.node(reader).op == Op::gate)
            gated_ = reader;
    if (gated_ == no_node)
        find_ends(head_out_id);
}

/// The node whose columns the split copies, if only `reader` needs the copy; the split then belongs to the
/// step.
NodeId AttentionFinder::without_split(NodeId heads, NodeId reader, std::vector<NodeId>& nodes) const {
    if (heads == no_node || list_.node(heads).op != Op::split_heads || !list_.is_internal(heads) ||
        list_.readers(heads) != std::vector<NodeId>{reader})
        return heads;
    nodes.push_back(heads);
    return input_id(heads, 0);
}

/// A stage that an intervention changes ends its step: the next one reads the changed numbers.
void AttentionFinder::add_steps() {
    using enum RowStage;
    find_stages();
    std::size_t first = 0;
    for (std::size_t last = 0; last < row_stage_count; ++last) {
        const bool ends =
            last + 1 == row_stage_count ||
            (last < place(concat) && a_.stages[last] != no_node && list_.is_intervened(a_.stages[last]));
        if (!ends)
            continue;
        std::vector<NodeId> nodes, by_parts, stages;
        const auto has = [&](RowStage stage) {
            return place(stage) >= first && place(stage) <= last && a_[stage] != no_node;
        };
        if (has(scores)) {
            a_.q = without_split(a_.q, a_[scores], nodes);
            a_.k = without_split(a_.k, a_[scores], nodes);
        }
        if (has(head_out))
            a_.v = without_split(a_.v, a_[head_out], nodes);
        for (std::size_t n = first; n <= last; ++n) {
            if (a_.stages[n] == no_node)
                continue;
            nodes.push_back(a_.stages[n]);
            stages.push_back(a_.stages[n]);
            if (n != place(concat)) // the heads are columns of one row
                by_parts.push_back(a_.stages[n]);
        }
        if (!nodes.empty())
            list_.add({.nodes = std::move(nodes),
                       .kernel = std::make_unique<AttentionKernel>(a_, list_, first, last),
                       .by_heads = true,
                       .by_parts = std::move(by_parts),
                       .reads_earlier = std::move(stages)});
        first = last + 1;
    }
    if (gated_ != no_node)
        add_ends(gated_);
}

void AttentionFinder::add_ends(NodeId head_out) {
    const graph::Axes& axes = list_.node(head_out).axes;
    a_.dims = {.B = axes.size(0),
               .Tq = axes.size(2),
               .Tk = axes.size(2),
               .H = axes.size(1),
               .Hkv = axes.size(1),
               .dk = axes.size(3),
               .dv = axes.size(3)};
    find_ends(head_out);
    std::vector<NodeId> nodes, by_parts;
    for (const RowStage stage : {RowStage::concat, RowStage::contributions})
        if (a_[stage] != no_node)
            nodes.push_back(a_[stage]);
    if (nodes.empty())
        return;
    if (a_[RowStage::contributions] != no_node)
        by_parts.push_back(a_[RowStage::contributions]);
    Attention ends{.gains = a_.gains, .W_O = a_.W_O, .dims = a_.dims, .scale = {}, .mask = {}};
    ends.stages.fill(no_node);
    ends[RowStage::head_out] = head_out;
    ends[RowStage::concat] = a_[RowStage::concat];
    ends[RowStage::contributions] = a_[RowStage::contributions];
    list_.add({.nodes = nodes,
               .kernel = std::make_unique<AttentionKernel>(ends, list_, place(RowStage::concat),
                                                           place(RowStage::contributions)),
               .by_heads = true,
               .by_parts = std::move(by_parts),
               .reads_earlier = nodes});
}

class MeanOverHeads final : public Kernel {
public:
    MeanOverHeads(NodeId node, NodeId weights, std::shared_ptr<CpuMachine> machine)
        : node_(node), weights_(weights), machine_(std::move(machine)) {}
    void compute(Values& values, Progress& progress) const override {
        if (Tensor* const out = values.out(node_); out != nullptr)
            average_heads(values[weights_], *out, *machine_, progress);
    }

private:
    NodeId node_, weights_;
    std::shared_ptr<CpuMachine> machine_;
};

} // namespace

} // namespace headscope::cpu::nodes

namespace headscope::cpu {

const KeyValueCache* cache_of(const run::KernelState* state) {
    const auto* const of_attention = dynamic_cast<const nodes::AttentionState*>(state);
    return of_attention == nullptr ? nullptr : &of_attention->cache;
}

} // namespace headscope::cpu

namespace headscope::cpu::nodes {

void add_attention(StepList& list) {
    list.for_each(Op::dot_product, [&](NodeId id, const Node&) { AttentionFinder(list, id).add_steps(); });
    // Head outputs whose scores another device computes.
    for (const Op op : {Op::join_heads, Op::head_projection})
        list.for_each(op, [&](NodeId, const Node& node) {
            const NodeId heads = node.inputs[0].node;
            if (list.node(heads).op == Op::value_sum || list.node(heads).op == Op::gate)
                AttentionFinder(list, no_node).add_ends(heads);
        });
    list.for_each(Op::mean, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id},
                  .kernel = std::make_unique<MeanOverHeads>(id, node.inputs[0].node, list.machine())});
    });
}

} // namespace headscope::cpu::nodes
