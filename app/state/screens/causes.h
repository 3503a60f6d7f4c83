#pragma once

#include "core/analysis/effects/prediction_causes.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A head of a checkpoint.
struct ModelHead {
    checkpoint::AttentionPlace place;
    std::int64_t head = 0;
    bool operator==(const ModelHead&) const = default;
};

/// The head that "Why?" offers to switch on again: `preferred` if it is ablated, else the last ablated head;
/// none if no head is ablated.
std::optional<ModelHead> ablated_head(const checkpoint::ModelRun& run,
                                      const std::optional<ModelHead>& preferred);

/// The head that is ablated in `after` and not in `before`, two runs of one model; none if there is none.
std::optional<ModelHead> newly_ablated(const checkpoint::ModelRun& before, const checkpoint::ModelRun& after);

/// The reasons for a prediction of a checkpoint, ready to be drawn.
struct CausesView {
    /// An ablated head, and the prediction without it.
    struct Off {
        ModelHead head;
        double direct = 0;            ///< its part in the logit difference while it was on
        analysis::GainPrediction now; ///< the run on screen; `chances` of the two tokens of `causes`
        std::vector<float> chances{}; ///< of `causes.likeliest`, in the run on screen
    };
    analysis::PredictionCauses causes; ///< of the run on screen; with `off`, of the same run with that head
    std::optional<Off> off;
    std::string at; ///< the token at the position, as a word
    /// The tokens as words, without the mark of a blank.
    std::vector<std::string> keys, source_keys; ///< of self-attention and of cross-attention
    std::map<std::int64_t, std::string> words;  ///< by token id: all tokens that the predictions list

    const std::string& word(std::int64_t id) const { return words.at(id); }
    /// The word that a cause attends to most; empty for components other than heads.
    std::string attended(const analysis::PredictionCause& cause) const;
};

/// A label without the mark of a blank at its beginning: "Mary" for "·Mary".
std::string bare_word(const std::string& label);

/// Computes the reasons for the prediction at a position in [0, T). `off`: an ablated head of the run, which
/// is switched on for the comparison. For a worker. Throws what prediction_causes throws.
CausesView causes_view(const checkpoint::TextModel& model, const checkpoint::ModelRunPtr& run,
                       std::int64_t position, const std::optional<ModelHead>& off, Progress& progress);

} // namespace headscope::app
