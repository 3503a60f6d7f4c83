#include "core/engine/pair_numbers.h"

#include <utility>

namespace headscope::engine {

std::optional<PairNumbers> pair_numbers(graph::NodeId id, const graph::Node& node, std::int64_t Tk) {
    const graph::Axes& axes = node.axes;
    if (axes.rank() == 0 || axes.back(0).name != "Tk" || axes.back(0).size != Tk)
        return std::nullopt;
    PairNumbers numbers{.node = id};
    std::int64_t stride = Tk;
    for (int axis = axes.rank() - 2; axis >= 0; --axis) {
        const std::string& name = axes[axis].name;
        std::int64_t* const to = name == "B"    ? &numbers.strides.b
                                 : name == "H"  ? &numbers.strides.h
                                 : name == "Tq" ? &numbers.strides.i
                                                : nullptr;
        if (to == nullptr)
            return std::nullopt;
        *to = axes.size(axis) == 1 ? 0 : stride;
        stride *= axes.size(axis);
    }
    return numbers;
}

std::optional<MaskInputs> mask_inputs(const graph::Graph& graph, graph::NodeId masked) {
    const graph::Node& node = graph.node(masked);
    const auto& mask = std::get<graph::Mask>(node.attributes);
    MaskInputs inputs;
    std::size_t next = 1;
    for (const auto& [present, to] : {std::pair{mask.adds, &inputs.added}, {mask.allows, &inputs.allowed}}) {
        if (!present)
            continue;
        const graph::NodeId id = node.inputs[next++].node;
        const std::optional<PairNumbers> found = pair_numbers(id, graph.node(id), node.axes.back(0).size);
        if (!found)
            return std::nullopt;
        *to = *found;
    }
    return inputs;
}

} // namespace headscope::engine
