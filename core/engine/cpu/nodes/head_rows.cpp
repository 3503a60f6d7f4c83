#include "core/engine/cpu/rows/head_rows.h"

#include "core/engine/cpu/nodes/nodes.h"
#include "core/engine/range_fault.h"

namespace headscope::cpu::nodes {

namespace {

class HeadRowsKernel final : public Kernel {
public:
    HeadRowsKernel(NodeId id, const Node& node, HeadRowStep::Kind kind)
        : node_(id), name_(node.name), kind_(kind), heads_(node.axes.size(1)), width_(node.axes.size(3)) {
        for (const graph::Reading& input : node.inputs)
            inputs_.push_back(input.node);
        if (const auto* norm = std::get_if<graph::Norm>(&node.attributes))
            eps_ = static_cast<float>(norm->eps);
    }

    void compute(Values& values, Progress&) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        HeadRowStep step{.kind = kind_,
                         .from = head_vectors(values[inputs_[0]], width_),
                         .heads = heads_,
                         .width = width_,
                         .norm_eps = eps_};
        switch (kind_) {
        case HeadRowStep::Kind::split:
            break;
        case HeadRowStep::Kind::norm:
        case HeadRowStep::Kind::joint_norm:
            step.weight = values[inputs_[1]].data();
            break;
        case HeadRowStep::Kind::rotation:
            step.cos = &values[inputs_[1]];
            step.sin = &values[inputs_[2]];
            break;
        case HeadRowStep::Kind::scale:
            step.scale = values[inputs_[1]].data();
            break;
        }
        if (!compute_head_rows(step, values.computed(node_), *out))
            engine::fail_head_rows(name_);
    }

private:
    NodeId node_;
    std::string name_;
    HeadRowStep::Kind kind_;
    std::int64_t heads_, width_;
    std::vector<NodeId> inputs_;
    float eps_ = 0;
};

/// The kernel has norms without a mean, and rotations of whole heads whose halves rotate together.
bool has_kernel(const StepList& list, const Node& node) {
    if (const auto* norm = std::get_if<graph::Norm>(&node.attributes))
        return !norm->centered;
    const auto* rotation = std::get_if<graph::Rotation>(&node.attributes);
    if (rotation == nullptr)
        return true;
    return rotation->pairs == graph::Rotation::Pairs::halves && rotation->first == 0 &&
           (rotation->width == 0 || rotation->width == node.axes.size(3)) &&
           list.node(node.inputs[1].node).axes.rank() == 3;
}

} // namespace

void add_head_rows(StepList& list) {
    for (const auto& [op, kind] : {std::pair{Op::split_heads, HeadRowStep::Kind::split},
                                   {Op::head_norm, HeadRowStep::Kind::norm},
                                   {Op::joint_norm, HeadRowStep::Kind::joint_norm},
                                   {Op::rotate, HeadRowStep::Kind::rotation},
                                   {Op::token_scale, HeadRowStep::Kind::scale}})
        list.for_each(op, [&, kind = kind](NodeId id, const Node& node) {
            if (has_kernel(list, node))
                list.add({.nodes = {id},
                          .kernel = std::make_unique<HeadRowsKernel>(id, node, kind),
                          .by_heads = true});
        });
}

} // namespace headscope::cpu::nodes
