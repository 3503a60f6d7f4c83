#include "core/checkpoint/run/model_run_state.h"
#include "core/graph/operation.h"
#include "core/trace/stage.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

using graph::NodeId;

/// Returns true for what experts compute, which is too large to keep for all of them.
bool has_experts(const graph::Axes& axes) {
    for (int axis = 0; axis + 1 < axes.rank(); ++axis)
        if (axes[axis].name == "experts")
            return true;
    return false;
}

/// Collects the nodes between the stages of one layer: inputs of stages that are not stages themselves, their
/// inputs, and so on; parameters too, but no tables.
class InnerNodes {
public:
    /// first: the node that enters the layer. Nodes before it are collected without their inputs.
    InnerNodes(const RunPart& part, NodeId first) : graph_(part.graph()), part_(part), first_(first) {}

    void add_inputs_of(NodeId id) {
        for (const graph::Reading& input : graph_.node(id).inputs)
            if (is_wanted(input.node) && std::ranges::find(found_, input.node) == found_.end()) {
                found_.push_back(input.node);
                if (input.node > first_)
                    add_inputs_of(input.node);
            }
    }
    const std::vector<NodeId>& found() const { return found_; }

private:
    bool is_wanted(NodeId id) const {
        const graph::Node& node = graph_.node(id);
        if (!graph::is_leaf(node.op))
            return !part_.stage_of(id) && !has_experts(node.axes);
        const auto weight = part_.text->weight_of(id);
        return weight && node.axes.rank() <= 2 && !is_table(*weight);
    }

    const graph::Graph& graph_;
    const RunPart& part_;
    const NodeId first_;
    std::vector<NodeId> found_;
};

} // namespace

void ModelRun::State::take(RunPart& part, std::vector<graph::Part> captures, NodeId first,
                           Progress& progress) const {
    InnerNodes inner(part, first);
    const NodeId of_attention = part.node(TensorId::output);
    for (const NodeId id : part.nodes)
        if (id > first && id != of_attention)
            inner.add_inputs_of(id);
    for (const NodeId id : inner.found())
        captures.push_back({text_->graph().node(id).name});
    part.run = later(captures, progress);
}

RunPartPtr ModelRun::State::around(std::int64_t n, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const AttentionPlace place = attention_place(config, n);
    const auto part = std::make_shared<RunPart>(place, text_);
    part->own = model->layer(n);
    part->weights = with_edits(part->own, edits_of(edits, n));
    if (const LayerEdits* const changed = edits_of(edits, n))
        part->patched = changed->patched;
    std::vector<TensorId> stages = model->stages().in_layer(place);
    const TensorId leaves_layer = stages.back();
    if (attends(n))
        stages.push_back(TensorId::output);
    std::vector<graph::Part> captures;
    for (const TensorId id : stages) {
        captures.push_back({name(n, id)});
        part->nodes[static_cast<std::size_t>(id)] = text_->graph().find(captures.back().node);
    }
    take(*part, std::move(captures), text_->graph().find(name(n, TensorId::resid_in)), progress);
    // A patch of what enters the next layer, or of what the attention adds, is not in what makes it.
    for (const TensorId id : {leaves_layer, added(n)})
        if (is_patched(name(n, id)))
            part->given[id] = unpatched(name(n, id), progress);
    return part;
}

RunPartPtr ModelRun::State::ends(Stack stack, std::int64_t position, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const bool of_encoder = stack == Stack::encoder;
    const Stack around_stack = of_encoder ? Stack::encoder : Stack::own;
    const std::int64_t first = attention_number(config, {around_stack, 0}),
                       last = last_of_stack(config, first);
    const Model& of_stack = of_encoder ? *model->encoder() : *model;
    const bool has_head = !of_encoder && model->has_head();
    const auto part = std::make_shared<RunPart>(AttentionPlace{stack, -1}, text_);
    part->position = position;
    std::vector<graph::Part> captures;
    const auto want = [&](TensorId id, const std::string& node) {
        captures.push_back({node});
        part->nodes[static_cast<std::size_t>(id)] = text_->graph().find(node);
    };
    const ModelStages& stages = model->stages();
    for (const TensorId id : stages.before_layers(around_stack))
        want(id, text_->name({around_stack, -1}, id));
    const TensorId left = stages.in_layer(attention_place(config, last)).back();
    want(left, name(last, left));
    for (const TensorId id : {TensorId::merged, TensorId::final_norm})
        if (stages.has({around_stack, -1}, id))
            want(id, text_->name({around_stack, -1}, id));
    std::vector<std::pair<TensorId, graph::Part>> rows;
    if (has_head)
        for (const TensorId id : {TensorId::logits, TensorId::probabilities})
            captures.push_back(
                rows.emplace_back(id, row_of(std::string(tensor_info(id).name), position)).second);
    const graph::Part head_in = has_head ? row_of(text_->head_input(), position) : graph::Part{};
    if (has_head)
        captures.push_back(head_in);
    take(*part, std::move(captures), text_->graph().find(name(last, left)), progress);
    for (const auto& [id, row] : rows)
        part->given[id] = part->run->part(row);
    if (has_head)
        part->head_in = part->run->part(head_in);
    part->given[TensorId::resid_in] = stream(first);
    for (const TensorId weight : weights_around)
        if (weight != TensorId::layer_table) // large, and shown nowhere
            part->own[weight] = of_stack.weight(weight);
    part->weights = with_edits(part->own, edits_of(edits, last));
    part->weights.rows.clear(); // those of the last layer
    for (const TensorId table : weights_around)
        if (is_table(table))
            if (const TableRows* const changed = edited_rows(of_stack.config(), edits, table, last))
                part->weights.rows[table] = *changed;
    return part;
}

StackLengths ModelRun::State::lengths(Stack stack, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const ModelConfig& sizes = in_stack(config, stack);
    const Stack around_stack = stack == Stack::encoder ? Stack::encoder : Stack::own;
    const std::int64_t first = attention_number(config, {around_stack, 0}),
                       last = last_of_stack(config, first);
    const std::string left = name(last, model->stages().in_layer(attention_place(config, last)).back());
    const TensorPtr left_last = (*later({{left}}, progress))[left];
    StackLengths out{.begin = row_lengths(*stream(first)), .layers = {}};
    for (std::int64_t l = 0; l < sizes.layers; ++l) {
        const std::int64_t n = attention_number(config, {stack, l});
        const Tensor &before = *(*run_)[name(n, TensorId::resid_in)],
                     &after = n < last ? *stream(n + 1) : *left_last;
        Tensor added(after.shape());
        std::ranges::transform(after.values(), before.values(), added.data(), std::minus<>());
        out.layers.push_back(row_lengths(added));
    }
    return out;
}

} // namespace headscope::checkpoint
