#include "app/state/screens/model_flow.h"

#include "app/state/model_document.h"
#include "app/state/screens/causes.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr std::size_t listed_guesses = 6;
constexpr std::int64_t mlp_columns = 20, most_single_layers = 6;

} // namespace

std::string why_no_model_flow(const Document& document) {
    const RunSpec& part = *document.part();
    if (part.two_texts())
        return tr("model_flow.encoder_decoder",
                  "The Flow shows models with one stack of layers. This model has an encoder and a decoder: "
                  "choose Stages.");
    if (!part.config().delta_layers.empty())
        return tr(
            "model_flow.delta_layers",
            "The Flow shows models that have attention in every layer. This model has delta layers: choose "
            "Stages.");
    if (part.config().stream_copies > 1)
        return tr("model_flow.several_streams",
                  "The Flow shows models with one residual stream. This model has {} copies of it: choose "
                  "Stages.",
                  part.config().stream_copies);
    if (document.problem.dims.Tq > most_model_flow_tokens)
        return tr("model_flow.long_text",
                  "The Flow shows texts of up to {} tokens, and this one has {}: choose Stages or Map.",
                  most_model_flow_tokens, document.problem.dims.Tq);
    return {};
}

std::vector<std::string> model_flow_words(const checkpoint::ModelInputs& inputs) {
    std::vector<std::string> words;
    std::ranges::transform(inputs.tokens, std::back_inserter(words), bare_word);
    for (std::int64_t i = std::ssize(words); i < inputs.T; ++i)
        words.push_back(std::to_string(i));
    return words;
}

FlowGuesses flow_guesses(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                         std::int64_t position, Progress& progress) {
    const std::array positions{position};
    const analysis::LogitLens lens = analysis::logit_lens(run, positions, listed_guesses, progress);
    FlowGuesses out{.position = position, .layers = {}};
    for (const auto& layer : lens.layers) {
        std::vector<FlowGuesses::Guess>& guesses = out.layers.emplace_back();
        for (const checkpoint::TokenChance& chance : layer.front())
            guesses.push_back({bare_word(label_of(model, chance.id)), chance.probability});
    }
    return out;
}

FlowLayer flow_layer(const checkpoint::ModelRun& run, std::int64_t layer, Progress& progress) {
    FlowLayer out{.layer = layer, .weights = run.weights(layer)};
    progress.check();
    const checkpoint::RunPartPtr block = run.around(layer, progress);
    const TensorPtr& mlp = block->find(TensorId::mlp_out);
    if (mlp == nullptr)
        return out;
    const std::int64_t T = mlp->shape()[1], D = mlp->shape()[2];
    out.columns = std::min(mlp_columns, D);
    for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t c = 0; c < out.columns; ++c) {
            float largest = 0;
            for (std::int64_t d = c * D / out.columns; d < (c + 1) * D / out.columns; ++d)
                largest = std::max(largest, std::abs(mlp->at(0, i, d)));
            out.mlp.push_back(largest);
            out.mlp_largest = std::max(out.mlp_largest, largest);
        }
    return out;
}

std::vector<FlowSlab> flow_slabs(std::int64_t L, std::int64_t open) {
    std::vector<FlowSlab> slabs;
    for (std::int64_t l = 0; l < L; ++l) {
        const bool alone = L <= most_single_layers || std::abs(l - open) <= 1;
        if (!alone && !slabs.empty() && std::abs(slabs.back().last - open) > 1)
            slabs.back().last = l;
        else
            slabs.push_back({l, l, l == open});
    }
    return slabs;
}

} // namespace headscope::app
