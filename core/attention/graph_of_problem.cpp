#include "core/attention/graph_of_problem.h"

#include "core/base/overloaded.h"
#include "core/graph/labels.h"
#include "core/graph/parts/attention.h"
#include "core/graph/parts/sizes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace headscope {

namespace {

namespace labels = graph::labels;
using graph::OptionalValue;
using graph::Value;

/// Adds the leaves of a problem to a graph, with their numbers.
class LeafBuilder {
public:
    LeafBuilder(graph::Builder& builder, graph::Leaves& leaves, const Problem& problem)
        : builder_(builder), leaves_(leaves), problem_(problem) {}

    Value given(const graph::Label& label, graph::Axes axes, TensorPtr numbers,
                graph::Input::Kind kind = graph::Input::Kind::numbers) {
        leaves_.emplace(label.name, std::move(numbers));
        return builder_.input(label, std::move(axes), kind);
    }
    /// A tensor that the problem must have.
    Value tensor(const graph::Label& label, TensorId id) {
        leaves_.emplace(label.name, problem_.input_ptr(id));
        const graph::Axes axes = axes_of(id);
        return is_parameter(id) ? builder_.parameter(label, axes) : builder_.input(label, axes);
    }
    OptionalValue optional(const graph::Label& label, TensorId id) {
        return problem_.input(id) == nullptr ? std::nullopt : OptionalValue(tensor(label, id));
    }
    graph::Axes axes_of(TensorId id) const {
        std::vector<graph::Axis> axes;
        const TensorInfo& info = tensor_info(id);
        for (int axis = 0; axis < info.rank(); ++axis)
            axes.push_back(graph::axis_of(info.axes[static_cast<std::size_t>(axis)], problem_.dims));
        return graph::Axes(std::move(axes));
    }

private:
    static bool is_parameter(TensorId id) { return id != TensorId::x && id != TensorId::x_kv; }
    graph::Builder& builder_;
    graph::Leaves& leaves_;
    const Problem& problem_;
};

/// The limits of distance that the rules of a mask set together.
graph::Mask limits_of(const Mask& mask) {
    graph::Mask limits;
    const auto limit = [](std::optional<std::int64_t>& at_most, std::int64_t distance) {
        at_most = std::min(at_most.value_or(distance), distance);
    };
    for (const MaskRule& rule : mask)
        std::visit(Overloaded{[&](const CausalMask&) { limit(limits.after, 0); },
                              [&](const SlidingWindowCausalMask& window) {
                                  limit(limits.before, window.window - 1);
                                  limit(limits.after, 0);
                              },
                              [&](const SlidingWindowSymmetricMask& window) {
                                  limit(limits.before, window.half_width);
                                  limit(limits.after, window.half_width);
                              },
                              [](const auto&) {}},
                   rule);
    return limits;
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

void add_mask(LeafBuilder& leaves, const Problem& problem, graph::Attention& attention) {
    attention.mask = limits_of(problem.mask);
    const MaskRows rows(problem.mask, problem.dims);
    const MaskRows::Stored stored = rows.stored();
    if (!stored.add.empty()) {
        const graph::Axes axes = mask_axes(stored.add_strides, problem.dims);
        attention.added = leaves.given(labels::mask, axes, make_tensor(axes.shape(), stored.add));
    }
    if (!stored.allowed.empty()) {
        const graph::Axes axes = mask_axes(stored.allowed_strides, problem.dims);
        const std::vector<float> flags(stored.allowed.begin(), stored.allowed.end());
        attention.allowed =
            leaves.given(labels::allowed, axes, make_tensor(axes.shape(), flags), graph::Input::Kind::flags);
    }
}

} // namespace

ProblemGraph graph_of(const Problem& problem) {
    using enum TensorId;
    validate(problem);
    graph::Builder builder;
    graph::Leaves numbers;
    LeafBuilder leaves(builder, numbers, problem);
    graph::Attention attention{.dims = problem.dims,
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
    attention.qkv_limit = static_cast<double>(problem.qkv_limit);
    attention.joint_norm = problem.parts().joint_norm;
    attention.q_norm = attention.joint_norm ? leaves.optional(labels::q_norm_all, q_norm_all)
                                            : leaves.optional(labels::q_norm, q_norm);
    attention.k_norm = attention.joint_norm ? leaves.optional(labels::k_norm_all, k_norm_all)
                                            : leaves.optional(labels::k_norm, k_norm);
    attention.norm.eps = static_cast<double>(problem.norm_eps);
    if (problem.rotary) {
        graph::Axes axes = leaves.axes_of(rotary_cos);
        axes = axes.with(0, {"B", problem.rotary->cos->shape()[0]});
        attention.rotary = graph::Rotary{leaves.given(labels::rotary_cos, axes, problem.rotary->cos),
                                         leaves.given(labels::rotary_sin, axes, problem.rotary->sin)};
    }
    attention.score_cap = static_cast<double>(problem.score_cap);
    if (problem.parts().tempered)
        attention.temperature =
            leaves.given(labels::temperature, {}, make_tensor({}, std::vector{problem.temperature}));
    add_mask(leaves, problem, attention);
    attention.sink = leaves.optional(labels::sink, sink);
    std::vector<float> gains = problem.gains;
    gains.resize(static_cast<std::size_t>(problem.dims.H), 1.0F);
    attention.gain = leaves.given(labels::gain, leaves.axes_of(gain), make_tensor({problem.dims.H}, gains));
    graph::attention(builder, attention);
    return {builder.finish(), std::move(numbers)};
}

} // namespace headscope
