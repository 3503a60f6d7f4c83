#pragma once

#include "core/attention/problem.h"
#include "core/base/message.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// Describes how a sentence becomes a whole problem: embeddings and weights. assets/manual/presets.md
/// explains how each preset is built.
struct PresetInfo {
    std::string_view id;          ///< "first-lesson"
    Message title;                ///< "First lesson"
    Message description;          ///< one sentence
    std::string_view sentence;    ///< the initial sentence
    std::string_view kv_sentence; ///< an initial second sentence; empty: the preset accepts none
    std::int64_t D = 0;
    std::int64_t H = 0;
    std::int64_t max_tokens = 0;
    bool fixed_sentence = false; ///< the sentence is part of the preset (cat-sleeps)
    bool cross = false;          ///< opens with both sentences (translation)
};

/// The result of applying a preset to a sentence.
struct PresetProblem {
    Problem problem; ///< validated; tokens are the words
    std::vector<std::string>
        head_roles; ///< the purpose of each head, H entries; empty strings for random weights
    std::vector<std::string>
        feature_names; ///< the meaning of each of the D columns of x; empty for columns without a meaning
};

std::span<const PresetInfo> presets();

/// Null for an unknown id.
const PresetInfo* find_preset(std::string_view id);
/// The initial second sentence; empty for a preset that opens with self-attention.
std::string_view opening_kv_sentence(const PresetInfo& info);

/// Builds a preset's problem for a sentence. With `kv_sentence`, keys and values come from that sentence,
/// embedded like the first one, with positions from 0; empty: self-attention. Throws Error(input) for an
/// unknown id (the message lists the known ones), for a sentence that split_words rejects or that has more
/// than max_tokens tokens, and for a second sentence if the preset accepts none. `seed` determines the preset
/// "random" and the vectors of unknown words.
PresetProblem build_preset(std::string_view id, std::string_view sentence, std::uint64_t seed = 1,
                           std::string_view kv_sentence = {});

} // namespace headscope::text
