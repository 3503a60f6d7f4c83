#include "core/base/file.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/gguf/gguf_architecture.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using Catch::Contains;
using test::TemporaryFolder;

namespace {

std::string example(const char* name) {
    return test_data("/corpus/gguf/") + name;
}

/// Returns an example in which the bytes `from`, which occur once, are replaced with the same number of other
/// bytes.
std::string changed(const char* name, const std::string& from, const std::string& to) {
    std::string bytes = read_file(example(name));
    REQUIRE(from.size() == to.size());
    const auto at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    return bytes.replace(at, from.size(), to);
}

std::string architecture_fault(const std::string& bytes) {
    const GgufFile file = GgufFile::from_bytes(bytes, "x.gguf");
    return input_error([&] { static_cast<void>(read_gguf_architecture(file)); });
}

std::string tokenizer_fault(const std::string& bytes) {
    const GgufFile file = GgufFile::from_bytes(bytes, "x.gguf");
    return input_error([&] { static_cast<void>(gguf_tokenizer_description(file.metadata())); });
}

} // namespace

TEST_CASE("a GGUF file is opened as a model, with its tokenizer and the tokens that end a text") {
    const TextModelPtr opened = open_text_model(example("good_scored.gguf"));
    const Architecture& a = opened->model->architecture();
    CHECK((a.family == "llama" && a.layers == 1 && a.H == 2 && a.Hkv == 1 && a.vocab == 12 && a.tied));
    CHECK(a.norm_eps == 1e-5);
    CHECK(opened->name() == "good_scored.gguf");
    CHECK(opened->end_ids == std::vector<std::int64_t>{2});
    REQUIRE(opened->tokenizer != nullptr);
    // "\u2581a" and "b" merge before "a" and "b" would: its score is the higher one.
    CHECK(prompt_inputs(*opened, "ab").ids == std::vector<std::int64_t>{1, 9});
    CHECK(prompt_inputs(*opened, "A").ids == std::vector<std::int64_t>{1, 4, 3});
    CHECK(opened->model->weight(TensorId::W_E)->shape() == Shape{12, 8});
    CHECK(opened->model->layer(0)[TensorId::W_K]->shape() == Shape{8, 4});
}

TEST_CASE("what a GGUF file says and the program does not know is refused by its name") {
    CHECK(architecture_fault(read_file(example("good_scored.gguf"))).empty());
    CHECK_THAT(
        architecture_fault(changed("good_scored.gguf", "general.architecture", "general.architectura")),
        Contains("general.architecture is missing") && Contains("llama, qwen2"));
    CHECK_THAT(
        architecture_fault(changed("good_scored.gguf", "llama.context_length", "llama.context_lengte")),
        Contains("llama.context_length is missing"));
    CHECK_THAT(
        architecture_fault(changed("good_scored.gguf", "llama.rope.freq_base", "llama.rope.freq_bass")),
        Contains("llama.rope.freq_bass is 10000") && Contains("does not know"));
    CHECK_THAT(architecture_fault(changed("good_scored.gguf", "token_embd.weight", "token_embd.weighs")),
               Contains("token_embd.weight is missing"));
    const TemporaryFolder folder;
    write_file_atomically(folder.file("x.gguf"),
                          changed("good_scored.gguf", "blk.0.attn_norm.weight", "blk.0.attn_norm.weighs"));
    CHECK_THAT(Model::open(folder.file("x.gguf")).problem(), Contains("blk.0.attn_norm.weight is missing"));
    write_file_atomically(folder.file("y.gguf"), read_file(example("good_keys.gguf")));
    CHECK_THAT(Model::open(folder.file("y.gguf")).problem(), Contains("more are missing"));

    CHECK_THAT(tokenizer_fault(changed("good_merged.gguf", "qwen2", "qwen9")),
               Contains("tokenizer.ggml.pre is \"qwen9\"") && Contains("llama-bpe"));
    CHECK_THAT(tokenizer_fault(read_file(example("good_types.gguf"))),
               Contains("tokenizer.ggml.model is missing"));
    CHECK_THAT(tokenizer_fault(changed("good_scored.gguf", "tokenizer.ggml.scores", "tokenizer.ggml.scorez")),
               Contains("tokenizer.ggml.scores is missing"));
}

TEST_CASE("a patch is bound to the GGUF file that it was made for") {
    const TemporaryFolder folder;
    const Model model = Model::open(example("good_scored.gguf"));
    ModelEdits edits;
    edits[0].gains = {1.0F, 0.5F};
    const std::string path = folder.file("x.patch.safetensors");
    save_patch(model, edits, path);
    CHECK(load_patch(model, path).at(0).gains == edits.at(0).gains);
    CHECK_THAT(input_error([&] { load_patch(Model::open(example("good_merged.gguf")), path); }),
               Contains("good_scored.gguf") && Contains("the header"));
}

TEST_CASE("GGUF files of a folder are listed with their sizes, or with what keeps them from running") {
    const std::vector<LocalModel> found = local_models(test_data("/corpus/gguf"));
    REQUIRE(found.size() == 5);
    CHECK((found[0].name == "good_keys.gguf" && found[0].family == "gemma3_text"));
    CHECK_THAT(found[0].problem, Contains("missing"));
    CHECK((found[2].name == "good_scored.gguf" && found[2].family == "llama" && found[2].problem.empty()));
    CHECK((found[2].layers == 1 && found[2].H == 2 &&
           found[2].parameters == 12 * 8 + 3 * 8 + 3 * 64 + 2 * 32 + 2 * 64));
    CHECK(found[2].tokenizer == "llama in the file");
    CHECK((found[3].name == "good_types.gguf" && found[3].family.empty()));
    CHECK_THAT(found[3].problem, Contains("general.architecture"));
    CHECK(local_models(example("good_words.gguf")).size() == 1);
}
