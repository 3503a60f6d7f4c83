#pragma once

#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <vector>

namespace headscope::analysis {

/// Texts of random tokens said twice, on which heads show what they do with tokens that stood before,
/// whatever these mean (Elhage et al. 2021, Olsson et al. 2022).
struct ProbeOptions {
    std::int64_t length = 50; ///< S: random tokens of a text, which come twice; at least 1
    std::int64_t batch = 8;   ///< texts, at least 1
    std::uint64_t seed = 1;   ///< the same seed gives the same texts on every machine
};

/// `batch` lists of token ids, which a head of the model reads as HeadTokens with repeated = length: the
/// tokens that the model's tokenizer puts before a text, then `length` random tokens and the same again. A
/// random token is any with a text that is not a special token, each as likely as the others, drawn by
/// text::RandomNumbers: number next() % count of them, in the order of their ids. Without a tokenizer all ids
/// count but those that end a text, and nothing stands before. Throws Error(input) for a length or batch
/// below 1, a text longer than the model's positions, a vocabulary without such tokens, and a model of two
/// texts.
std::vector<std::vector<std::int64_t>> probe_texts(const checkpoint::TextModel& model,
                                                   const ProbeOptions& options);

} // namespace headscope::analysis
