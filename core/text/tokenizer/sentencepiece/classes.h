#pragma once

#include "core/text/tokenizer/folder_options.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace headscope::text {

/// The rules of one of Hugging Face's tokenizer classes that read a SentencePiece model: how
/// convert_slow_tokenizer.py turns the model into a tokenizer, and the defaults of the class.
struct SentencePieceClass {
    /// The order of the vocabulary.
    enum class Order : std::uint8_t {
        as_in_file,
        fairseq,   ///< <s>, <pad>, </s>, <unk>, then the pieces from id 3 on
        camembert, ///< five tokens, then the pieces from id 1 on
        gemma      ///< the first three pieces have the names that the options give
    };
    /// The rewriting of a text before the model.
    enum class Cleaning : std::uint8_t {
        trimmed,   ///< charsmap; white space at the end goes, several blanks become one
        plain,     ///< quotes, accents, case, charsmap
        collapsed, ///< the same, but several blanks become one before accents and case
        stripped,  ///< case, white space at both ends, charsmap
        marked,    ///< only blanks become U+2581
        prefixed   ///< U+2581 is put before the text, and blanks become U+2581
    };

    static constexpr std::int32_t of_file = -1; ///< as the file says

    std::string_view name;
    Order order = Order::as_in_file;
    Cleaning cleaning = Cleaning::trimmed;
    /// The form of a text and of two, such as "[CLS]:0 $A:0 [SEP]:0"; "@" is the source language. Empty: the
    /// begin and end tokens that the options add_bos_token and add_eos_token give.
    std::string_view single = "$A", pair = "$A $B";
    std::span<const DefaultSpecialToken> special = {};
    std::span<const std::string_view> appended = {}; ///< pieces after those of the file
    bool appends_mask = false;                       ///< <mask> after all others
    std::int32_t unknown = of_file;                  ///< the id of the unknown token of a unigram model
    std::string_view language = {};                  ///< the default source language
    bool byte_fallback = false;
    bool lower_case = false;        ///< the default of do_lower_case
    bool keeps_accents = true;      ///< the default of keep_accents
    bool lowers_commas = false;     ///< a number with a comma loses 100 points
    bool has_prefix_option = false; ///< obeys add_prefix_space and legacy
};

/// The class with this name; null if it does not read SentencePiece models or is not supported.
const SentencePieceClass* find_sentencepiece_class(std::string_view name);

} // namespace headscope::text
