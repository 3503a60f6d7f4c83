#pragma once

#include <set>
#include <string>
#include <vector>

namespace headscope::test {

/// Words of the program's English sentences that the catalogue's own sentences never use: where one is on
/// screen, the sentence was not translated. `language`: of a catalogue.
class EnglishWords {
public:
    explicit EnglishWords(const std::string& language);

    std::size_t count() const { return words_.size(); }

    /// The texts drawn last that hold such a word, but for addresses such as "scores[0][cat, sat]", names of
    /// tensors, and what the user typed or opened (`own`: words of the sentence, of tokens, names of files).
    std::set<std::string> on_screen(const std::set<std::string>& own) const;

private:
    std::set<std::string> words_;
};

/// Runs of letters, at least `shortest` of them.
std::vector<std::string> words_of(const std::string& text, std::size_t shortest);

} // namespace headscope::test
