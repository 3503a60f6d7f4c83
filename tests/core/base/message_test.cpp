#include "core/base/assets.h"
#include "core/base/catalogue.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "tests/catch.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <regex>
#include <set>
#include <vector>

namespace headscope {

namespace {

using Messages = std::vector<std::pair<std::string, std::string>>; ///< sorted by the first

/// Returns a file like msgfmt's: header, table of originals, table of translations, then the texts.
std::string mo_bytes(const Messages& messages) {
    std::string tables, texts;
    const auto word = [](std::string& to, std::size_t number) {
        const auto value = static_cast<std::uint32_t>(number);
        std::array<char, 4> bytes{};
        std::memcpy(bytes.data(), &value, 4);
        to.append(bytes.data(), 4);
    };
    const std::size_t header = 28, count = messages.size(), begin = header + 16 * count;
    for (const auto side : {0, 1})
        for (const auto& [english, translated] : messages) {
            const std::string& text = side == 0 ? english : translated;
            word(tables, text.size());
            word(tables, begin + texts.size());
            texts += text + '\0';
        }
    std::string bytes;
    for (const std::size_t number :
         {std::size_t{0x950412de}, std::size_t{0}, count, header, header + 8 * count, std::size_t{0}, begin})
        word(bytes, number);
    return bytes + tables + texts;
}

const Messages sample_messages{{"", "Content-Type: text/plain; charset=UTF-8\n"},
                               {"file.open\x04Open", "Öffnen"},
                               {"heads.count\x04{} head", ""},
                               {"heads.reads\x04{} reads {}", "{1} wird von {0} gelesen"}};

std::multiset<std::string> fields_of(const std::string& text) {
    const std::string plain = std::regex_replace(text, std::regex(R"(\{\{|\}\})"), "");
    std::multiset<std::string> fields;
    const std::regex field(R"(\{(\d*)\})");
    int next = 0;
    for (std::sregex_iterator at(plain.begin(), plain.end(), field), end; at != end; ++at)
        fields.insert((*at)[1].length() == 0 ? std::to_string(next++) : (*at)[1].str());
    return fields;
}

/// Leaves the program in English again.
struct Spoken {
    explicit Spoken(const std::string& language) { use_language(language); }
    Spoken(const Spoken&) = delete;
    Spoken& operator=(const Spoken&) = delete;
    ~Spoken() { use_language("en"); }
};

} // namespace

TEST_CASE("the system's reasons are said in the person's language", "[message]") {
    CHECK(system_reason(EACCES) == "Permission denied");
    const Spoken spoken("de");
    CHECK(system_reason(EACCES) == "keine Berechtigung");
    CHECK_THROWS_WITH(read_file("/nowhere/at/all"), Catch::Contains("nicht vorhanden"));
}

TEST_CASE("a catalogue finds a message by its id", "[message]") {
    Messages counted = sample_messages;
    counted[2] = {std::string("heads.count\x04{} head") + '\0' + "{} heads",
                  std::string("{} Kopf") + '\0' + "{} Köpfe"};
    const Catalogue catalogue(mo_bytes(counted));
    CHECK(catalogue.find("heads.reads") == "{1} wird von {0} gelesen");
    CHECK(catalogue.find("file.open") == "Öffnen");
    for (const std::string_view unknown : {"", "Open", "file", "file.ope", "file.open2", "heads", "heads.z"})
        CHECK(catalogue.find(unknown) == "");
    CHECK(catalogue.find_plural("heads.count", 1) == "{} Kopf");
    CHECK(catalogue.find_plural("heads.count", 0) == "{} Köpfe");
    CHECK(catalogue.find_plural("heads.count", 2) == "{} Köpfe");
    CHECK(catalogue.find_plural("heads", 2) == "");
    CHECK(catalogue.find_plural("file.open", 1) == "Öffnen");
    CHECK(catalogue.find_plural("file.open", 2) == "");
}

TEST_CASE("a catalogue chooses among as many forms as its language has", "[message]") {
    const std::string rule = "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2";
    const auto polish = [](const std::string& header) {
        return Catalogue(mo_bytes({{"", header},
                                   {std::string("heads.count\x04{} head") + '\0' + "{} heads",
                                    std::string("{} głowa") + '\0' + "{} głowy" + '\0' + "{} głów"}}));
    };
    const Catalogue catalogue = polish("Language: pl\nPlural-Forms: nplurals=3; plural=(" + rule + ");\n");
    for (const auto& [count, form] : {std::pair(0, "{} głów"),
                                      {1, "{} głowa"},
                                      {2, "{} głowy"},
                                      {4, "{} głowy"},
                                      {5, "{} głów"},
                                      {12, "{} głów"},
                                      {22, "{} głowy"}})
        CHECK(catalogue.find_plural("heads.count", count) == form);
    CHECK_THROWS_AS(polish("Plural-Forms: nplurals=3; plural=(" + rule + ";\n"), Error);
}

TEST_CASE("a catalogue that was cut is refused", "[message]") {
    const std::string bytes = mo_bytes(sample_messages);
    // The last byte ends the last text, and is not read.
    for (std::size_t length = 0; length + 1 < bytes.size(); ++length)
        CHECK_THROWS_AS(Catalogue(bytes.substr(0, length)), Error);
    std::string other = bytes;
    other[0] = 'x';
    CHECK_THROWS_AS(Catalogue(other), Error);
    Messages unsorted = sample_messages;
    std::swap(unsorted[1], unsorted[3]);
    CHECK_THROWS_AS(Catalogue(mo_bytes(unsorted)), Error);
}

TEST_CASE("messages are English at first", "[message]") {
    CHECK(language_in_use() == "en");
    CHECK(tr("test.braces", "{not a field}") == "{not a field}");
    CHECK(tr("test.of", "{} of {}", 3, "seven") == "3 of seven");
    CHECK(tr_n("test.heads", "{} head", "{} heads", 1, 1) == "1 head");
    CHECK(tr_n("test.heads", "{} head", "{} heads", 0, 0) == "0 heads");
    CHECK(tr_n("test.heads_of", "one head", "{} heads of {}", 3, 3, 8) == "3 heads of 8");
    constexpr Message title = translatable("test.title", "Open");
    CHECK(tr(title) == "Open");
    CHECK(tr(Message{}) == "");
    CHECK(Message{}.empty());
    CHECK(tr(untranslated("W_Q")) == "W_Q");
    CHECK_THROWS_WITH(use_language("tlh"), Catch::Contains("tlh") && Catch::Contains("de"));
    CHECK(language_in_use() == "en");
}

TEST_CASE("a message is translated by its id, whatever its English text", "[message]") {
    const Spoken spoken("de");
    CHECK(tr("language.name", "Words that no catalog has") == "Deutsch");
    CHECK(tr("test.unknown", "English") == "English");
}

TEST_CASE("a translation may reorder its fields, and one that does not fit is left out", "[message]") {
    const std::string text = "x";
    const auto filled = [&](std::string_view translated) {
        return detail::format_translated(translated, "{} reads {}", fmt::make_format_args(text, text));
    };
    CHECK(filled("{1} von {0}") == "x von x");
    CHECK(filled("{} {} {}") == "x reads x");
    CHECK(filled("{ohne Ende") == "x reads x");
    CHECK(filled("") == "x reads x");
}

TEST_CASE("the language of a locale", "[message]") {
    CHECK(language_of_locale("de_AT.UTF-8@euro") == "de");
    CHECK(language_of_locale("de") == "de");
    CHECK(language_of_locale("fr_FR.UTF-8") == "en");
    CHECK(language_of_locale("C.UTF-8") == "en");
    CHECK(language_of_locale("") == "en");
}

TEST_CASE("every language has its name, and every translation the fields of its message", "[message]") {
    const std::vector<Language> all = languages();
    REQUIRE(all.size() > 1);
    CHECK(all[0].code == "en");
    CHECK(all[1].name == "Deutsch");
    for (const Language& language : all) {
        if (language.code == "en")
            continue;
        const Spoken spoken(language.code);
        CHECK(language_in_use() == language.code);
        const Catalogue catalogue(asset("languages/" + language.code + ".mo"));
        CHECK(catalogue.messages().size() > 1000);
        for (const auto& [english, translated] : catalogue.messages()) {
            // The forms of a counted message may differ in their fields.
            if (english.find('\0') != std::string_view::npos || english.empty())
                continue;
            INFO(english << " -> " << translated);
            CHECK(fields_of(std::string(english.substr(english.find('\x04') + 1))) ==
                  fields_of(std::string(translated)));
        }
    }
}

} // namespace headscope
