#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// A run of tokens [first, first + count).
struct TokenRun {
    std::int64_t first = 0, count = 1;
    bool operator==(const TokenRun&) const = default;
};

/// Returns true for a token that delimits or pads a text and represents no part of it: [CLS], [SEP], [PAD],
/// [BOS], [EOS], <s>, </s>, <pad>, <bos>, <eos>, <cls>, <sep>, <start_of_turn>, <end_of_turn>, and everything
/// of the form <|...|>. False for [MASK] and [UNK], which represent words.
bool is_special_token(std::string_view token);

/// Groups tokens into words by the tokens' own marks. `pieces` has the vocabulary's spelling, in the order of
/// the text. The runs cover all tokens.
/// - If any token begins with GPT-2's "Ġ", SentencePiece's "▁" or a space, each such token begins a word, and
///   tokens without the mark continue it. Punctuation marks and line ends are separate words; a space token
///   begins the next word.
/// - Else, if any token begins with WordPiece's "##", tokens with "##" continue the previous word.
/// - Else every token is a word.
/// Special tokens are separate words; the token after one begins a word.
std::vector<TokenRun> group_pieces_into_words(const std::vector<std::string>& pieces);

/// The pieces of each run as one readable word: "Ġun", "happy" as "unhappy", "em", "##bed" as "embed", the
/// bytes of one character as that character. A run of one token is `readable[first]`, unchanged. `pieces` and
/// `readable` have the same tokens.
std::vector<std::string> joined_words(const std::vector<std::string>& pieces,
                                      const std::vector<std::string>& readable,
                                      const std::vector<TokenRun>& runs);

} // namespace headscope::text
