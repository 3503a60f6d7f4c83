#include "app/state/files/sentence_list.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace headscope::app {

namespace {

std::string trimmed_line(const std::string& line) {
    constexpr const char* spaces = " \t\r\n";
    const std::size_t first = line.find_first_not_of(spaces);
    return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(spaces) - first + 1);
}

} // namespace

SentenceListPtr parse_sentences(const std::string& text, const std::string& source) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::vector<std::string> sentences;
    std::istringstream lines(text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::string sentence = trimmed_line(line);
        if (sentence.empty())
            continue;
        std::ranges::replace(sentence, '\t', ' ');
        if (text::plain_text(sentence) != sentence)
            fail_input(tr("sentence_list.not_text",
                          "{}, line {}: this is not text in UTF-8; a list of sentences is a text file with "
                          "one sentence a line",
                          source, number));
        if (sentence.size() > longest_listed_sentence)
            fail_input(tr("sentence_list.too_long",
                          "{}, line {}: the sentence has {} bytes; at most {} are possible", source, number,
                          sentence.size(), longest_listed_sentence));
        if (sentences.size() == most_sentences)
            fail_input(tr("sentence_list.too_many",
                          "{} has more than {} sentences; split it into several files", source,
                          most_sentences));
        sentences.push_back(std::move(sentence));
    }
    if (sentences.empty())
        fail_input(
            tr("sentence_list.empty", "{} has no sentence; write one sentence a line into it", source));
    return std::make_shared<const std::vector<std::string>>(std::move(sentences));
}

SentenceListPtr read_sentences(const std::string& path) {
    constexpr std::uint64_t largest = most_sentences * (longest_listed_sentence + 2);
    return parse_sentences(read_file(path, largest), path);
}

} // namespace headscope::app
