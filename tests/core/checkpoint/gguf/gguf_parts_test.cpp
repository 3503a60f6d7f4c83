#include "core/checkpoint/gguf/gguf_parts.h"

#include "core/base/file.h"
#include "core/checkpoint/files/checkpoint_folder.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/gguf/gguf_pre_tokenizers.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"
#include "core/checkpoint/model/text_model.h"
#include "core/text/tokenizer/build.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using Catch::Contains;
using nlohmann::json;
using test::TemporaryFolder;

namespace {

template<class Number>
void append_raw(std::string& bytes, Number number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(Number));
}

void append_string(std::string& bytes, const std::string& text) {
    append_raw(bytes, std::uint64_t{text.size()});
    bytes += text;
}

/// A part of a model with one tensor of one number.
std::string part_bytes(std::uint16_t number, std::uint16_t count, std::int32_t tensors, float value) {
    std::string bytes = "GGUF";
    append_raw(bytes, std::uint32_t{3});
    append_raw(bytes, std::uint64_t{1});
    append_raw(bytes, std::uint64_t{3});
    append_string(bytes, "split.no");
    append_raw(bytes, std::uint32_t{2});
    append_raw(bytes, number);
    append_string(bytes, "split.count");
    append_raw(bytes, std::uint32_t{2});
    append_raw(bytes, count);
    append_string(bytes, "split.tensors.count");
    append_raw(bytes, std::uint32_t{5});
    append_raw(bytes, tensors);
    append_string(bytes, "t" + std::to_string(number));
    append_raw(bytes, std::uint32_t{1});
    append_raw(bytes, std::uint64_t{1});
    append_raw(bytes, std::uint32_t{0});
    append_raw(bytes, std::uint64_t{0});
    bytes.resize((bytes.size() + 31) / 32 * 32, '\0');
    append_raw(bytes, value);
    return bytes;
}

GgufFile opened(const std::string& path) {
    return GgufFile::open_lazily(path, VocabularyLists::checked);
}

} // namespace

TEST_CASE("a GGUF model in several files opens from any part, and a missing part is named") {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return folder.file(name); };
    write_file_atomically(path("m-00001-of-00002.gguf"), part_bytes(0, 2, 2, 1.5F));
    CHECK_THAT(input_error([&] { opened(path("m-00001-of-00002.gguf")); }),
               Contains("part 1 of 2") && Contains("part 2 is missing") && Contains("m-00002-of-00002.gguf"));
    // Another model in equally many parts does not fill the gap.
    write_file_atomically(path("other-00002-of-00002.gguf"), part_bytes(1, 2, 2, 7.0F));
    CHECK_THAT(input_error([&] { opened(path("m-00001-of-00002.gguf")); }), Contains("part 2 is missing"));
    write_file_atomically(path("m-00002-of-00002.gguf"), part_bytes(1, 2, 2, 2.5F));
    for (const char* name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
        const GgufFile whole = opened(path(name));
        REQUIRE(whole.entries().size() == 2);
        CHECK((whole.tensor("t0")->at(0) == 1.5F && whole.tensor("t1")->at(0) == 2.5F));
        CHECK(whole.source() == path("m-00001-of-00002.gguf"));
        CHECK(whole.size_bytes() == read_file(path("m-00001-of-00002.gguf")).size() +
                                        read_file(path("m-00002-of-00002.gguf")).size());
    }
    CHECK(gguf_models_in(folder.file("")) ==
          std::vector<std::string>{path("m-00001-of-00002.gguf"), path("other-00002-of-00002.gguf")});
}

TEST_CASE("counts in a GGUF file are believed over its name, and contradictions are refused") {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return folder.file(name); };
    write_file_atomically(path("m-00001-of-00009.gguf"), part_bytes(0, 2, 2, 1.5F));
    write_file_atomically(path("m-00005-of-00009.gguf"), part_bytes(1, 2, 2, 2.5F));
    CHECK(opened(path("m-00005-of-00009.gguf")).tensor("t0")->at(0) == 1.5F);
    write_file_atomically(path("m-00006-of-00009.gguf"), part_bytes(1, 2, 2, 3.5F));
    CHECK_THAT(input_error([&] { opened(path("m-00001-of-00009.gguf")); }), Contains("both part 2 of 2"));
    std::filesystem::remove(path("m-00006-of-00009.gguf"));
    write_file_atomically(path("m-00001-of-00009.gguf"), part_bytes(0, 2, 3, 1.5F));
    write_file_atomically(path("m-00005-of-00009.gguf"), part_bytes(1, 2, 3, 2.5F));
    CHECK_THAT(input_error([&] { opened(path("m-00001-of-00009.gguf")); }),
               Contains("have 2 tensors") && Contains("says 3"));
    write_file_atomically(path("x.gguf"), part_bytes(4, 2, 3, 1.5F));
    CHECK_THAT(input_error([&] { opened(path("x.gguf")); }), Contains("split.no is 4"));
}

TEST_CASE("a folder of GGUF files offers its language models, listed the same everywhere") {
    const TemporaryFolder folder;
    const std::string model = read_file(test_data("/corpus/gguf/good_scored.gguf"));
    for (const char* name : {"b.gguf", "a.gguf", "mmproj-a.gguf"})
        write_file_atomically(folder.file(name), model);
    const std::vector<std::string> wanted{folder.file("a.gguf"), folder.file("b.gguf")};
    CHECK(gguf_models_in(folder.file("")) == wanted);
    CHECK(checkpoints_of_folder(folder.file("")) == wanted);
    const std::vector<LocalModel> listed = local_models(folder.file(""));
    REQUIRE(listed.size() == 2);
    CHECK((listed[0].name == "a.gguf" && listed[1].name == "b.gguf"));
}

TEST_CASE("an unknown pre-tokenizer leaves the names of tokens, and the reason is kept") {
    std::string bytes = read_file(test_data("/corpus/gguf/good_merged.gguf"));
    bytes.replace(bytes.find("qwen2"), 5, "qwen9");
    const TemporaryFolder folder;
    write_file_atomically(folder.file("x.gguf"), bytes);
    const TextModelPtr model = open_text_model(folder.file("x.gguf"));
    CHECK(model->tokenizer == nullptr);
    CHECK_THAT(model->no_tokenizer, Contains("tokenizer.ggml.pre is \"qwen9\""));
    REQUIRE(model->vocabulary != nullptr);
    CHECK(label_of(*model, 2) == "ab");
    CHECK(text_of(*model, {2, 4}, " ") == "ab a");
    CHECK(prompt_inputs(*model, "2 4").ids == std::vector<std::int64_t>{2, 4});
}

TEST_CASE("pre-tokenizers of GGUF files split as the families' own tokenizers") {
    // Each character is a token, so the offsets show nothing: merges across a border do not happen.
    const auto tokens = [](const char* pre, const std::string& text) {
        json vocab = json::array();
        for (const char* piece :
             {"1", "2", "a", "b", ".", "\u0120", "12", "1212", "121", "ab", "..", "\u0120a", "b."})
            vocab.push_back(piece);
        const json keys{{"tokenizer.ggml.model", "gpt2"},
                        {"tokenizer.ggml.pre", pre},
                        {"tokenizer.ggml.tokens", vocab},
                        {"tokenizer.ggml.merges", {"1 2", "12 1", "12 12", "a b", "b .", ". .", "\u0120 a"}}};
        const ConfigReader reader(keys, "x");
        const auto tokenizer = text::build_tokenizer(gguf_tokenizer_description(reader), "x");
        std::vector<std::string> pieces;
        for (const text::TokenId id : tokenizer->encode(text).ids)
            pieces.push_back(vocab.at(static_cast<std::size_t>(id)));
        return pieces;
    };
    using Pieces = std::vector<std::string>;
    CHECK(tokens("gpt-2", "1212 ab..") == Pieces{"1212", "\u0120", "ab", ".."});
    CHECK(tokens("starcoder", "1212") == Pieces{"1", "2", "1", "2"});
    CHECK(tokens("falcon", "1212") == Pieces{"121", "2"});
    CHECK(tokens("deepseek-coder", "1212 ab..") == Pieces{"1", "2", "1", "2", "\u0120", "ab", ".."});
    CHECK(tokens("deepseek-llm", "1212ab..") == Pieces{"1", "2", "1", "2", "ab", ".."});
    CHECK(tokens("deepseek-v3", "1212") == Pieces{"121", "2"});
    CHECK_THAT(input_error([&] { tokens("something-new", "1"); }),
               Contains("deepseek-llm") && Contains("falcon") && Contains("viking"));
}

// The numbers are those of ggml's dequantize_row functions for the same bytes.
TEST_CASE("GGUF types whose groups are rows of a table") {
    struct Known {
        const char* name;
        std::uint32_t id;
        float first, last;
        double sum, squares;
    };
    for (const Known& known :
         {Known{"IQ2_XXS", 16, -0.7802734375F, 0.7802734375F, 10885.399658203125, 7195.769590452313},
          Known{"IQ2_XS", 17, 0.005333900451660156F, 0.007143616676330566F, 75.68214201927185,
                0.1551229256771478},
          Known{"IQ2_S", 22, -0.002571702003479004F, 0.0006667375564575195F, 27.507531836628914,
                0.004008927128257289},
          Known{"IQ3_XXS", 18, -4.443572998046875F, -0.28668212890625F, 6750.790771484375, 507.6006415244192},
          Known{"IQ3_S", 21, -0.0975341796875F, 0.6827392578125F, 21083.37841796875, 17575.15074467659},
          Known{"IQ1_S", 19, -1.6167759895324707e-05F, 2.9101967811584473e-05F, 0.033991098403930664,
                4.0669448253538576e-08},
          Known{"IQ1_M", 29, -0.0002371072769165039F, 1.823902130126953e-05F, -0.15521812438964844,
                4.546872105493094e-06},
          Known{"TQ1_0", 34, -9.328126907348633e-05F, 9.328126907348633e-05F, -0.8297368884086609,
                1.6532650803924298e-06},
          Known{"TQ2_0", 35, 0.000995635986328125F, -0.0004978179931640625F, 0.8776531219482422,
                9.219006460625678e-05},
          Known{"NVFP4", 40, -0.0F, 0.0F, 459.875, 45.626708984375},
          Known{"Q1_0", 41, -1.75F, -1.75F, -1620.5, 392.0},
          Known{"Q2_0", 42, 0.0029296875F, -0.00146484375F, 0.83203125, 0.00021886825561523438}}) {
        INFO(known.name);
        const GgufType* const type = find_gguf_type(known.id);
        REQUIRE(type != nullptr);
        CHECK(type->name == known.name);
        std::string bytes(type->bytes, '\0');
        std::uint32_t state = known.id;
        for (char& byte : bytes) {
            state = state * 1664525U + 1013904223U;
            byte = static_cast<char>(state >> 24U & 0x3FU); // halves stay small
        }
        std::vector<float> numbers(type->numbers);
        type->decode(bytes, numbers);
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            sum += static_cast<double>(numbers[i]) * static_cast<double>(i + 1);
            squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
        }
        CHECK((numbers.front() == known.first && numbers.back() == known.last));
        CHECK(std::abs(sum - known.sum) <= 1e-9 * std::abs(known.sum));
        CHECK(std::abs(squares - known.squares) <= 1e-9 * known.squares);
    }
}
