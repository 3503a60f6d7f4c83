#include "core/manual/search.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace headscope::manual {

namespace {

constexpr std::size_t line_length = 110, before_word = 40; ///< bytes
// The score of a word by where it is found; doubled at the beginning of a word.
constexpr int in_heading = 24, in_title = 10, in_text = 2;
constexpr int most_in_text = 3; ///< maximum number of counted occurrences of a word in one text

bool is_letter(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0;
}

/// The score of a text for a word; 0 if the text does not contain it.
int score_of_word(const std::string& text, const std::string& word, int once, int most) {
    int total = 0;
    for (std::size_t at = text.find(word); at != std::string::npos && most > 0;
         at = text.find(word, at + 1), --most)
        total += at == 0 || !is_letter(text[at - 1]) ? 2 * once : once;
    return total;
}

/// Quotes one line of the text, around the first of the words.
void quote(SearchResult& found, const std::vector<std::string>& words) {
    const std::string& text = found.section->text;
    const std::string low = to_ascii_lower(text);
    std::size_t first = std::string::npos;
    for (const std::string& word : words)
        first = std::min(first, low.find(word));
    std::size_t begin = first == std::string::npos || first < before_word ? 0 : first - before_word;
    if (begin > 0) // start at a word
        begin = std::min(text.find(' ', begin), first - 1) + 1;
    std::size_t end = std::min(text.size(), begin + line_length);
    if (end < text.size())
        end = std::max(text.rfind(' ', end), begin);
    found.line = (begin > 0 ? "… " : "") + text.substr(begin, end - begin) + (end < text.size() ? " …" : "");
    const std::string line = to_ascii_lower(found.line);
    for (const std::string& word : words)
        for (std::size_t at = line.find(word); at != std::string::npos;
             at = line.find(word, at + word.size()))
            found.marks.emplace_back(at, word.size());
    std::ranges::sort(found.marks);
}

} // namespace

std::vector<SearchResult> search(std::string_view asked) {
    std::vector<std::string> words;
    std::istringstream stream(to_ascii_lower(asked));
    for (std::string word; stream >> word;)
        words.push_back(word);
    std::vector<std::pair<int, SearchResult>> all;
    for (const Page& page : pages())
        for (const Section& section : page.sections) {
            const std::string heading = to_ascii_lower(section.title), title = to_ascii_lower(page.title),
                              text = to_ascii_lower(section.text);
            int total = 0;
            const bool every = !words.empty() && std::ranges::all_of(words, [&](const std::string& word) {
                const int here = score_of_word(heading, word, in_heading, 1) +
                                 score_of_word(text, word, in_text, most_in_text);
                total += here + score_of_word(title, word, in_title, 1);
                return here > 0;
            });
            if (every)
                all.push_back(
                    {total, SearchResult{.page = &page, .section = &section, .line = {}, .marks = {}}});
        }
    std::ranges::stable_sort(all, std::greater{}, &std::pair<int, SearchResult>::first);
    std::vector<SearchResult> found;
    for (auto& [total, one] : all) {
        quote(one, words);
        found.push_back(std::move(one));
    }
    return found;
}

} // namespace headscope::manual
