#pragma once

#include "app/state/document.h"

#include <optional>
#include <string>

namespace headscope::app {

/// The place of a word in the text that the user typed.
struct WordPlace {
    std::string text;               ///< the whole text
    std::size_t begin = 0, end = 0; ///< bytes of the word, without blanks around it
    bool of_second = false;         ///< the text is the one that keys and values are made from

    std::string word() const { return text.substr(begin, end - begin); }
    /// The text with something else in place of the word. Of a word that is left out, the blank before it
    /// goes too.
    std::string with(const std::string& typed) const;
    /// The place of the word in a text that changed since. Nothing if a change crosses an edge of the word.
    std::optional<WordPlace> moved_to(const std::string& changed) const;
};

/// Returns the place of a word of a sentence, or of a token of a checkpoint's prompt; nothing if it is not a
/// part of a text that can be typed: a token from a file, a mark that the tokenizer adds, one of several
/// texts. of_second: a word of the second sentence. Encodes a checkpoint's prompt.
std::optional<WordPlace> word_place(const Document& document, std::int64_t word, bool of_second = false);

/// Returns true if words of the document's text can be replaced, without looking for one.
bool has_typed_words(const Document& document);

} // namespace headscope::app
