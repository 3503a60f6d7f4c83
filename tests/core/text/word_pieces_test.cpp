#include "core/text/readable_tokens.h"
#include "core/text/word_pieces.h"
#include "tests/catch.h"

using namespace headscope;
using namespace headscope::text;

namespace {

using List = std::vector<std::string>;

List words(const List& pieces) {
    return joined_words(pieces, readable_tokens(pieces), group_pieces_into_words(pieces));
}

} // namespace

TEST_CASE("pieces become words by their vocabulary's own marks") {
    CHECK(words({"[CLS]", "em", "##bed", "##dings", "work", "[SEP]"}) ==
          List{"[CLS]", "embeddings", "work", "[SEP]"});
    CHECK(words({"An", "na", "Ġcalled", "ĠTom", "my"}) == List{"Anna", "called", "Tommy"});
    CHECK(words({"<s>", "▁An", "na", "▁", "x", "y"}) == List{"<s>", "Anna", "xy"});
    CHECK(words({"The", " un", "happy", " cat"}) == List{"The", "unhappy", "cat"});
    CHECK(words({"The", "cat", "sat"}) == List{"The", "cat", "sat"}); // no marks: words already
}

TEST_CASE("marks of punctuation, line ends and special tokens stand alone") {
    CHECK(words({"Ġdon", "'t", "Ġgo", ".", "Ċ", "Stop", "!"}) == List{"don't", "go", ".", "⏎", "Stop", "!"});
    CHECK(words({"Ġwell", "-", "known"}) == List{"well", "-", "known"});
    CHECK(words({"<|endoftext|>", "He", "llo", "Ġyou"}) == List{"<|endoftext|>", "Hello", "you"});
    CHECK(words({"Ġa", "<s>", "b"}) == List{"a", "<s>", "b"});
}

TEST_CASE("bytes of one character come together") {
    // é and an emoji as byte-level vocabularies split them.
    CHECK(words({"Ġcaf", "Ã", "©", "Ġok"}) == List{"café", "ok"});
    CHECK(words({"Ġ", "ðŁ", "ĺ", "Ģ", "Ġok"}) == List{"😀", "ok"});
}

TEST_CASE("special tokens frame or fill a text; [MASK] and [UNK] stand for words") {
    for (const char* token : {"[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>", "<|endoftext|>",
                              "<|begin_of_text|>", "<|im_start|>", "<eos>"})
        CHECK(is_special_token(token));
    for (const char* token : {"[MASK]", "[UNK]", "<unk>", "<", "<|", "|>", "<||>", "[x]", "", "s", "<0x0A>"})
        CHECK_FALSE(is_special_token(token));
}

TEST_CASE("the first of all tokens begins a word whatever it looks like") {
    CHECK(group_pieces_into_words({"##ed", "##ing", "x"}) == std::vector<TokenRun>{{0, 2}, {2, 1}});
    CHECK(group_pieces_into_words({}).empty());
}
