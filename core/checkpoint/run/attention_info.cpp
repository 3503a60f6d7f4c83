#include "core/checkpoint/run/attention_info.h"

#include "core/checkpoint/graph/model_stages.h"

#include <filesystem>
#include <numeric>

namespace headscope::checkpoint {

AttentionInfo attention_info(const Model& model, const ModelInputs& inputs, Stack stack) {
    const auto folder = std::filesystem::path(model.path());
    const ModelConfig& sizes = in_stack(model.config(), stack);
    AttentionInfo info;
    info.L = sizes.layers;
    info.H = sizes.H;
    info.Tq = stack == Stack::encoder ? inputs.source.front().T : inputs.T;
    info.cross = stack == Stack::cross;
    info.Tk = stack == Stack::own ? inputs.T : inputs.source.front().T;
    info.numbers.resize(static_cast<std::size_t>(info.L));
    std::iota(info.numbers.begin(), info.numbers.end(), std::int64_t{0});
    info.title = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    info.source = model.path();
    info.held_as = "float32";
    info.tensor = stack_prefix(model.config(), stack) + "layers.{l}.weights";
    info.bytes = sizeof(float) * static_cast<std::uint64_t>(info.L * info.H * info.Tq * info.Tk);
    if (stack == Stack::own)
        info.without_weights = sizes.delta_layers;
    const AttentionPlace first{stack, nearest_attention(model.config(), {stack, 0})};
    const ModelStages& stages = model.stages();
    info.sinks = stages.has_parameter(first, TensorId::sink);
    // What a key brings depends on the query's gate, or on a norm of its value.
    info.values = !stages.has(first, TensorId::gate) && !stages.has(first, TensorId::v_normed);
    info.tokens_from = inputs.tokens.empty() ? "" : model.path();
    return info;
}

} // namespace headscope::checkpoint
