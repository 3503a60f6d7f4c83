#include "tests/gui/support/english_left.h"

#include "core/base/assets.h"
#include "core/base/catalogue.h"
#include "core/trace/stage.h"
#include "tests/gui/support/user.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace headscope::test {

namespace {

constexpr std::size_t shortest = 3; ///< the number of letters from which a word identifies its language

} // namespace

std::vector<std::string> words_of(const std::string& text, std::size_t shortest_word) {
    std::vector<std::string> words{""};
    for (const char c : text + " ")
        // Bytes of multibyte characters also belong to a word.
        if (std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) > 127 ||
            c == '_')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    std::erase_if(words, [&](const std::string& word) { return word.size() < shortest_word; });
    return words;
}

EnglishWords::EnglishWords(const std::string& language) {
    const Catalogue catalogue(asset("languages/" + language + ".mo"));
    for (const auto& [english, translated] : catalogue.messages())
        for (const std::string& word :
             words_of(std::string(english.substr(english.find('\x04') + 1)), shortest))
            words_.insert(word);
    for (const auto& [english, translated] : catalogue.messages())
        for (const std::string& word : words_of(std::string(translated), shortest))
            words_.erase(word);
    for (int id = 0; id < tensor_count; ++id)
        words_.erase(std::string(tensor_info(static_cast<TensorId>(id)).name));
}

std::set<std::string> EnglishWords::on_screen(const std::set<std::string>& own) const {
    static const std::regex address(R"([A-Za-z_]+(\[[^\]]*\])+)");
    std::set<std::string> found;
    for (const ScreenText& text : screen_texts())
        if (std::ranges::any_of(
                words_of(std::regex_replace(text.text, address, ""), shortest),
                [&](const std::string& word) { return words_.contains(word) && !own.contains(word); }))
            found.insert(text.text);
    return found;
}

} // namespace headscope::test
