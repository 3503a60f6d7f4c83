#include "core/manual/manual.h"

#include "core/base/message.h"
#include "core/manual/glossary.h"
#include "core/manual/search.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace headscope::test {

using namespace headscope::manual;

namespace {

using lesson::Spans;
using lesson::SpanStyle;

std::string manual_folder() {
    return test_data("/../../assets/manual");
}

/// The targets of all links of a page's file outside listings, read without the program's reader.
std::vector<std::string> links_of(const std::string& name) {
    std::ifstream file(manual_folder() + "/" + name + ".md");
    REQUIRE(file);
    std::vector<std::string> out;
    bool listing = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```"))
            listing = !listing;
        static const std::regex link(R"(\]\(([^)]+)\))");
        for (std::sregex_iterator at(line.begin(), line.end(), link), end; !listing && at != end; ++at)
            out.push_back((*at)[1]);
    }
    return out;
}

/// The text, with each link as [text|target].
std::string with_links(const Spans& spans) {
    std::string out;
    for (const lesson::Span& span : spans)
        out += span.link.empty() ? span.text : "[" + span.text + "|" + span.link + "]";
    return out;
}

std::string marked(const Spans& spans) {
    std::set<std::string> met;
    return with_links(with_terms(spans, met));
}

} // namespace

TEST_CASE("the table of contents holds every page once", "[manual]") {
    std::multiset<std::string> files, listed;
    for (const auto& entry : std::filesystem::directory_iterator(manual_folder()))
        if (entry.path().extension() == ".md")
            files.insert(entry.path().stem().string());
    for (const manual::Page& page : pages())
        listed.insert(page.name);
    CHECK(files == listed);
    CHECK(find_page("no such page") == nullptr);
}

TEST_CASE("every link of every page leads to a page and a heading", "[manual]") {
    int count = 0;
    for (const manual::Page& page : pages())
        for (const std::string& link : links_of(page.name)) {
            INFO(page.name << ": " << link);
            ++count;
            if (link.starts_with("https://"))
                continue;
            const auto mark = std::min(link.find('#'), link.size());
            const std::string file = link.substr(0, mark);
            const Place place{file.empty() ? page.name : file.substr(0, file.find(".md")),
                              mark < link.size() ? link.substr(mark + 1) : ""};
            CHECK(find_section(place) != nullptr);
        }
    CHECK(count > 100);
    CHECK(find_section({"effects", "no-such-heading"}) == nullptr);
}

TEST_CASE("a page is read with its headings, links and listings", "[manual]") {
    const manual::Page page =
        read_page("here", "# A title: *of* `code`\n\nSee [that](there.md#down), [this](#up) and "
                          "[web](https://example.org/a.md).\n\n## Up\n\n- one\n  - inner **bold `x`** "
                          "rest\n- two\n\n```sh\na {{b}}\n```\n\n## Up\n\n![A caption](pictures/p.png)\n");
    CHECK(page.title == "A title: of code");
    REQUIRE(page.sections.size() == 3);
    CHECK(page.sections[0].anchor == "a-title-of-code");
    CHECK(page.sections[1].anchor == "up");
    CHECK(page.sections[2].anchor == "up-1");
    CHECK(page.sections[1].text == "one inner bold x rest two a {{b}} ");
    REQUIRE(page.blocks.size() == 7);
    CHECK(with_links(std::get<lesson::Paragraph>(page.blocks[1]).spans) ==
          "See [that|there#down], [this|here#up] and [web|https://example.org/a.md].");
    const auto& list = std::get<lesson::ListBlock>(page.blocks[3]);
    REQUIRE(list.items.size() == 3);
    REQUIRE(list.items[1].size() == 4);
    CHECK(list.items[1][1].style == SpanStyle::strong);
    CHECK(list.items[1][2].style == SpanStyle::code);
    CHECK(list.items[1][3].style == SpanStyle::plain);
    CHECK(std::get<lesson::CodeBlock>(page.blocks[4]).language == "sh");
    CHECK(plain(std::get<lesson::Paragraph>(page.blocks[6]).spans) == "A caption");
    CHECK_THROWS(read_page("here", "No title"));
    CHECK(place_of("effects#logit-lens") == Place{"effects", "logit-lens"});
    CHECK_FALSE(place_of("https://example.org/#a"));
}

TEST_CASE("a search finds sections, those with the words in their heading first", "[manual]") {
    const std::vector<SearchResult> lens = search("logit LENS");
    REQUIRE_FALSE(lens.empty());
    CHECK(lens.front().section->anchor == "logit-lens");
    for (const SearchResult& one : lens) {
        const std::string all = to_ascii_lower(one.section->title + " " + one.section->text);
        CHECK(all.find("logit") != std::string::npos);
        CHECK(all.find("lens") != std::string::npos);
        for (const auto& [begin, length] : one.marks) {
            const std::string word = to_ascii_lower(one.line.substr(begin, length));
            CHECK((word == "logit" || word == "lens"));
        }
        if (one.section->text.find("lens") != std::string::npos)
            CHECK_FALSE(one.marks.empty());
        CHECK(one.line.size() < 130);
    }
    CHECK(search("keyboard").front().page->name == "keyboard");
    CHECK(search("softmax qqzz").empty());
    CHECK(search("  ").empty());
}

TEST_CASE("the glossary's terms are short, and each leads to a page that says more", "[manual]") {
    CHECK(terms().size() >= 60);
    const manual::Page& page = *find_page("glossary");
    std::set<std::string> names;
    for (std::size_t i = 0; i < page.blocks.size(); ++i) {
        const auto* heading = std::get_if<lesson::Heading>(&page.blocks[i]);
        if (heading == nullptr || heading->level != 2)
            continue;
        const std::string name = plain(heading->spans);
        INFO(name);
        CHECK(names.empty() == (names.lower_bound(to_ascii_lower(name)) == names.end() && names.empty()));
        if (!names.empty())
            CHECK(*names.rbegin() < to_ascii_lower(name)); // in alphabetical order
        names.insert(to_ascii_lower(name));
        const bool spelled = !term_named(name)->spellings.empty(); // in a paragraph before the definition
        const std::size_t at = i + (spelled ? 2 : 1);
        REQUIRE(at < page.blocks.size());
        const auto& entry = std::get<lesson::Paragraph>(page.blocks[at]);
        CHECK(plain(entry.spans).size() < 340);
        CHECK(entry.spans.back().text == "More");
        const auto place = place_of(entry.spans.back().link);
        REQUIRE(place);
        CHECK(place->page != "glossary");
        CHECK((at + 1 == page.blocks.size() || std::holds_alternative<lesson::Heading>(page.blocks[at + 1])));
    }
    CHECK(term_named("feed-forward blocks") == find_term("mlp"));
    CHECK(term_named("attends to") == find_term("attention"));
    CHECK(term_named("rope")->name == "RoPE (rotary position embedding)");
    CHECK(term_named("flux") == nullptr);
    for (const Term& term : terms()) {
        INFO(term.name);
        CHECK(term.text.find("Also: ") == std::string::npos);
        CHECK(term.text.size() > 20);
        CHECK(term.text.back() == '.');
        CHECK(find_section({"glossary", term.anchor}) != nullptr);
    }
}

TEST_CASE("words of the glossary are linked where they stand first", "[manual]") {
    const auto text = [](const std::string& words, SpanStyle style = SpanStyle::plain) {
        return lesson::Span{.style = style, .text = words, .value = {}};
    };
    CHECK(marked({text("The query meets queries; a Key, the keyboard.")}) ==
          "The [query|glossary#query] meets queries; a [Key|glossary#key], the keyboard.");
    CHECK(marked({text("An induction head, then a head.")}) ==
          "An [induction head|glossary#induction-head], then a [head|glossary#head].");
    CHECK(marked({text("softmax", SpanStyle::code), text(" is softmax")}) ==
          "softmax is [softmax|glossary#softmax]");
    CHECK(marked({text("cross-attention and RoPE")}) ==
          "[cross-attention|glossary#cross-attention] and [RoPE|glossary#rope-rotary-position-embedding]");
    CHECK(marked({text("A rope, ropes and a ROPE")}) == "A rope, ropes and a ROPE");
    CHECK(marked({text("Press key 0, a number key or an arrow key, then a key")}) ==
          "Press key 0, a number key or an arrow key, then a [key|glossary#key]");
    CHECK(marked({text("non-query head_out")}) == "non-query head_out");
    CHECK(marked({text("What you gain, with little loss")}) == "What you gain, with little loss");
    std::set<std::string> met{"mask"};
    CHECK(with_links(with_terms({text("A mask.")}, met)) == "A mask.");
}

TEST_CASE("every term has a German definition", "[manual]") {
    use_language("de");
    for (const Term& term : terms()) {
        INFO(term.name);
        const Definition definition = definition_of(term);
        CHECK(definition.language == "de");
        CHECK_FALSE(definition.text.starts_with("Englisch"));
        CHECK(definition.text.ends_with("."));
    }
    CHECK(definition_of(*find_term("attention-sink")).name == "Attention-Senke");
    use_language("en");
    CHECK(definition_of(*find_term("attention-sink")).name == "Attention sink");
}

} // namespace headscope::test
