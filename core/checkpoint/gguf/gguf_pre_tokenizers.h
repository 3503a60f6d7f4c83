#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::checkpoint {

/// When digits are split from each other.
enum class GgufDigits : std::uint8_t {
    together, ///< as the patterns say
    before,   ///< each alone, before the patterns
    after,    ///< each alone, after the patterns
    by_three  ///< from other characters and in threes, at the end
};

/// How a byte-level tokenizer splits a text before its merges. The patterns are those of the families' own
/// tokenizer.json.
struct GgufPreTokenizer {
    std::string_view name;                    ///< tokenizer.ggml.pre
    std::array<const char*, 5> patterns = {}; ///< one after the other; none: GPT-2's
    GgufDigits digits = GgufDigits::together;
    bool punctuation = false;    ///< runs of punctuation are split off first
    bool normalizes = false;     ///< to Unicode's form NFC
    bool ignores_merges = false; ///< a word that is a token is that token
    bool begins = false;         ///< where add_bos_token is missing
};

/// Null for a name that is not known.
const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name);
/// For messages: the known names.
std::string gguf_pre_tokenizer_names();

} // namespace headscope::checkpoint
