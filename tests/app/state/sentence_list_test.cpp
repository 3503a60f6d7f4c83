#include "app/state/files/sentence_list.h"
#include "core/base/error.h"
#include "tests/catch.h"

#include <string>

using namespace headscope;
using Catch::Contains;

TEST_CASE("a list of sentences has a sentence for each line that is not blank", "[app][sentences]") {
    const auto list =
        app::parse_sentences("\xEF\xBB\xBFThe dog\tran \r\n\n   \nZwei Wörter\nlast", "list.txt");
    CHECK(*list == std::vector<std::string>{"The dog ran", "Zwei Wörter", "last"});
}

TEST_CASE("a faulty list of sentences is refused with its line", "[app][sentences]") {
    CHECK_THROWS_WITH(app::parse_sentences("\n\n", "list.txt"), Contains("list.txt has no sentence"));
    CHECK_THROWS_WITH(app::parse_sentences("a\nb\xC3\n", "list.txt"), Contains("list.txt, line 2"));
    CHECK_THROWS_WITH(app::parse_sentences(std::string(5000, 'a'), "list.txt"),
                      Contains("line 1") && Contains("5000 bytes"));
    std::string many;
    for (std::size_t n = 0; n <= app::most_sentences; ++n)
        many += "a\n";
    CHECK_THROWS_WITH(app::parse_sentences(many, "list.txt"), Contains("more than 1000 sentences"));
}
