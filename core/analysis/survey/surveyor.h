#pragma once

#include "core/analysis/survey/pieces.h"
#include "core/analysis/survey/survey_state.h"
#include "core/base/progress.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace headscope::analysis {

/// The stack of a checkpoint that a survey reads texts with: the encoder of an encoder-decoder, whose decoder
/// has nothing to read of a text alone.
const checkpoint::Model& surveyed_model(const checkpoint::TextModel& model);

/// SHA-256, in hexadecimal digits, of config.json, the tokenizer's files and all files with tensors. Reads
/// them all. Throws Error(input) for one that cannot be read; Error(cancelled).
std::string fingerprint_of(const checkpoint::Model& model, const Progress& cancel);

/// Runs a checkpoint over pieces of texts on the CPU and measures every head of every layer on each. A layer
/// is run over all pieces before the next one, so that its weights are read once; attention weights are
/// measured when they are made, and none are kept. For one thread.
class Surveyor {
public:
    /// threads: how many work at once; 0: one per core. Neither they nor how pieces are grouped change a
    /// score.
    Surveyor(checkpoint::TextModelPtr model, int threads);
    ~Surveyor();

    /// Adds pieces, with the tokens that `cutter` made. Throws Error(input) for ids outside the vocabulary
    /// and for numbers beyond float32's range; Error(cancelled). What was added before stays in `state` then.
    void add(std::span<const Piece> pieces, const PieceCutter& cutter, SurveyState& state,
             Progress& progress);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace headscope::analysis
