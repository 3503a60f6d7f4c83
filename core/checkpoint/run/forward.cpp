#include "core/checkpoint/run/forward.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/checkpoint/model/block_stages.h"
#include "core/checkpoint/model/layers.h"
#include "core/checkpoint/run/forward_pass.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

void check_layer(std::int64_t layer, std::int64_t layers) {
    if (layer < 0 || layer >= layers)
        fail_input(tr("common.no_layer_layers_numbered", "there is no layer {}; layers are numbered 0 to {}",
                      layer, layers - 1));
}

void check_options(const ForwardOptions& options, const Architecture& architecture) {
    std::int64_t layers = 0;
    for (const Stack stack : stacks_of(architecture))
        layers = std::max(layers, in_stack(architecture, stack).layers);
    if (options.layer)
        check_layer(*options.layer, layers);
}

} // namespace

ForwardResult run_model(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                        const RunAttention& attention, Progress& progress) {
    check_options(options, model.architecture());
    ForwardPass pass(model, inputs, options.edits);
    check_edits(model, options.edits);
    cpu::CpuDense cpu;
    ForwardResult result;
    result.edits = options.edits;
    const auto kept = [&](AttentionPlace place) {
        return (place.layer < 0 || !options.layer || *options.layer == place.layer) &&
               (!options.stack || *options.stack == place.stack);
    };
    const auto keeps_stage = [&](AttentionPlace place, TensorId id) {
        return options.stages.has(id) && (kept(place) || kept(place_in_files(place, id)));
    };
    if (std::ranges::any_of(block_table(), [&](const TensorInfo& row) { return options.stages.has(row.id); }))
        pass.watch([&](AttentionPlace place, TensorId id, const Tensor& tensor) {
            if (keeps_stage(place, id))
                result.blocks.push_back(
                    {place, id, std::make_shared<const Tensor>(tensor.shape(), tensor.values())});
        });
    const auto attend = [&](std::int64_t n, Problem problem) {
        const AttentionPlace place = attention_place(model.architecture(), n);
        problem.temperature *= options.temperature;
        const bool keep = (!options.stages.empty() || options.keep_problems) && kept(place);
        const StageSet wanted = keep ? options.stages : StageSet();
        Trace trace = attention(problem, wanted.with(TensorId::output), progress);
        TensorPtr output = trace.slot(TensorId::output);
        if (!keep)
            return output;
        if (!wanted.has(TensorId::output))
            trace.slot(TensorId::output) = nullptr;
        LayerRun layer{place, std::move(trace), std::nullopt};
        if (options.keep_problems)
            layer.problem = std::move(problem);
        if (options.take)
            options.take(std::move(layer));
        else
            result.layers.push_back(std::move(layer));
        return output;
    };
    progress.check();
    const Architecture& architecture = model.architecture();
    const std::int64_t streams_made = attention_count(architecture) + 1;
    require_memory(sizeof(float) *
                       static_cast<std::uint64_t>(streams_made * inputs.B * inputs.T * architecture.D),
                   tr("common.run", "this run"), tr("common.take_shorter_text", "take a shorter text"));
    Streams streams;
    pass.run(cpu, streams, attend, progress);
    result.encoder_hidden = std::move(streams.encoder);
    result.hidden = hidden_states(streams.own, model.encoder() == nullptr ? 1 : 2);
    if (options.logits)
        result.logits = pass.logits(cpu, *result.hidden.back(), progress);
    if (options.stages.has(TensorId::probabilities) && result.logits != nullptr)
        result.blocks.push_back({{Stack::own, -1}, TensorId::probabilities, softmax(*result.logits)});
    progress.report(1.0F);
    return result;
}

Problem problem_of_layer(const Model& model, const ModelInputs& inputs, const ForwardOptions& options,
                         const RunAttention& attention, Progress& progress) {
    const Architecture& architecture = model.architecture();
    const AttentionPlace wanted{options.stack.value_or(Stack::own), options.layer.value()};
    check_layer(wanted.layer, in_stack(architecture, wanted.stack).layers);
    const ForwardPass pass(model, inputs, options.edits);
    check_edits(model, options.edits);
    cpu::CpuDense cpu;
    Streams streams;
    Problem met;
    pass.run(
        cpu, streams,
        [&](std::int64_t n, Problem problem) -> TensorPtr {
            problem.temperature *= options.temperature;
            if (attention_place(architecture, n) != wanted)
                return attention(problem, StageSet().with(TensorId::output), progress).slot(TensorId::output);
            met = std::move(problem);
            return nullptr;
        },
        progress);
    return met;
}

} // namespace headscope::checkpoint
