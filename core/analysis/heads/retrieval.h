#pragma once

#include "core/base/progress.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::analysis {

/// A needle in a haystack: a sentence that stands somewhere in a long text, and a question at the end of the
/// text that the model can answer only from that sentence.
struct NeedleOptions {
    std::string haystack, needle, question; ///< without blanks at their ends
    /// Tokens of the haystack, at most; empty: a quarter, a half and all of those that fit.
    std::vector<std::int64_t> lengths{};
    std::int64_t depths = 10; ///< places of the needle in a haystack, from its beginning to its end
};

/// With the texts that come with the program, which every causal model of English can read.
NeedleOptions usual_needle();

/// A haystack with the needle in it and the question behind it.
struct NeedleText {
    std::vector<std::int64_t> ids;
    std::int64_t first = 0, end = 0; ///< the tokens of the needle, `end` excluded
    std::int64_t length = 0;         ///< tokens of the haystack
    double depth = 0;                ///< where the needle stands: 0 its beginning, 1 its end
};

/// One text for each length and depth. The haystack ends, and the needle stands, behind the last whole
/// sentence before the place asked for. A single depth is the middle. Throws Error(input) for a model of two
/// texts, without a tokenizer, or not causal; an empty needle, question or haystack; no depth; and a length
/// that leaves the model no positions for needle, question and answer.
std::vector<NeedleText> needle_texts(const checkpoint::TextModel& model, const NeedleOptions& options);

/// What a model wrote in answer to its needles.
struct Retrieval {
    std::vector<std::vector<double>> scores; ///< (L, H), in [0, 1]
    double written = 0;     ///< the share of the needle's different tokens that the model wrote, in [0, 1]
    std::int64_t texts = 0; ///< so far
};

/// How much of a needle each head copies (Wu et al. 2024, "Retrieval Head Mechanistically Explains
/// Long-Context Factuality"). The model goes on with each text by its likeliest token, as many tokens as the
/// needle has, or to the end of the text. A head copies a token when the largest weight of the row that
/// predicts this token lies on the same token in the needle. Its score is the number of different tokens that
/// it copies over the number of different tokens of the needle, and the mean over the texts. `put` gets the
/// mean over the texts so far. For a worker. Throws what the generator throws; Error(cancelled).
Retrieval retrieval(const checkpoint::TextModel& model, const checkpoint::ModelEdits& edits,
                    const std::vector<NeedleText>& texts, const std::function<void(const Retrieval&)>& put,
                    Progress& progress);

} // namespace headscope::analysis
