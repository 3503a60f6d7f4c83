#include "core/engine/vulkan/attention_nodes.h"

#include <algorithm>
#include <optional>

namespace headscope::vulkan {

namespace {

using graph::Op;
using enum TensorId;

/// Finds the nodes of one attention after another; no node belongs to two of them.
class AttentionFinder {
public:
    explicit AttentionFinder(const run::Needs& needs)
        : needs_(needs), graph_(needs.graph()), taken_(graph_.nodes().size()) {}

    /// scores: a node of products of queries and keys.
    std::optional<AttentionNodes> find(NodeId scores);

private:
    const graph::Node& node(NodeId id) const { return graph_.node(id); }
    NodeId input(NodeId id, std::size_t at) const {
        return at < node(id).inputs.size() ? node(id).inputs[at].node : no_node;
    }
    bool is_free(NodeId id) const { return needs_.is_computed(id) && !taken_[static_cast<std::size_t>(id)]; }
    /// The free reader with one of these operations whose first input is this node.
    NodeId reader(NodeId id, std::initializer_list<Op> ops) const;
    bool has_kernel(const graph::Node& rows) const;
    bool find_scores(AttentionNodes& a, NodeId scores) const;
    bool find_ends(AttentionNodes& a) const;
    HeadNodes find_heads(NodeId heads) const;
    HeadNodes find_needed(NodeId heads) const;
    NodeId values_of(NodeId scores) const;
    void find_sources(AttentionNodes& a) const;

    const run::Needs& needs_;
    graph::Graph graph_;
    std::vector<bool> taken_;
};

NodeId AttentionFinder::reader(NodeId id, std::initializer_list<Op> ops) const {
    for (const NodeId reader : graph_.readers(id))
        if (std::ranges::count(ops, node(reader).op) > 0 && is_free(reader) && input(reader, 0) == id)
            return reader;
    return no_node;
}

/// There are norms without a mean, and rotations of whole heads whose halves rotate together.
bool AttentionFinder::has_kernel(const graph::Node& rows) const {
    if (rows.op == Op::split_heads || rows.op == Op::joint_norm)
        return true;
    if (rows.op == Op::head_norm)
        return !std::get<graph::Norm>(rows.attributes).centered;
    if (rows.op != Op::rotate)
        return false;
    const auto& rotation = std::get<graph::Rotation>(rows.attributes);
    return rotation.pairs == graph::Rotation::Pairs::halves && rotation.first == 0 &&
           (rotation.width == 0 || rotation.width == rows.axes.size(3)) &&
           node(rows.inputs[1].node).axes.rank() == 3;
}

/// From rows of heads back to their projection.
HeadNodes AttentionFinder::find_heads(NodeId heads) const {
    HeadNodes found{.heads = heads, .rows = {}};
    const graph::Axes& axes = node(heads).axes;
    found.B = axes.size(0);
    const bool side_by_side = axes.rank() == 3;
    found.T = axes.size(side_by_side ? 1 : 2);
    found.width = side_by_side ? axes[2].inner : axes.size(3);
    found.count = side_by_side ? axes[2].size / found.width : axes.size(1);
    const HeadNodes given = found;
    NodeId at = heads;
    for (; is_free(at) && has_kernel(node(at)); at = input(at, 0)) {
        if (needs_.is_intervened(at))
            return given;
        const graph::Node& rows = node(at);
        const auto* const norm = std::get_if<graph::Norm>(&rows.attributes);
        found.rows.push_back({.node = at,
                              .op = rows.op,
                              .eps = norm == nullptr ? 0 : static_cast<float>(norm->eps),
                              .tables = {input(at, 1), input(at, 2)}});
    }
    std::ranges::reverse(found.rows);
    const auto count = [&](std::initializer_list<Op> ops) {
        return std::ranges::count_if(
            found.rows, [&](const RowsNode& rows) { return std::ranges::count(ops, rows.op) > 0; });
    };
    if (found.rows.size() > most_rows || !is_free(at) || needs_.is_intervened(at) ||
        node(at).op != Op::linear || node(at).axes.rank() != 3 ||
        count({Op::head_norm, Op::joint_norm}) > 1 || count({Op::rotate}) > 1)
        return given;
    const auto& linear = std::get<graph::Linear>(node(at).attributes);
    if (linear.transposed)
        return given;
    found.computed_here = true;
    found.projected = at;
    found.source = input(at, 0);
    found.W = input(at, 1);
    found.b = input(at, 2);
    found.depth = node(found.source).axes.back(0).size;
    found.limit = static_cast<float>(linear.limit);
    return found;
}

/// The same of the last node that is needed, if the heads themselves are not.
HeadNodes AttentionFinder::find_needed(NodeId heads) const {
    while (!needs_.is_computed(heads) && has_kernel(node(heads)))
        heads = input(heads, 0);
    if (!is_free(heads))
        return {};
    HeadNodes found = find_heads(heads);
    return found.computed_here ? found : HeadNodes();
}

/// Leaves queries, keys or values to others if they share no source and no rotary tables with those before
/// them: there is one slot for tokens of each side, and one pair of tables.
void AttentionFinder::find_sources(AttentionNodes& a) const {
    auto& [queries, keys, values] = a.heads;
    const auto tables_of = [](const HeadNodes& heads) {
        const auto rotation = std::ranges::find(heads.rows, Op::rotate, &RowsNode::op);
        return rotation == heads.rows.end() ? std::array{no_node, no_node} : rotation->tables;
    };
    const std::array none{no_node, no_node};
    std::array tables = queries.computed_here ? tables_of(queries) : none;
    NodeId second = no_node; ///< a source other than that of the queries
    for (HeadNodes* const heads : {&keys, &values}) {
        if (!heads->computed_here)
            continue;
        const bool same_source = queries.computed_here && heads->source == queries.source;
        const std::array rotation = tables_of(*heads);
        if ((!same_source && second != no_node && heads->source != second) ||
            (rotation != none && tables != none && rotation != tables)) {
            heads->computed_here = false;
            continue;
        }
        if (!same_source)
            second = heads->source;
        if (rotation != none)
            tables = rotation;
    }
}

/// From the scores to the head outputs. Returns false if the kernels cannot compute them.
bool AttentionFinder::find_scores(AttentionNodes& a, NodeId scores_id) const {
    const auto set = [&](TensorId id, NodeId node) {
        a.stages[static_cast<std::size_t>(id)] = node;
        return node == no_node || !needs_.is_intervened(node);
    };
    if (node(scores_id).inputs.size() > 2)
        return false; // terms by relative position
    const graph::Axes& axes = node(scores_id).axes;
    const graph::Axes& keys = node(input(scores_id, 1)).axes;
    if (axes.rank() != 4 || keys.rank() != 4 || node(input(scores_id, 0)).axes.rank() != 4)
        return false;
    a.dims = {.B = axes.size(0),
              .Tq = axes.size(2),
              .Tk = axes.size(3),
              .H = axes.size(1),
              .Hkv = keys.size(1),
              .dk = keys.size(3),
              .dv = 1};
    if (!set(scores, scores_id))
        return false;
    const NodeId scaled_id = reader(scores_id, {Op::scale, Op::soft_cap});
    if (scaled_id == no_node)
        return true;
    a.scale = std::get<graph::Scale>(node(scaled_id).attributes);
    a.temperature = input(scaled_id, 1);
    const NodeId masked_id = reader(scaled_id, {Op::mask});
    if (!set(scaled, scaled_id) || !set(masked, masked_id))
        return false;
    if (masked_id == no_node)
        return true;
    a.mask = std::get<graph::Mask>(node(masked_id).attributes);
    const std::optional<engine::MaskInputs> inputs = engine::mask_inputs(graph_, masked_id);
    if (a.mask.chunk || !inputs)
        return false;
    a.mask_inputs = *inputs;
    const NodeId weights_id = reader(masked_id, {Op::softmax});
    if (!set(weights, weights_id))
        return false;
    if (weights_id == no_node)
        return true;
    a.sinks = input(weights_id, 1);
    set(weights_mean, reader(weights_id, {Op::mean}));
    const NodeId head_out_id = reader(weights_id, {Op::value_sum});
    if (!set(head_out, head_out_id))
        return false;
    if (head_out_id == no_node)
        return true;
    const graph::Axes& values = node(input(head_out_id, 1)).axes;
    a.dims.dv = values.size(3);
    return values.size(1) == a.dims.Hkv;
}

/// Finds concat, contributions and output. Returns false if concat and contributions have different head
/// gains, because the kernels apply them once.
bool AttentionFinder::find_ends(AttentionNodes& a) const {
    const NodeId joined = reader(a.stage(head_out), {Op::join_heads}),
                 projected = reader(a.stage(head_out), {Op::head_projection});
    if (joined != no_node && projected != no_node && input(joined, 1) != input(projected, 2))
        return false;
    if (joined != no_node) {
        a.gains = input(joined, 1);
        a.stages[static_cast<std::size_t>(concat)] = joined;
        const NodeId result = needs_.is_intervened(joined) ? no_node : reader(joined, {Op::linear});
        if (result != no_node) {
            const auto& linear = std::get<graph::Linear>(node(result).attributes);
            if (!linear.transposed && linear.limit == 0) {
                a.stages[static_cast<std::size_t>(output)] = result;
                a.W_O = input(result, 1);
                a.b_O = input(result, 2);
                a.dims.D = node(result).axes.size(2);
            }
        }
    }
    if (projected != no_node && (a.W_O == no_node || a.W_O == input(projected, 1))) {
        a.gains = input(projected, 2);
        a.stages[static_cast<std::size_t>(contributions)] = projected;
        a.W_O = input(projected, 1);
        a.dims.D = node(projected).axes.size(3);
    }
    return true;
}

/// The values that are summed with the weights of these scores; no_node if there are none.
NodeId AttentionFinder::values_of(NodeId scores_id) const {
    NodeId at = scores_id;
    for (const std::initializer_list<Op> ops :
         {std::initializer_list<Op>{Op::scale, Op::soft_cap}, {Op::mask}, {Op::softmax}, {Op::value_sum}}) {
        const auto readers = graph_.readers(at);
        const auto found = std::ranges::find_if(readers, [&](NodeId id) {
            return std::ranges::count(ops, node(id).op) > 0 && input(id, 0) == at;
        });
        if (found == readers.end())
            return no_node;
        at = *found;
    }
    return input(at, 1);
}

std::optional<AttentionNodes> AttentionFinder::find(NodeId scores_id) {
    AttentionNodes a;
    a.stages.fill(no_node);
    const bool attends = needs_.is_computed(scores_id);
    if (attends && (!find_scores(a, scores_id) || (a.stage(head_out) != no_node && !find_ends(a))))
        return std::nullopt;
    const std::array inputs{input(scores_id, 0), input(scores_id, 1), values_of(scores_id)};
    for (std::size_t n = 0; n < inputs.size(); ++n) {
        const bool is_read = n == 2 ? a.stage(head_out) != no_node : attends;
        if (inputs[n] != no_node)
            a.heads[n] = is_read ? find_heads(inputs[n]) : find_needed(inputs[n]);
    }
    find_sources(a);
    const std::vector<NodeId> computed = a.computed();
    if (computed.empty())
        return std::nullopt;
    for (const NodeId id : computed)
        taken_[static_cast<std::size_t>(id)] = true;
    return a;
}

} // namespace

std::vector<NodeId> AttentionNodes::computed() const {
    std::vector<NodeId> nodes;
    for (const HeadNodes& of : heads) {
        if (!of.computed_here)
            continue;
        nodes.push_back(of.projected);
        for (const RowsNode& rows : of.rows)
            nodes.push_back(rows.node);
    }
    for (const NodeId id : stages)
        if (id != no_node)
            nodes.push_back(id);
    return nodes;
}

std::vector<AttentionNodes> find_attentions(const run::Needs& needs) {
    AttentionFinder finder(needs);
    std::vector<AttentionNodes> found;
    const auto count = static_cast<NodeId>(needs.graph().nodes().size());
    for (NodeId id = 0; id < count; ++id)
        if (needs.graph().node(id).op == Op::dot_product)
            if (std::optional<AttentionNodes> one = finder.find(id))
                found.push_back(std::move(*one));
    return found;
}

bool has_score_kernels(const Problem& problem) {
    return !problem.relative && !has_rule<ChunkedCausalMask>(problem.mask);
}

double flops_of(const AttentionNodes& attention) {
    const Dims& d = attention.dims;
    std::int64_t multiply_adds = d.B * d.H * d.Tq * (d.Tk * (d.dk + d.dv) + d.dv * d.D);
    for (const HeadNodes& heads : attention.heads)
        multiply_adds += heads.B * heads.T * heads.depth * heads.count * heads.width;
    return 2.0 * static_cast<double>(multiply_adds);
}

} // namespace headscope::vulkan
