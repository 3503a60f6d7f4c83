#include "core/checkpoint/run/activation_curve.h"
#include "core/checkpoint/run/model_run_state.h"

#include <algorithm>

namespace headscope::checkpoint {

std::shared_ptr<BlockTrace> ModelRun::State::begun(AttentionPlace place) const {
    auto block = std::make_shared<BlockTrace>();
    block->place = place;
    block->config = {model, &in_stack(model->config(), place.stack)};
    block->stages = {model, &model->stages()};
    return block;
}

std::shared_ptr<BlockTrace> ModelRun::State::block(std::int64_t n, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const AttentionPlace place = attention_place(config, n);
    const std::shared_ptr<BlockTrace> block = begun(place);
    block->own = model->layer(n);
    block->weights = with_edits(block->own, edits_of(edits, n));
    block->rows = block->weights.rows;
    if (const LayerEdits* const changed = edits_of(edits, n))
        block->patched = changed->patched;
    std::vector<TensorId> stages = model->stages().in_layer(place);
    const TensorId leaves_layer = stages.back();
    if (model->stages().has(place, TensorId::routing))
        stages.push_back(TensorId::routing);
    if (attends(n))
        stages.push_back(TensorId::output);
    std::vector<graph::Part> captures;
    for (const TensorId id : stages)
        captures.push_back({name(n, id)});
    const std::string fraction = layer_prefix(config, place) + "shared_fraction";
    if (text_->graph().try_find(fraction))
        captures.push_back({fraction});
    const run::RunPtr numbers = later(captures, progress);
    for (const TensorId id : stages)
        (*block)[id] = (*numbers)[name(n, id)];
    if (captures.size() > stages.size())
        block->shared_fraction = (*numbers)[fraction];
    // A patch of what enters the next layer, or of what the attention adds, is not in what makes it.
    for (const TensorId id : {leaves_layer, added(n)})
        if (is_patched(name(n, id)))
            (*block)[id] = unpatched(name(n, id), progress);
    add_activation(later_->cpu, *block, progress);
    return block;
}

BlockTracePtr ModelRun::State::ends(Stack stack, std::int64_t position, Progress& progress) const {
    const std::scoped_lock lock(later_->mutex);
    const bool of_encoder = stack == Stack::encoder;
    const Stack around_stack = of_encoder ? Stack::encoder : Stack::own;
    const std::int64_t first = attention_number(config, {around_stack, 0}),
                       last = last_of_stack(config, first);
    const Model& part = of_encoder ? *model->encoder() : *model;
    const ModelConfig& sizes = part.config();
    const bool has_head = !of_encoder && model->has_head();
    const std::shared_ptr<BlockTrace> ends = begun({stack, -1});
    ends->position = position;
    std::vector<std::pair<TensorId, graph::Part>> wanted;
    const auto around = [&](TensorId id) { return graph::Part{text_->name({around_stack, -1}, id)}; };
    const ModelStages& stages = model->stages();
    for (const TensorId id : stages.before_layers(around_stack))
        wanted.emplace_back(id, around(id));
    const TensorId left = stages.in_layer(attention_place(config, last)).back();
    wanted.emplace_back(left, graph::Part{name(last, left)});
    for (const TensorId id : {TensorId::merged, TensorId::final_norm})
        if (stages.has({around_stack, -1}, id))
            wanted.emplace_back(id, around(id));
    if (has_head)
        for (const TensorId id : {TensorId::logits, TensorId::probabilities})
            wanted.emplace_back(id, row_of(std::string(tensor_info(id).name), position));
    std::vector<graph::Part> captures;
    for (const auto& [id, node] : wanted)
        captures.push_back(node);
    if (has_head)
        captures.push_back(row_of(text_->head_input(), position));
    const run::RunPtr numbers = later(captures, progress);
    for (const auto& [id, node] : wanted)
        (*ends)[id] = numbers->part(node);
    if (has_head)
        ends->head_in = numbers->part(captures.back());
    (*ends)[TensorId::resid_in] = stream(first);
    for (const TensorId weight : weights_around)
        if (weight != TensorId::layer_table) // large, and shown nowhere
            ends->own[weight] = part.weight(weight);
    ends->weights = with_edits(ends->own, edits_of(edits, last));
    for (const TensorId table : weights_around)
        if (is_table(table))
            if (const TableRows* const rows = edited_rows(sizes, edits, table, last))
                ends->rows[table] = *rows;
    return ends;
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
