#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

/// Sentences, or prompts of a checkpoint, to step through: at least one, none of them empty.
using SentenceListPtr = std::shared_ptr<const std::vector<std::string>>;

inline constexpr std::size_t most_sentences = 1000;          ///< of a list
inline constexpr std::size_t longest_listed_sentence = 4000; ///< bytes

/// Returns the lines of a text, without spaces at both ends and without blank lines. `source` names the text
/// in messages. Throws Error(input) with the line if there is no sentence, if there are too many, or if a
/// sentence is too long or is not UTF-8.
SentenceListPtr parse_sentences(const std::string& text, const std::string& source);

/// Reads a text file, one sentence a line. Throws Error(input) likewise, and if the file cannot be read.
SentenceListPtr read_sentences(const std::string& path);

} // namespace headscope::app
