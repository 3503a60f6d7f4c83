#include "app/state/step_strip.h"

#include "app/state/model_document.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/trace/stage.h"

#include <algorithm>

namespace headscope::app {

namespace {

template<class Value>
bool contains(const std::vector<Value>& values, Value value) {
    return std::ranges::find(values, value) != values.end();
}

std::vector<StageGroup> steps_of(const std::vector<TensorId>& stages) {
    std::vector<StageGroup> steps;
    for (const TensorId id : stages)
        steps.push_back(tensor_info(id).group);
    return steps;
}

/// The steps before the scores that compute their terms by relative position.
std::vector<StageGroup> terms_of_scores(const checkpoint::ModelStages& stages,
                                        checkpoint::AttentionPlace place) {
    std::vector<StageGroup> steps;
    if (stages.has(place, TensorId::c2p))
        steps.push_back(StageGroup::c2p);
    if (stages.has(place, TensorId::p2c))
        steps.push_back(StageGroup::p2c);
    return steps;
}

} // namespace

std::vector<StageGroup> attention_steps() {
    std::vector<StageGroup> steps;
    for (int step = 0; step < group_count; ++step)
        steps.push_back(static_cast<StageGroup>(step));
    return steps;
}

bool StepStrip::has(StageGroup step) const {
    return contains(before, step) || contains(layer, step) || contains(after, step);
}

const std::vector<StageGroup>& StepStrip::section_with(StageGroup step) const {
    return contains(before, step) ? before : contains(after, step) ? after : layer;
}

StripPosition stepped(const StepStrip& strip, StripPosition from, int by) {
    const std::vector<StageGroup>& part = strip.section_with(from.step);
    const auto at = std::ranges::find(part, from.step) - part.begin() + by;
    if (at >= 0 && at < std::ssize(part))
        return {part[static_cast<std::size_t>(at)], from.layer};
    if (&part == &strip.before)
        return by < 0 ? from : StripPosition{strip.layer.front(), 0};
    if (&part == &strip.after)
        return by > 0 ? from : StripPosition{strip.layer.back(), strip.layers - 1};
    // Every layer begins and ends with the same step.
    const std::int64_t next = from.layer + by;
    if (next >= 0 && next < strip.layers)
        return {by > 0 ? part.front() : part.back(), next};
    const std::vector<StageGroup>& beyond = by > 0 ? strip.after : strip.before;
    return beyond.empty() ? from : StripPosition{by > 0 ? beyond.front() : beyond.back(), from.layer};
}

StepStrip step_strip_of(const RunSpec& part, checkpoint::Stack stack, std::int64_t l) {
    const checkpoint::Model& model = *part.model->model;
    const checkpoint::ModelConfig& config = in_stack(model.config(), stack);
    const checkpoint::ModelStages& stages = model.stages();
    StepStrip strip{.before = steps_of(stages.before_layers(stack)),
                    .layer = {},
                    .after = steps_of(stages.after_layers(stack)),
                    .layers = config.layers};
    const bool attends = has_attention(model.config(), {stack, l});
    // The steps of attention end with the output of the attention branch; a norm on that output is a step of
    // its own.
    for (const TensorId id : stages.in_layer({stack, l})) {
        if (const StageGroup step = tensor_info(id).group;
            !attends || id != stages.attention_output({stack, l})) {
            if (!contains(strip.layer, step))
                strip.layer.push_back(step);
            continue;
        }
        std::ranges::copy(attention_steps(), std::back_inserter(strip.layer));
        if (stages.has({stack, l}, TensorId::gate))
            strip.layer.insert(std::ranges::find(strip.layer, StageGroup::concat), StageGroup::gate);
        for (const StageGroup term : terms_of_scores(stages, {stack, l}))
            strip.layer.insert(std::ranges::find(strip.layer, StageGroup::scores), term);
    }
    return strip;
}

} // namespace headscope::app
