#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// The types of a piece in a SentencePiece model, with the format's numbers.
enum class PieceType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

struct SentencePiece {
    std::string text; ///< not empty, UTF-8; a blank is written U+2581
    float score = 0;  ///< finite
    PieceType type = PieceType::normal;
};

/// The content of a SentencePiece model file (sentencepiece_model.proto), reduced to the fields that decide
/// the tokens of a text. Fields that a file omits have the format's defaults.
struct SentencePieceModel {
    enum class Kind : std::uint8_t { unigram = 1, bpe, word, character };

    std::vector<SentencePiece> pieces; ///< by id; at least one, no text twice
    Kind kind = Kind::unigram;
    bool byte_fallback = false;
    bool blank_as_suffix = false; ///< the added blank comes after the text instead of before it
    std::int64_t unknown = 0;     ///< id of a piece
    std::string unknown_piece = "<unk>";
    std::string charsmap; ///< the replacements of characters; see Charsmap; empty: none
    bool adds_blank = true;
    bool removes_extra_blanks = true;
    bool marks_blanks = true; ///< writes a blank as U+2581
};

/// Reads the bytes of a model file; messages call it `file`. Throws Error(input) for a damaged file, no
/// pieces, equal pieces, and values outside their ranges.
SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& file);

/// Same from a file of at most 256 MiB.
SentencePieceModel read_sentencepiece(const std::string& path);

} // namespace headscope::text
