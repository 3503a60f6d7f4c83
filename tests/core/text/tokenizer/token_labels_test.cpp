#include "core/text/tokenizer/token_labels.h"

#include "tests/catch.h"
#include "tests/test_data.h"

using namespace headscope;
using namespace headscope::text;

namespace {

std::vector<std::string> labels(const std::string& tokenizer, const std::string& text,
                                SpaceMark mark = SpaceMark::dot) {
    const auto loaded = load_tokenizer(test_data("/tokenizers/") + tokenizer);
    return token_labels(*loaded, loaded->encode(text).ids, mark);
}

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts)
        out += part;
    return out;
}

} // namespace

TEST_CASE("tokens of every kind of vocabulary are read as characters", "[tokenizer]") {
    CHECK(joined(labels("gpt2_like", "The cat\nsat")) == "The·cat⏎sat");
    CHECK(joined(labels("gpt2_like", "The cat\nsat", SpaceMark::hidden)) == "Thecat⏎sat");
    const auto llama = labels("llama2_like", "The cat");
    CHECK(llama.front() == "<s>");
    CHECK(joined(llama) == "<s>·The·cat");
    const auto t5 = labels("t5_like", "The cat sat");
    CHECK(t5.back() == "</s>");
    CHECK(joined(t5) == "·The·cat·sat</s>");
    const auto bert = labels("bert_like_uncased", "The cats");
    CHECK(bert.front() == "[CLS]");
    CHECK(bert.back() == "[SEP]");
    CHECK(joined(bert).find("·") == std::string::npos);
}

TEST_CASE("a character that was cut into tokens stands in each of them", "[tokenizer]") {
    for (const char* tokenizer : {"gpt2_like", "llama3_like", "llama2_like"}) {
        INFO(tokenizer);
        auto parts = labels(tokenizer, "\U0001F98A");
        std::erase_if(parts, [](const std::string& part) { return part.starts_with("<") || part == "␣"; });
        REQUIRE(parts.size() >= 2);
        const std::string count = std::to_string(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i)
            CHECK(parts[i] == "\U0001F98A " + std::to_string(i + 1) + "/" + count);
    }
}

TEST_CASE("what cannot be read keeps a name", "[tokenizer]") {
    const auto loaded = load_tokenizer(test_data("/tokenizers/gpt2_like"));
    CHECK(token_label(*loaded, 100000, SpaceMark::dot) == "#100000");
    CHECK(joined(token_labels(*loaded, loaded->encode("\x10").ids, SpaceMark::dot)) == "<0x10>");
    // The first of four bytes on its own.
    const auto ids = loaded->encode("\U0001F98A").ids;
    CHECK(token_label(*loaded, ids.front(), SpaceMark::dot) == loaded->token_text(ids.front()));
}
