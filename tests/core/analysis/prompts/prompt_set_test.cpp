#include "core/analysis/prompts/prompt_set.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace headscope;
using analysis::Prompt;
using analysis::PromptSet;
using Catch::Contains;
using headscope::test::TemporaryFolder;

namespace {

std::vector<Prompt> prompts_in(const std::string& name, const std::string& bytes) {
    const TemporaryFolder folder;
    write_file_atomically(folder.file(name), bytes);
    return PromptSet::open(folder.file(name)).prompts;
}

} // namespace

TEST_CASE("a text file of prompts has one a line, without blank lines and line ends", "[prompts]") {
    const auto prompts = prompts_in("a.txt", "\xEF\xBB\xBFTom sat.\r\n\n  \t\n Lucy ran.\nCaf\xC3\xA9");
    REQUIRE(prompts.size() == 3);
    CHECK(prompts[0].text().text == "Tom sat.");
    CHECK(prompts[1].text().text == " Lucy ran.");
    CHECK(prompts[1].line == 4);
    CHECK(prompts[2].text().text == "Caf\xC3\xA9");
    CHECK(prompts[2].line == 5);
}

TEST_CASE("a malformed line of a set keeps its number and its fault", "[prompts]") {
    const auto prompts =
        prompts_in("a.jsonl", "{\"text\": \"Tom\"}\n{\n[1]\n{\"text\": []}\n{\"clean\": [1, 2]}\n"
                              "{\"text\": \"a\xFF\"}\n{\"text\": 1.5}\n");
    REQUIRE(prompts.size() == 7);
    CHECK(prompts[0].fault.empty());
    CHECK_THAT(prompts[1].fault, Contains("this line"));
    CHECK_THAT(prompts[2].fault, Contains("not a JSON object"));
    CHECK_THAT(prompts[3].fault, Contains("token ids"));
    CHECK(prompts[4].text().ids == std::vector<std::int64_t>{1, 2});
    CHECK_THAT(prompts[5].fault, Contains("UTF-8"));
    CHECK_THAT(prompts[6].fault, Contains("1.5"));
    CHECK_THROWS_WITH(prompts[1].text(), Contains("this line"));
    CHECK_THROWS_WITH(prompts[0].need("answer"), Contains("there is no \"answer\""));
}

TEST_CASE("CSV prompts may have quotes, commas and line breaks in a cell", "[prompts]") {
    const auto prompts = prompts_in("a.csv", "note,clean , answer\n"
                                             "1,\"Tom said \"\"no\"\",\nand sat\",Mary\n"
                                             "2,Lucy\n"
                                             "\n"
                                             "3,Ben,\n"
                                             "4,\"Sam");
    REQUIRE(prompts.size() == 4);
    CHECK(prompts[0].text().text == "Tom said \"no\",\nand sat");
    CHECK(prompts[0].need("answer").text == "Mary");
    CHECK(prompts[0].line == 2);
    CHECK_THAT(prompts[1].fault, Contains("2 cells") && Contains("3"));
    CHECK(prompts[1].line == 4);
    CHECK(prompts[2].fault.empty());
    CHECK(!prompts[2].has("answer"));
    CHECK_THAT(prompts[3].fault, Contains("no end"));
}

TEST_CASE("a file that is not a set of prompts is refused", "[prompts]") {
    CHECK_THROWS_WITH(prompts_in("a.json", "{}"), Contains("use one of these endings"));
    CHECK_THROWS_WITH(prompts_in("a.txt", " \n\n"), Contains("has no prompt"));
    CHECK_THROWS_WITH(prompts_in("a.csv", "word,answer\nTom,Mary\n"), Contains("no column text"));
    CHECK_THROWS_AS(PromptSet::open("/nowhere/a.txt"), Error);
}
