#pragma once

#include <set>
#include <string>
#include <vector>

namespace headscope::test {

/// Words of the program's English sentences that the sentences of the catalog `language` never use: if one is
/// on screen, a sentence was not translated.
class EnglishWords {
public:
    explicit EnglishWords(const std::string& language);

    std::size_t count() const { return words_.size(); }

    /// Returns the texts of the last frame with such a word, except for addresses such as "scores[0][cat,
    /// sat]", names of tensors, and texts that the user typed or opened (`own`: words of the sentence, of
    /// tokens, names of files).
    std::set<std::string> on_screen(const std::set<std::string>& own) const;

private:
    std::set<std::string> words_;
};

/// Returns runs of letters, each with at least `shortest` of them.
std::vector<std::string> words_of(const std::string& text, std::size_t shortest);

} // namespace headscope::test
