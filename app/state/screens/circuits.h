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

/// The user's choices on the circuits screen.
struct CircuitsQuestion {
    std::optional<std::int64_t> token; ///< none: the token at the current position
    bool through_mlp = false;          ///< see analysis::TokenVector
    /// Compositions below this value, in [0, 1], are not drawn; none: see HeadCircuits.
    std::optional<float> threshold = {};
    bool operator==(const CircuitsQuestion&) const = default;
};

/// The vocabulary circuits of one head for one token, computed from the weights alone and ready to be drawn.
struct TokenCircuit {
    struct Entry {
        std::string token;
        double value = 0;
    };
    analysis::HeadPlace head;
    std::string token;
    std::vector<Entry> promoted, suppressed, looked_for;
};

/// The composition scores of all pairs of heads and the copying score of each head.
struct HeadCircuits {
    std::vector<analysis::Composition> compositions;
    std::vector<std::vector<double>> copying; ///< (L, H), see analysis::ov_copying
    float default_threshold = 0;              ///< shows only as many compositions as can be distinguished
};

/// Use the model of a run with the run's edits. For a worker. Throw what vocabulary_circuit, compositions and
/// ov_copying throw.
TokenCircuit token_circuit(const checkpoint::TextModel& model, const checkpoint::ModelRun& run,
                           analysis::HeadPlace head, std::int64_t token, bool through_mlp,
                           const Progress& cancel);
HeadCircuits head_circuits(const checkpoint::ModelRun& run, Progress& progress);

/// The content of the circuits screen, as far as it is known.
struct CircuitsView {
    CircuitsQuestion asked;
    std::shared_ptr<const TokenCircuit> token = {}; ///< null: not known yet
    std::shared_ptr<const HeadCircuits> heads = {}; ///< likewise
    std::string error = {};                         ///< one sentence; empty if there is no error

    /// Needs `heads`.
    float threshold() const { return asked.threshold.value_or(heads->default_threshold); }
};

} // namespace headscope::app
