#pragma once

#include "core/text/lexicon.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>

// Functions shared by the word lists. Not for use outside core/text.
namespace headscope::text {

using WordTable = std::unordered_map<std::string, WordEntry>;

/// The entry of a listed word if the word belongs to one of the wanted classes.
std::optional<WordEntry> find_listed(const WordTable& table, const std::string& word,
                                     std::initializer_list<WordClass> wanted);

/// The entry of an unlisted word in lower case, inferred from German endings and spelling. `capital`: the
/// word was written with a capital letter; `first`: it begins a sentence, where every word has one.
std::optional<WordEntry> infer_german_entry(const WordTable& table, const std::string& word, bool capital,
                                            bool first);

} // namespace headscope::text
