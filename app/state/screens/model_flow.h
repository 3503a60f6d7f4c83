#pragma once

#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::app {

struct Document;

/// The most tokens that the Flow of a language model draws.
inline constexpr std::int64_t most_model_flow_tokens = 256;

/// Returns why the Flow of a checkpoint cannot be drawn, as one sentence; empty if it can.
std::string why_no_model_flow(const Document& document);

/// The predictions of a model at one position if it stopped after each layer (logit lens).
struct FlowGuesses {
    struct Guess {
        std::string word;
        float probability = 0; ///< temperature 1
    };
    std::int64_t position = 0;
    /// (L + 1): 0 the embedding, l + 1 layer l; most likely first.
    std::vector<std::vector<Guess>> layers;
};

/// The numbers of the open layer of the Flow.
struct FlowLayer {
    std::int64_t layer = 0;
    TensorPtr weights = {}; ///< (1, H, T, T): attention weights
    /// (T, columns): what the MLP adds to each token; each column is the largest absolute value of a block of
    /// the D numbers. Empty for a layer without an MLP.
    std::vector<float> mlp = {};
    std::int64_t columns = 0;
    float mlp_largest = 0;
};

/// Words of the text at the left of the Flow, without the mark of a blank.
std::vector<std::string> model_flow_words(const checkpoint::ModelInputs& inputs);

/// For a worker. Throw what logit_lens and ModelRun::block throw.
FlowGuesses flow_guesses(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                         std::int64_t position, Progress& progress);
FlowLayer flow_layer(const checkpoint::ModelRun& run, std::int64_t layer, Progress& progress);

/// The layers of a model as the Flow shows them: one slab each, or joined to one slab.
struct FlowSlab {
    std::int64_t first = 0, last = 0; ///< layers, inclusive
    bool open = false;
    bool joined() const { return last > first; }
};
/// The slabs of L layers, of which `open` is open. Above 6 layers, those that are neither open nor next to
/// the open one are joined.
std::vector<FlowSlab> flow_slabs(std::int64_t L, std::int64_t open);

} // namespace headscope::app
