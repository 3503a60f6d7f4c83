#include "core/attention/graph_of_problem.h"

#include "core/attention/same_bits.h"
#include "core/base/overloaded.h"
#include "core/graph/labels.h"
#include "core/graph/parts/attention.h"
#include "core/graph/parts/sizes.h"

#include <algorithm>
#include <utility>

namespace headscope {

namespace {

namespace labels = graph::labels;
using graph::OptionalValue;
using graph::Value;

/// Adds the leaves of a problem to a graph.
class LeafBuilder {
public:
    LeafBuilder(graph::Builder& builder, const ProblemStructure& structure)
        : builder_(builder), structure_(structure) {}

    /// A tensor that every problem has.
    Value tensor(const graph::Label& label, TensorId id) {
        const graph::Axes axes = axes_of(id);
        return is_parameter(id) ? builder_.parameter(label, axes) : builder_.input(label, axes);
    }
    OptionalValue optional(const graph::Label& label, TensorId id) {
        return structure_.inputs.has(id) ? OptionalValue(tensor(label, id)) : std::nullopt;
    }
    graph::Axes axes_of(TensorId id) const {
        std::vector<graph::Axis> axes;
        const TensorInfo& info = tensor_info(id);
        for (int axis = 0; axis < info.rank(); ++axis)
            axes.push_back(graph::axis_of(info.axes[static_cast<std::size_t>(axis)], structure_.dims));
        return graph::Axes(std::move(axes));
    }

private:
    static bool is_parameter(TensorId id) {
        return id != TensorId::x && id != TensorId::x_kv && id != TensorId::query_scale &&
               id != TensorId::rel_positions;
    }
    graph::Builder& builder_;
    const ProblemStructure& structure_;
};

std::optional<std::int64_t> limit_of(std::int64_t distance) {
    return distance == MaskRows::Stored::any_distance ? std::nullopt : std::optional(distance);
}

/// The axes of an explicit mask that is stored with these steps: an axis along which it does not change is
/// left out.
graph::Axes mask_axes(const MaskRows::Strides& strides, const Dims& dims) {
    std::vector<graph::Axis> axes;
    for (const auto& [stride, axis] :
         {std::pair{strides.b, Axis::B}, {strides.h, Axis::H}, {strides.i, Axis::Tq}})
        if (stride != 0)
            axes.push_back(graph::axis_of(axis, dims));
    axes.push_back(graph::axis_of(Axis::Tk, dims));
    return graph::Axes(std::move(axes));
}

/// Sets the leaves that are tensors of the problem.
void set_tensors(const AttentionGraph& graph, const Problem& problem, std::vector<TensorPtr>& leaves) {
    const auto set = [&](TensorId id, const TensorPtr& tensor) {
        if (const graph::NodeId node = graph.node(id); node != AttentionGraph::no_node)
            leaves[static_cast<std::size_t>(node)] = tensor;
    };
    visit_fields(Overloaded{[&](const Field& field, const TensorPtr& tensor) {
                                if (tensor != nullptr)
                                    set(*field.row, tensor);
                            },
                            [&](const Field&, const std::optional<Rotary>& rotary) {
                                if (!rotary)
                                    return;
                                set(TensorId::rotary_cos, rotary->cos);
                                set(TensorId::rotary_sin, rotary->sin);
                            },
                            [](const Field&, const auto&) {}},
                 problem);
}

void set_gains(const AttentionGraph& graph, const Problem& problem, std::vector<TensorPtr>& leaves) {
    auto gains = std::make_shared<Tensor>(Shape{problem.dims.H}, 1.0F);
    std::ranges::copy(problem.gains, gains->data());
    leaves[static_cast<std::size_t>(graph.node(TensorId::gain))] = std::move(gains);
}

void set_temperature(const AttentionGraph& graph, const Problem& problem, std::vector<TensorPtr>& leaves) {
    if (const graph::NodeId node = graph.node(TensorId::temperature); node != AttentionGraph::no_node)
        leaves[static_cast<std::size_t>(node)] = std::make_shared<Tensor>(Shape(), problem.temperature);
}

void set_masks(const AttentionGraph& graph, const MaskRows& mask, std::vector<TensorPtr>& leaves) {
    const MaskRows::Stored stored = mask.stored();
    const auto shape = [&](graph::NodeId node) { return graph.graph.node(node).axes.shape(); };
    if (const graph::NodeId node = graph.node(TensorId::mask); node != AttentionGraph::no_node)
        leaves[static_cast<std::size_t>(node)] = make_tensor(shape(node), stored.add);
    if (const graph::NodeId node = graph.allowed; node != AttentionGraph::no_node) {
        auto flags = std::make_shared<Tensor>(shape(node));
        std::ranges::copy(stored.allowed, flags->data());
        leaves[static_cast<std::size_t>(node)] = std::move(flags);
    }
}

/// The node of each tensor, found by its name.
AttentionGraph with_nodes(graph::Graph built) {
    AttentionGraph graph{std::move(built), {}};
    graph.nodes.fill(AttentionGraph::no_node);
    const auto find = [&graph](std::string_view name) {
        return graph.graph.try_find(name).value_or(AttentionGraph::no_node);
    };
    for (int n = 0; n < tensor_count; ++n)
        graph.nodes[static_cast<std::size_t>(n)] = find(tensor_info(static_cast<TensorId>(n)).name);
    graph.allowed = find(labels::allowed.name);
    graph.tensors.resize(graph.graph.nodes().size());
    for (int n = 0; n < tensor_count; ++n)
        if (const auto id = static_cast<TensorId>(n); graph.has(id))
            graph.tensors[static_cast<std::size_t>(graph.node(id))] = id;
    return graph;
}

} // namespace

ProblemStructure structure_of(const Problem& problem, const MaskRows& mask) {
    const MaskRows::Stored stored = mask.stored();
    ProblemStructure structure{.dims = problem.dims,
                               .parts = problem.parts(),
                               .inputs = {},
                               .norm_eps = problem.norm_eps,
                               .qkv_limit = problem.qkv_limit,
                               .score_cap = problem.score_cap,
                               .rotary_entries = problem.rotary ? problem.rotary->cos->shape()[0] : 0,
                               .reach_back = stored.reach_back,
                               .reach_ahead = stored.reach_ahead,
                               .chunk = stored.chunk,
                               .added = {},
                               .allowed = {}};
    visit_fields(Overloaded{[&](const Field& field, const TensorPtr& tensor) {
                                if (tensor != nullptr)
                                    structure.inputs = structure.inputs.with(*field.row);
                            },
                            [](const Field&, const auto&) {}},
                 problem);
    if (!stored.add.empty())
        structure.added = stored.add_strides;
    if (!stored.allowed.empty())
        structure.allowed = stored.allowed_strides;
    return structure;
}

AttentionGraph graph_of(const ProblemStructure& structure) {
    using enum TensorId;
    graph::Builder builder;
    LeafBuilder leaves(builder, structure);
    const ProblemParts& parts = structure.parts;
    graph::Attention attention{.dims = structure.dims,
                               .x = leaves.tensor(labels::x, x),
                               .x_kv = leaves.optional(labels::x_kv, x_kv),
                               .W_Q = leaves.tensor(labels::W_Q, W_Q),
                               .W_K = leaves.tensor(labels::W_K, W_K),
                               .W_V = leaves.tensor(labels::W_V, W_V),
                               .W_O = leaves.tensor(labels::W_O, W_O),
                               .b_Q = leaves.optional(labels::b_Q, b_Q),
                               .b_K = leaves.optional(labels::b_K, b_K),
                               .b_V = leaves.optional(labels::b_V, b_V),
                               .b_O = leaves.optional(labels::b_O, b_O)};
    attention.qkv_limit = static_cast<double>(structure.qkv_limit);
    attention.joint_norm = parts.joint_norm;
    attention.q_norm = attention.joint_norm ? leaves.optional(labels::q_norm_all, q_norm_all)
                                            : leaves.optional(labels::q_norm, q_norm);
    attention.k_norm = attention.joint_norm ? leaves.optional(labels::k_norm_all, k_norm_all)
                                            : leaves.optional(labels::k_norm, k_norm);
    attention.v_norm = leaves.optional(labels::v_norm, v_norm);
    attention.norm.eps = static_cast<double>(structure.norm_eps);
    if (structure.rotary_entries != 0) {
        graph::Axes axes = leaves.axes_of(rotary_cos);
        axes = axes.with(0, {"B", structure.rotary_entries});
        attention.rotary =
            graph::Rotary{builder.input(labels::rotary_cos, axes), builder.input(labels::rotary_sin, axes)};
    }
    attention.query_scale = leaves.optional(labels::query_scale, query_scale);
    if (parts.relative_terms)
        attention.relative =
            graph::RelativePositions{.rows = parts.relative,
                                     .table = leaves.tensor(labels::rel_positions, rel_positions),
                                     .c2p = parts.c2p,
                                     .p2c = parts.p2c,
                                     .W_K = leaves.optional(labels::W_KR, W_KR),
                                     .b_K = leaves.optional(labels::b_KR, b_KR),
                                     .W_Q = leaves.optional(labels::W_QR, W_QR),
                                     .b_Q = leaves.optional(labels::b_QR, b_QR)};
    attention.score_cap = static_cast<double>(structure.score_cap);
    if (parts.tempered)
        attention.temperature = builder.input(labels::temperature, {});
    attention.mask.before = limit_of(structure.reach_back);
    attention.mask.after = limit_of(structure.reach_ahead);
    attention.mask.chunk = limit_of(structure.chunk);
    if (structure.added)
        attention.added = builder.input(labels::mask, mask_axes(*structure.added, structure.dims));
    if (structure.allowed)
        attention.allowed = builder.input(labels::allowed, mask_axes(*structure.allowed, structure.dims),
                                          graph::Input::Kind::flags);
    attention.sink = leaves.optional(labels::sink, sink);
    attention.W_G = leaves.optional(labels::W_G, W_G);
    attention.b_G = leaves.optional(labels::b_G, b_G);
    attention.gain = builder.input(labels::gain, leaves.axes_of(gain));
    graph::attention(builder, attention);
    return with_nodes(builder.finish());
}

AttentionGraph attention_graph(const Problem& problem) {
    if (problem.x == nullptr)
        return with_nodes(graph::Builder().finish());
    return graph_of(structure_of(problem, MaskRows(problem.mask, problem.dims)));
}

std::vector<TensorPtr> leaves_of(const AttentionGraph& graph, const Problem& problem, const MaskRows& mask) {
    std::vector<TensorPtr> leaves(graph.graph.nodes().size());
    set_tensors(graph, problem, leaves);
    set_gains(graph, problem, leaves);
    set_temperature(graph, problem, leaves);
    set_masks(graph, mask, leaves);
    return leaves;
}

std::vector<TensorPtr> leaves_of(const AttentionGraph& graph, const Problem& problem, const Problem& other,
                                 const std::vector<TensorPtr>& leaves_of_other) {
    std::vector<TensorPtr> leaves = leaves_of_other;
    set_tensors(graph, problem, leaves);
    if (!same_bits(problem.gains, other.gains))
        set_gains(graph, problem, leaves);
    if (!same_bits(problem.temperature, other.temperature))
        set_temperature(graph, problem, leaves);
    if (!same_bits(problem.mask, other.mask))
        set_masks(graph, MaskRows(problem.mask, problem.dims), leaves);
    return leaves;
}

ProblemGraph graph_of(const Problem& problem) {
    validate(problem);
    const MaskRows mask(problem.mask, problem.dims);
    AttentionGraph built = graph_of(structure_of(problem, mask));
    const std::vector<TensorPtr> numbers = leaves_of(built, problem, mask);
    graph::Leaves leaves;
    for (std::size_t node = 0; node < numbers.size(); ++node)
        if (numbers[node] != nullptr)
            leaves.emplace(built.graph.nodes()[node].name, numbers[node]);
    return {std::move(built.graph), std::move(leaves)};
}

} // namespace headscope
