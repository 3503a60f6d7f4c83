#pragma once

#include "core/analysis/survey/corpus.h"
#include "core/analysis/survey/score_summary.h"
#include "core/checkpoint/model/text_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::analysis {

/// The tokens of a piece of a text.
struct Piece {
    PieceName name;
    std::int64_t begin = 0; ///< how many of the text's own tokens come before it
    std::vector<std::int64_t> ids;
};

/// Cuts texts into pieces of at most `length` tokens. Each piece has the special tokens that the tokenizer
/// puts before and after a text, and so is a text as `headscope heads` reads it.
class PieceCutter {
public:
    /// length: at least one more than the special tokens of a text. Throws Error(input) where it is less, and
    /// where the model has no tokenizer.
    PieceCutter(checkpoint::TextModelPtr model, std::int64_t length);

    /// Empty for a text of which no token stands for anything. A single token that is left over at the end of
    /// a longer text is not a piece. Throws Error(input) naming the line for what
    /// the tokenizer refuses.
    std::vector<Piece> cut(const Corpus::Text& text) const;
    /// The tokens in the vocabulary's spelling.
    std::vector<std::string> tokens_of(const Piece& piece) const;
    std::int64_t length() const { return length_; }

private:
    checkpoint::TextModelPtr model_;
    std::int64_t length_;
    std::vector<text::TokenId> special_; ///< of an empty text
};

} // namespace headscope::analysis
