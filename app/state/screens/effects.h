#pragma once

#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// Which logits are asked about, as chosen.
struct EffectsQuestion {
    std::optional<std::int64_t> token;   ///< none: the likeliest of the model as built
    std::optional<std::int64_t> against; ///< none: the next likeliest, or the mean
    bool from_mean = false;
    bool operator==(const EffectsQuestion&) const = default;
};

/// What every writer of a checkpoint adds to a prediction, ready to be drawn.
struct Effects {
    analysis::LogitQuestion question;
    std::string token, against; ///< labels; `against` empty: the mean over the vocabulary
    /// Labels of the text's tokens, and of those that `heads` read. Weights on screen may be of whole words.
    std::vector<std::string> queries, keys;
    checkpoint::Stack stack = checkpoint::Stack::own; ///< whose heads `heads` has
    analysis::LogitAttribution attribution;
    std::vector<std::vector<const analysis::LogitPart*>> heads; ///< (L, H), into `attribution`
    std::vector<double> mlps, layers; ///< (L): of the MLP; of heads and MLP together
    /// Sums that add up to the logit. `others`: heads of the other attention of a decoder with two.
    double all_heads = 0, others = 0, all_mlps = 0, embedding = 0, biases = 0;
    std::vector<std::size_t> largest; ///< parts by size, largest first
    double limit = 0;                 ///< the largest of heads and MLPs, without its sign

    /// Whether there is such a head: the mean of a layer is none.
    bool has(std::int64_t l, std::int64_t h) const {
        return l < std::ssize(heads) && h < std::ssize(heads.front());
    }
    const analysis::LogitPart& part(std::int64_t l, std::int64_t h) const {
        return *heads[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
    }
};

/// What the model would predict after each layer, at some positions.
struct EffectsLens {
    struct Cell {
        std::string token;
        double probability = 0;
    };
    std::vector<std::int64_t> positions;
    std::vector<std::string> tokens; ///< labels of those: a lens may stay beside effects of another text
    std::vector<std::vector<Cell>> layers; ///< as analysis::LogitLens, the likeliest token alone
};

/// What each head's absence does to the same two logits.
struct EffectsSweep {
    struct Cell {
        double lost = 0;       ///< of the difference of the logits when the head is switched off
        double divergence = 0; ///< KL(before || after) of the next token in nats
    };
    std::vector<std::vector<std::optional<Cell>>> heads; ///< (L, H) of the stack; empty: not reached yet
    double before = 0;                                   ///< the difference with all heads
    double limit = 0;                                    ///< the largest loss so far, without its sign
    std::int64_t done = 0, count = 0;                    ///< heads
};

/// What one head brings to the same two logits at every position.
struct EffectsSources {
    analysis::LogitQuestion question; ///< whose position says nothing
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    Tensor map;                    ///< (Tq, Tk), see analysis::source_map
    std::vector<double> sums = {}; ///< (Tq): of its rows
    double limit = 0;              ///< the largest of all these, without its sign

    /// Whether they are of the tokens that the effects are of.
    bool belong_to(const Effects& effects) const;
};

/// Of one position of a run; `unedited`: the same text without edits. For a worker. Throws what
/// logit_attribution and logit_lens throw.
std::shared_ptr<const Effects> effects_of(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                                          const checkpoint::ModelRun& unedited,
                                          const EffectsQuestion& question, std::int64_t position,
                                          checkpoint::Stack stack, const Progress& cancel);
/// `put` gets what there is after every head. so_far: of the same sweep, which was stopped; may be null. Its
/// heads are not run again.
EffectsSweep effects_sweep(const checkpoint::ModelRun& run, const Effects& effects,
                           analysis::Ablation ablation, const EffectsSweep* so_far,
                           const std::function<void(const EffectsSweep&)>& put, Progress& progress);
/// For a worker. Throws what source_map throws.
EffectsSources effects_sources(const checkpoint::ModelRun& run, const Effects& effects,
                               checkpoint::AttentionPlace place, std::int64_t head, const Progress& cancel);
EffectsLens effects_lens(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                         std::int64_t position, Progress& progress);

} // namespace headscope::app
