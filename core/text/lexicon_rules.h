#pragma once

#include "core/text/lexicon.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>

// Parts that the word lists share. Not for use outside core/text.
namespace headscope::text {

using WordTable = std::unordered_map<std::string, WordEntry>;

/// The entry of a listed word, if the word belongs to one of the wanted classes.
std::optional<WordEntry> listed(const WordTable& table, const std::string& word,
                                std::initializer_list<WordClass> wanted);

/// The entry that German endings and spelling give to an unlisted word in lower case. `capital`: it is
/// written with a capital letter; `first`: as the first word of a sentence is anyway.
std::optional<WordEntry> unlisted_german(const WordTable& table, const std::string& word, bool capital,
                                         bool first);

} // namespace headscope::text
