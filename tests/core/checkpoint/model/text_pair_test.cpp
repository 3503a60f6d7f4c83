#include "core/checkpoint/model/text_pair.h"

#include "core/base/error.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/pair_folder.h"

namespace headscope::test {

using Catch::Contains;

namespace {

using Ids = std::vector<std::int64_t>;

/// A golden model with a vocabulary of words, and a tokenizer_config.json if `config` is not empty.
std::string folder_of_words(const TemporaryFolder& folder, const std::string& model,
                            const std::string& config = "") {
    const std::filesystem::path made = folder.file(model);
    std::filesystem::copy(test_data("/models/") + model, made);
    write_file_atomically((made / "vocab.txt").string(),
                          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\non\nmat\n.\n");
    if (!config.empty())
        write_file_atomically((made / "tokenizer_config.json").string(), config);
    return made.string();
}

std::optional<TextPair> typed_in(const TextModel& model, const std::string& text) {
    return typed_pair(*model.tokenizer, model.pairs, text);
}

} // namespace

TEST_CASE("two texts give the logits of Hugging Face's code, one text with a separator does not", "[pair]") {
    const TemporaryFolder folder;
    const TextModelPtr model = open_text_model(make_pair_folder(folder));
    const ModelInputs two = prompt_inputs(*model, first_of_pair, {}, second_of_pair),
                      one = prompt_inputs(*model, pair_as_one);
    CHECK(two.ids == Ids{141, 168, 70, 139, 55, 168, 39, 27, 132, 76, 38});
    CHECK(two.token_types == Ids{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    CHECK(two.tokens.at(4) == "w55");
    CHECK(off_golden_pair(*run_on_cpu(*model->model, two, {}).logits) < 1e-4);
    CHECK(one.ids == two.ids);
    CHECK(one.token_types.empty());
    CHECK(off_golden_pair(*run_on_cpu(*model->model, one, {}).logits) > 0.1);
}

TEST_CASE("a separator inside one text separates two, whatever it is called", "[pair]") {
    const TemporaryFolder folder;
    const TextModelPtr golden = open_text_model(make_pair_folder(folder)),
                       bert = open_text_model(folder_of_words(folder, "bert_tiny"));
    CHECK(typed_in(*golden, pair_as_one) == TextPair{first_of_pair, second_of_pair});
    CHECK(typed_in(*bert, "the cat [SEP] sat on") == TextPair{"the cat", "sat on"});
    CHECK(typed_in(*bert, "the cat[SEP]sat") == TextPair{"the cat", "sat"});
    CHECK(typed_in(*bert, "[CLS] the cat [SEP] sat [SEP]") == TextPair{"the cat", "sat"});
    CHECK(typed_in(*bert, "the [SEP] cat [SEP] sat") == TextPair{"the", "cat [SEP] sat"});
    // Characters of several bytes before the separator.
    CHECK(typed_in(*bert, "häßlich 🦊 [SEP] mat") == TextPair{"häßlich 🦊", "mat"});
    for (const char* one :
         {"the cat", "the cat [SEP]", "[SEP] the cat", "[SEP]", "[SEP] [SEP]", "the [sep] cat", ""}) {
        INFO(one);
        CHECK_FALSE(typed_in(*bert, one));
    }
    // Both texts give the tokens of the one.
    const TextPair pair = *typed_in(*bert, "[CLS] the cat [SEP] sat [SEP]");
    const ModelInputs two = prompt_inputs(*bert, pair.first, {}, pair.second);
    CHECK(two.ids == prompt_inputs(*bert, "the cat [SEP] sat").ids);
    CHECK(two.token_types == Ids{0, 0, 0, 0, 1, 1});
}

TEST_CASE("types are given to models that read them, and two texts only where there is a form for them",
          "[pair]") {
    const TemporaryFolder folder;
    const std::string second = "sat on";
    // DistilBERT joins two texts as BERT does, without types.
    const TextModelPtr distil = open_text_model(
        folder_of_words(folder, "distilbert_tiny", R"({"tokenizer_class": "DistilBertTokenizer"})"));
    CHECK(distil->pairs.known);
    CHECK_FALSE(distil->pairs.types);
    const ModelInputs two = prompt_inputs(*distil, "the cat", {}, second);
    CHECK(two.ids == Ids{2, 5, 6, 3, 7, 9, 3});
    CHECK(two.token_types.empty());
    CHECK_FALSE(typed_in(*distil, "the cat [SEP] sat"));
    // A folder that keeps types from the model.
    const TextModelPtr without = open_text_model(
        folder_of_words(folder, "bert_tiny", R"({"model_input_names": ["input_ids", "attention_mask"]})"));
    CHECK(prompt_inputs(*without, "the cat", {}, second).token_types.empty());

    const TextModelPtr ids = open_text_model(test_data("/models/gpt2_tiny"));
    CHECK_THROWS_WITH(prompt_inputs(*ids, "3 1", {}, "4"), Contains("no tokenizer"));
    CHECK_NOTHROW(prompt_inputs(*ids, "3 1", {}, ""));
    const std::filesystem::path gpt2 = folder.file("gpt2");
    std::filesystem::copy(test_data("/models/gpt2_tiny"), gpt2);
    write_file_atomically((gpt2 / "tokenizer.json").string(),
                          read_file(test_data("/tokenizers/gpt2_like/tokenizer.json")));
    const TextModelPtr alone = open_text_model(gpt2.string());
    CHECK_FALSE(alone->pairs.known);
    CHECK_THROWS_WITH(prompt_inputs(*alone, "a", {}, "b"), Contains("no form for two texts"));
}

TEST_CASE("ids may stand between line ends of any kind", "[pair]") {
    const TextModelPtr model = open_text_model(test_data("/models/gpt2_tiny"));
    CHECK(prompt_inputs(*model, "3\r\n1\n4\t1\r5").ids == Ids{3, 1, 4, 1, 5});
}

} // namespace headscope::test
