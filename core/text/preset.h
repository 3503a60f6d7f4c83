#pragma once

#include "core/attention/problem.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// A way to turn a sentence into a whole problem: embeddings and weights. How each is built is told in
/// assets/manual/presets.md.
struct PresetInfo {
    std::string_view id;          ///< "first-lesson"
    std::string_view title;       ///< "First lesson"
    std::string_view description; ///< one sentence
    std::string_view sentence;    ///< what it opens with
    std::string_view kv_sentence; ///< a second sentence to begin with; empty: takes none
    std::int64_t D = 0;
    std::int64_t H = 0;
    std::int64_t max_tokens = 0;
    bool fixed_sentence = false; ///< the sentence is part of the preset (cat-sleeps)
    bool cross = false;          ///< opens with both sentences (translation)
};

/// A preset applied to a sentence.
struct PresetProblem {
    Problem problem; ///< validated; tokens are the words
    std::vector<std::string>
        head_roles; ///< what each head was built to do, H entries; empty strings when drawn at random
    std::vector<std::string>
        feature_names; ///< what each of the D columns of x stands for; empty when it has no meaning
};

std::span<const PresetInfo> presets();

/// Null for an unknown id.
const PresetInfo* find_preset(std::string_view id);
/// What the preset opens with as its second sentence; empty for one that opens with self-attention.
std::string_view opening_kv_sentence(const PresetInfo& info);

/// With `kv_sentence`, keys and values come from that sentence, embedded as the first one is; its own
/// positions begin at 0. Empty: self-attention.
/// Throws Error(input) for an unknown id (naming the known ones), for a sentence that split_words refuses or
/// that has more than max_tokens tokens, and for a second sentence where the preset takes none. `seed`
/// decides the preset "random" and the vectors of unknown words.
PresetProblem build_preset(std::string_view id, std::string_view sentence, std::uint64_t seed = 1,
                           std::string_view kv_sentence = {});

} // namespace headscope::text
