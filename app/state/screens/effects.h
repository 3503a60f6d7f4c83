#pragma once

#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

struct PromptMean;

/// The logits that the user asks about.
struct EffectsQuestion {
    std::optional<std::int64_t> token;   ///< none: the token most likely without edits
    std::optional<std::int64_t> against; ///< none: the next most likely token, or the mean
    bool from_mean = false;
    bool operator==(const EffectsQuestion&) const = default;
};

/// The logit attribution of every residual stream component of a checkpoint, ready to be drawn.
struct Effects {
    analysis::LogitQuestion question;
    std::string token, against; ///< labels; `against` empty: the mean over the vocabulary
    /// Labels of the text's tokens, and of the tokens that `heads` attend to. Weights on screen may be merged
    /// into words.
    std::vector<std::string> queries, keys;
    checkpoint::Stack stack = checkpoint::Stack::own; ///< the stack whose heads are in `heads`
    analysis::LogitAttribution attribution;
    std::vector<std::vector<const analysis::LogitPart*>> heads; ///< (L, H), into `attribution`
    std::vector<double> mlps, layers; ///< (L): of the MLP; of heads and MLP together
    /// Sums that add up to the logit. `other_attention`: heads of the other attention of a decoder with
    /// cross-attention.
    double all_heads = 0, other_attention = 0, all_mlps = 0, embedding = 0, biases = 0;
    std::vector<std::size_t> largest; ///< indices of the parts by absolute value, largest first
    double max_abs = 0;               ///< largest absolute value of heads and MLPs
    /// Null for one text. Else all numbers are means over a list of prompts, `queries` and `keys` are empty,
    /// and the cells of the statistics are the parts, in their order, and the logit.
    std::shared_ptr<const PromptMean> mean = {};

    /// Returns true if the head exists; false for the mean of a layer.
    bool has(std::int64_t l, std::int64_t h) const {
        return l < std::ssize(heads) && h < std::ssize(heads.front());
    }
    const analysis::LogitPart& part(std::int64_t l, std::int64_t h) const {
        return *heads[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
    }
};

/// The logit lens: the prediction after each layer, at some positions.
struct EffectsLens {
    struct Cell {
        std::string token;
        double probability = 0;
    };
    std::vector<std::int64_t> positions;
    std::vector<std::string> tokens;       ///< their labels: the effects shown may be of another text
    std::vector<std::vector<Cell>> layers; ///< as in analysis::LogitLens, only the most likely token
};

/// The effect of ablating each head on the same two logits.
struct EffectsSweep {
    struct Cell {
        double loss = 0;       ///< decrease of the logit difference when the head is ablated
        double divergence = 0; ///< KL(before || after) of the next token in nats
    };
    std::vector<std::vector<std::optional<Cell>>> heads; ///< (L, H) of the stack; empty: not computed yet
    double before = 0;                                   ///< the logit difference without ablation
    double max_abs = 0;                                  ///< the largest absolute loss so far
    std::int64_t done = 0, count = 0;                    ///< number of heads
    /// Null for one text. Else the numbers are means; cells of the statistics: loss and divergence of each
    /// head, in the order of `heads`, and `before`.
    std::shared_ptr<const PromptMean> mean = {};
};

/// The contribution of one head to the same two logits at every position, by source token.
struct EffectsSources {
    analysis::LogitQuestion question; ///< its position is not used
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    Tensor map;                    ///< (Tq, Tk), see analysis::source_map
    std::vector<double> sums = {}; ///< (Tq): sums of the rows
    double max_abs = 0;            ///< the largest absolute value of `map` and `sums`

    /// Returns true if the map has the same tokens as the effects.
    bool belong_to(const Effects& effects) const;
};

/// For one position of a run; `unedited`: the run of the same text without edits. For a worker. Throws what
/// logit_attribution and logit_lens throw.
std::shared_ptr<const Effects> effects_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited,
                                          const EffectsQuestion& question, std::int64_t position,
                                          checkpoint::Stack stack, const Progress& cancel);
/// Returns the question of `asked`, whose default tokens are the likeliest ones of the run without edits. For
/// a worker.
analysis::LogitQuestion effects_question(const checkpoint::ModelRun& unedited, const EffectsQuestion& asked,
                                         std::int64_t position, const Progress& cancel);
/// Returns an attribution arranged for the screen, without the labels of tokens.
std::shared_ptr<Effects> arranged_effects(const checkpoint::ModelConfig& config,
                                          const analysis::LogitQuestion& question, checkpoint::Stack stack,
                                          analysis::LogitAttribution attribution);
/// `put` receives the partial result after every head. so_far: the result of the same sweep, which was
/// stopped; may be null. Its heads are not computed again.
EffectsSweep effects_sweep(const checkpoint::ModelRun& run, const Effects& effects,
                           analysis::Ablation ablation, const EffectsSweep* so_far,
                           const std::function<void(const EffectsSweep&)>& put, Progress& progress);
/// For a worker. Throws what source_map throws.
EffectsSources effects_sources(const checkpoint::ModelRun& run, const Effects& effects,
                               checkpoint::AttentionPlace place, std::int64_t head, const Progress& cancel);
EffectsLens effects_lens(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                         std::int64_t position, Progress& progress);

} // namespace headscope::app
