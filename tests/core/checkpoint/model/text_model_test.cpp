#include "core/checkpoint/model/text_model.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

/// A golden model with a vocabulary of words.
std::string with_words(TemporaryFolder& folder, const std::string& model) {
    const std::filesystem::path made = folder.file(model);
    std::filesystem::copy(test_data("/models/") + model, made);
    write_file_atomically((made / "vocab.txt").string(),
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\non\nmat\n.\n");
    return made.string();
}

} // namespace

TEST_CASE("without a tokenizer a prompt is ids", "[model]") {
    const TextModelPtr model = open_text_model(test_data("/models/gpt2_tiny"));
    CHECK(model->tokenizer == nullptr);
    CHECK_THAT(model->no_tokenizer, Catch::Contains("gpt2_tiny has no tokenizer.json"));
    CHECK_FALSE(model->masked());
    CHECK(model->name() == "gpt2_tiny");
    CHECK(label_of(*model, 7) == "#7");
    const ModelInputs inputs = prompt_inputs(*model, " 3, 1  4;1 ");
    CHECK(inputs.ids == std::vector<std::int64_t>{3, 1, 4, 1});
    CHECK(inputs.T == 4);
    CHECK(inputs.tokens == std::vector<std::string>{"#3", "#1", "#4", "#1"});
    CHECK_NOTHROW(prompt_inputs(*model, first_prompt(*model)));
    CHECK_THROWS_WITH(prompt_inputs(*model, "3 cat"), Contains("\"cat\" is not a token id"));
    CHECK_THROWS_WITH(prompt_inputs(*model, " "), Contains("no token ids"));
    CHECK_THROWS_WITH(prompt_inputs(*model, "3 200"), Contains("input_ids[0, 1] is 200"));
    CHECK_THROWS_WITH(prompt_inputs(*model, "99999999999999999999"), Contains("is not a token id"));
}

TEST_CASE("a masked model knows the token that hides a word", "[model]") {
    TemporaryFolder folder;
    const TextModelPtr model = open_text_model(with_words(folder, "bert_tiny"));
    REQUIRE(model->tokenizer != nullptr);
    CHECK(model->masked());
    CHECK(model->mask_id == 4);
    const ModelInputs inputs = prompt_inputs(*model, "the cats [MASK].");
    CHECK(inputs.ids == std::vector<std::int64_t>{2, 5, 6, 8, 4, 11, 3});
    CHECK(inputs.tokens == std::vector<std::string>{"[CLS]", "the", "cat", "##s", "[MASK]", ".", "[SEP]"});
    CHECK(first_prompt(*model).find("[MASK]") != std::string::npos);
    CHECK_NOTHROW(prompt_inputs(*model, first_prompt(*model)));
}

TEST_CASE("a vocabulary of another kind leaves a model that takes ids", "[model]") {
    TemporaryFolder folder;
    const std::string made = with_words(folder, "bert_tiny");
    write_file_atomically(made + "/tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
    const TextModelPtr model = open_text_model(made);
    CHECK(model->tokenizer == nullptr);
    CHECK_THAT(model->no_tokenizer, Contains("BertJapaneseTokenizer"));
    CHECK(prompt_inputs(*model, "2 5 6 3").ids == std::vector<std::int64_t>{2, 5, 6, 3});
}

TEST_CASE("a folder that cannot be run is refused", "[model]") {
    TemporaryFolder folder;
    CHECK_THROWS_AS(open_text_model(folder.file("none")), Error);
    const std::filesystem::path made = folder.file("t5");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), made);
    write_file_atomically((made / "config.json").string(), R"({"model_type": "t5"})");
    CHECK_THROWS_WITH(open_text_model(made.string()), Contains("t5"));
}
