#pragma once

#include "core/analysis/effects/composition.h"
#include "core/analysis/effects/vocabulary_circuit.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/model_run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// What is asked of a head's weights, as chosen.
struct CircuitsQuestion {
    std::optional<std::int64_t> token; ///< none: the one at the position that is looked at
    bool through_mlp = false;          ///< see analysis::TokenVector
    /// Of compositions that are drawn, in [0, 1]; none: see HeadCircuits.
    std::optional<float> threshold = {};
    bool operator==(const CircuitsQuestion&) const = default;
};

/// What one head does with one token by its weights alone, ready to be drawn.
struct TokenCircuit {
    struct Entry {
        std::string token;
        double value = 0;
    };
    analysis::HeadPlace head;
    std::string token;
    std::vector<Entry> promoted, suppressed, looked_for;
};

/// Which heads compose, and how much each one copies.
struct HeadCircuits {
    std::vector<analysis::Composition> compositions;
    std::vector<std::vector<double>> copying; ///< (L, H), see analysis::ov_copying
    float usual_threshold = 0;                ///< leaves as many compositions as can be told apart
};

/// Of a run's model with the run's edits. For a worker. Throws what vocabulary_circuit, compositions and
/// ov_copying throw.
TokenCircuit token_circuit(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                           analysis::HeadPlace head, std::int64_t token, bool through_mlp,
                           const Progress& cancel);
HeadCircuits head_circuits(const checkpoint::ModelRun& run, Progress& progress);

/// What the canvas shows of them, as far as it is known.
struct CircuitsView {
    CircuitsQuestion asked;
    std::shared_ptr<const TokenCircuit> token = {}; ///< null: not known yet
    std::shared_ptr<const HeadCircuits> heads = {}; ///< likewise
    std::string error = {};                         ///< one sentence; empty when all is well

    /// Needs `heads`.
    float threshold() const { return asked.threshold.value_or(heads->usual_threshold); }
};

} // namespace headscope::app
