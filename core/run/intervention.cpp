#include "core/run/intervention.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cstring>

namespace headscope::run {

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(float)) == 0;
}

float changed(Intervention::Kind kind, float number, float by) {
    switch (kind) {
    case Intervention::Kind::set:
        return by;
    case Intervention::Kind::add:
        return number + by;
    case Intervention::Kind::scale:
        return number * by;
    }
    return number;
}

} // namespace

NodeInterventions resolve(const graph::Graph& graph, const Interventions& interventions) {
    NodeInterventions resolved;
    resolved.reserve(interventions.size());
    for (const Intervention& one : interventions) {
        const graph::NodeId id = graph.find(one.part.node);
        const graph::Node& node = graph.node(id);
        const Box box = box_of(node, one.part);
        const Shape shape = shape_of(box, node.axes.rank());
        if (one.values == nullptr)
            fail_input(tr("run.no_values", "the intervention on {} has no values; give a tensor of shape {}",
                          one.part.node, shape.text()));
        if (one.values->shape().rank() != 0 && !(one.values->shape() == shape))
            fail_input(tr("run.values_shape",
                          "the values of the intervention on {} have shape {}; they should have {}",
                          one.part.node, one.values->shape().text(), shape.text()));
        resolved.push_back({id, one.kind, box, one.values});
    }
    std::ranges::stable_sort(resolved, {}, &NodeIntervention::node);
    return resolved;
}

std::span<const NodeIntervention> of_node(const NodeInterventions& all, graph::NodeId node) {
    const auto first = std::ranges::lower_bound(all, node, {}, &NodeIntervention::node),
               last = std::ranges::upper_bound(all, node, {}, &NodeIntervention::node);
    return {first, last};
}

bool set_whole_rows(std::span<const NodeIntervention> interventions, const Shape& shape) {
    return shape.rank() > 1 && std::ranges::all_of(interventions, [&](const NodeIntervention& one) {
               Box row = one.box;
               row.first[0] = 0;
               row.count[0] = shape[0];
               return one.kind == Intervention::Kind::set && one.values->shape().rank() != 0 &&
                      one.box.count[0] == 1 && is_whole(row, shape);
           });
}

bool same(std::span<const NodeIntervention> a, std::span<const NodeIntervention> b) {
    return std::ranges::equal(a, b, [](const NodeIntervention& left, const NodeIntervention& right) {
        return left.kind == right.kind && left.box == right.box &&
               (left.values == right.values || same_bits(*left.values, *right.values));
    });
}

void apply(std::span<const NodeIntervention> interventions, const HeadAxis& axis, HeadSet heads,
           Tensor& numbers) {
    const Shape& shape = numbers.shape();
    for (const NodeIntervention& one : interventions) {
        const bool single = one.values->shape().rank() == 0;
        for_each_cell(shape, one.box, [&](std::int64_t to, std::int64_t from) {
            if (axis.axis >= 0) {
                const std::int64_t cell = shape.index(to)[static_cast<std::size_t>(axis.axis)];
                if ((heads & head_bit(cell / axis.width, axis.heads)) == 0)
                    return;
            }
            float& number = numbers.data()[to];
            number = changed(one.kind, number, one.values->data()[single ? 0 : from]);
        });
    }
}

} // namespace headscope::run
