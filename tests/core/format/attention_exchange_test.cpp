#include "core/base/file.h"
#include "core/base/json.h"
#include "core/format/arrays/circuitsvis_arrays.h"
#include "core/format/attention_file.h"
#include "core/format/npz.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

// Attention weights of other tools: .npz, JSON for CircuitsVis, and files with several texts or attentions.

using namespace headscope;
using namespace headscope::format;
using Catch::Contains;

namespace {

std::string exchanged(const std::string& name) {
    return test_data("/attention/" + name);
}

AttentionChoice choice_in(const nlohmann::json& held) {
    AttentionChoice choice{held.value("part", ""), {}};
    if (held.contains("text"))
        choice.text = held.at("text").get<std::int64_t>();
    return choice;
}

std::string fault_of_choice(const std::string& name, const AttentionChoice& choice = {}) {
    return input_error([&] { open_attention_file(exchanged(name), choice); });
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("files of other tools hold what NumPy wrote, text by text and part by part", "[exchange]") {
    const nlohmann::json expected =
        parse_json(read_file(exchanged("expected_exchange.json")), "expected_exchange.json");
    REQUIRE(expected.size() >= 12);
    for (const auto& [name, choices] : expected.items())
        for (const nlohmann::json& held : choices) {
            INFO(name << " " << held.value("part", "") << " " << held.value("text", -1));
            const AttentionSetPtr set = open_attention_file(exchanged(name), choice_in(held));
            const AttentionInfo& info = set->info();
            REQUIRE(nlohmann::json({info.L, info.H, info.Tq, info.Tk}) == held.at("shape"));
            std::size_t n = 0;
            for (std::int64_t l = 0; l < info.L; ++l)
                for (const float number : set->layer(l)->values())
                    CHECK(number == held.at("numbers")[n++].get<float>());
            CHECK(info.choice == (info.options ? choice_in(held) : AttentionChoice{}));
        }
}

TEST_CASE("npz files say what their layers and tokens are", "[exchange]") {
    const AttentionSetPtr stored = open_attention_file(exchanged("stored.npz"));
    CHECK(stored->info().tensor == "attentions");
    CHECK(stored->info().held_as == "float16");
    CHECK(stored->info().options == nullptr);
    CHECK(stored->query_tokens(1) == Names{"The", "cat", "sat", "à"});
    CHECK(stored->query_pieces(1).back() == "ĠÃł");
    CHECK_THAT(stored->info().tokens_from, Contains("the array tokens"));

    const AttentionSetPtr deflated = open_attention_file(exchanged("deflated.npz"));
    CHECK(deflated->info().numbers == std::vector<std::int64_t>{3, 10});
    CHECK(deflated->info().tensor == "layer{l}");
    CHECK(deflated->query_tokens(0) == Names{"a", "bb", "c", "d"});

    CHECK(open_attention_file(exchanged("arr.npz"))->info().tensor == "arr_{l}");
    CHECK(std::isnan(open_attention_file(exchanged("nan.npz"))->layer(0)->at(0, 1, 3, 2)));
    CHECK(is_npz_file(exchanged("wide.npz")));
    CHECK_FALSE(is_npz_file(exchanged("batch.npy")));
}

TEST_CASE("JSON for CircuitsVis opens as attention", "[exchange]") {
    const AttentionSetPtr one = open_attention_file(exchanged("one.circuitsvis.json"));
    CHECK(one->query_tokens(0) == Names{"The", "cat", "sat", "."});
    CHECK(one->info().L == 1);
    // The names of the heads say that they are of layers 0 and 5.
    CHECK(open_attention_file(exchanged("layers.circuitsvis.json"))->info().numbers ==
          std::vector<std::int64_t>{0, 5});
    CHECK(open_attention_file(exchanged("list.circuitsvis.json"))->query_tokens(1) ==
          Names{"a", "b", "c", "d"});
    CHECK(is_circuitsvis_file(exchanged("one.circuitsvis.json")));
    CHECK_FALSE(is_circuitsvis_file(exchanged("bad_other.circuitsvis.json")));

    const test::TemporaryFolder folder;
    const auto named = [&](const std::string& names) {
        const std::string path = folder.file("named.json");
        write_file_atomically(path, R"({"tokens": ["a"], "attention": [[[1]], [[1]], [[1]], [[1]]],
                                        "attentionHeadNames": )" +
                                        names + "}");
        return open_attention_file(path);
    };
    CHECK(named(R"(["1.0", "1.1", "2.0", "2.1"])")->info().numbers == std::vector<std::int64_t>{1, 2});
    // Some heads of some layers are one list, which is called by its names.
    const AttentionSetPtr some = named(R"(["L0H1", "L0H2", "L3H0", "induction"])");
    CHECK(some->info().H == 4);
    CHECK(some->info().tensor == "attention: L0H1, L0H2, L3H0, induction");
    CHECK(named(R"(["L0H0", "L0H1", "L0H2", "L1H0"])")->info().L == 1);
    // A member that is not read may have any form.
    CHECK(
        named(R"(["a", "b", "c", "d"], "other": )" + std::string(70, '[') + std::string(70, ']'))->info().H ==
        4);
    CHECK(named(R"(["L2 H0", "L2 H1", "L2 H2", "L2 H3"])")->info().numbers == std::vector<std::int64_t>{2});
}

TEST_CASE("the numbers and names of JSON for CircuitsVis may be large and many", "[exchange]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.json");
    const auto opened = [&](const std::string& content) {
        write_file_atomically(path, content);
        return open_attention_file(path);
    };
    const TensorPtr weights =
        opened(R"({"tokens": ["a", "b"], "attention": [[[1e300, -1e39], [1e-300, 3e38]]]})")->layer(0);
    CHECK(std::isinf(weights->at(0, 0, 0, 0)));
    CHECK(weights->at(0, 0, 0, 1) == -std::numeric_limits<float>::infinity());
    CHECK(weights->at(0, 0, 1, 0) == 0.0F);
    CHECK(weights->at(0, 0, 1, 1) == 3e38F);

    nlohmann::json heads = nlohmann::json::array(), names = nlohmann::json::array();
    for (int h = 0; h < 10; ++h) {
        heads.push_back(nlohmann::json::array({nlohmann::json::array({1})}));
        names.push_back("head " + std::string(1, static_cast<char>('a' + h)));
    }
    CHECK(
        opened(nlohmann::json{{"attention", heads}, {"attention_head_names", names}}.dump())->info().tensor ==
        "attention: head a, head b, head c, head d, head e, head f, head g, head h, and 2 more");

    const auto fault = [&](const std::string& content) { return input_error([&] { opened(content); }); };
    const auto repeated = [](const std::string& part, std::size_t count) {
        std::string all;
        for (std::size_t n = 0; n < count; ++n)
            all += (n == 0 ? "" : ",") + part;
        return "[" + all + "]";
    };
    CHECK_THAT(fault(repeated("{}", (1 << 16) + 1)), Contains("has more than 65536 objects"));
    CHECK_THAT(
        fault(R"({"attention": [[[1]]], "attentionHeadNames": )" + repeated(R"("")", (1 << 16) + 1) + "}"),
        Contains("has more than 65536 names"));
    CHECK_THAT(fault(R"({"attention": [[[1]]], "tokens": )" + repeated(R"("")", (1 << 20) + 1) + "}"),
               Contains("has more than 1048576 tokens"));
    CHECK_THAT(fault(R"([{"attention": [[[1]]], "tokens": ["a"]}, {"attention": [[[1]]], "tokens": ["b"]}])"),
               Contains("its objects have different tokens"));
    for (const auto& [name, content] :
         {std::pair("attention", R"({"attention": [[[1]]], "attention": [[[1]]]})"),
          std::pair("tokens", R"({"attention": [[[1]]], "tokens": [], "tokens": ["a"]})"),
          std::pair("attention_head_names",
                    R"({"attention": [[[1]]], "attention_head_names": ["a"], "attentionHeadNames": []})")})
        CHECK_THAT(fault(content), Contains("has \"" + std::string(name) + "\" twice in one object"));
}

TEST_CASE("cross-attention with the encoder's tokens alone numbers its queries", "[exchange]") {
    SafetensorsWriter writer;
    writer.add("encoder_attentions", std::make_shared<const Tensor>(Shape{1, 1, 2, 2}, 0.5F));
    writer.add("cross_attentions", std::make_shared<const Tensor>(Shape{1, 1, 3, 2}, 0.5F));
    writer.set_metadata("encoder_tokens", R"(["▁le", "▁chat"])");
    const test::TemporaryFolder folder;
    write_file_atomically(folder.file("a.safetensors"), writer.bytes());
    const AttentionSetPtr cross = open_attention_file(folder.file("a.safetensors"), {"cross", {}});
    CHECK(cross->query_tokens(0) == Names{"0", "1", "2"});
    CHECK(cross->key_tokens(0) == Names{"le", "chat"});
    CHECK(cross->key_pieces(0) == Names{"▁le", "▁chat"});
    CHECK_THAT(cross->info().tokens_from, Contains("encoder_tokens"));
}

TEST_CASE("a file with several texts leaves a choice", "[exchange]") {
    const AttentionOptionsPtr options = attention_options(exchanged("batch.npz"));
    REQUIRE(options->has_choice());
    REQUIRE(options->parts.size() == 1);
    CHECK(options->parts.front().texts == 3);
    CHECK(options->parts.front().text_names == Names{"one two three four", "uno due tre [PAD]", "a b c d"});
    const AttentionSetPtr second = options->open({.text = 1});
    CHECK(second->query_tokens(0) == Names{"uno", "due", "tre", "[PAD]"});
    CHECK(second->padding(1) == std::vector<bool>{false, false, false, true});
    CHECK(second->info().axis == SetAxis::layers);
    CHECK(second->info().options == options);
    CHECK(options->open({.text = 2})->padding(0) == std::vector<bool>(4, false));
    CHECK(attention_options(exchanged("batch.npy"))->parts.front().text_names.empty());
    CHECK_FALSE(attention_options(exchanged("stored.npz"))->has_choice());

    CHECK_THAT(fault_of_choice("batch.npz"), Contains("holds 3 texts, shape (2, 3, 2, 4, 4)") &&
                                                 Contains("choose one with --batch 0 to 2"));
    CHECK_THAT(fault_of_choice("batch.npz", {.text = 3}), Contains("has no text 3") && Contains("0 to 2"));
    CHECK_THAT(fault_of_choice("stored.npz", {.text = 1}), Contains("leave --batch out"));
    CHECK_THAT(fault_of_choice("batch.npz", {"cross", 0}), Contains("leave --stack out"));
}

TEST_CASE("a file with the attentions of an encoder-decoder leaves a choice", "[exchange]") {
    const AttentionOptionsPtr options = attention_options(exchanged("triple.npz"));
    REQUIRE(options->parts.size() == 3);
    CHECK(options->parts[2].id == "cross");
    CHECK(options->parts[0].text_names == Names{"le chat dort", "il fait beau"});
    const AttentionSetPtr cross = options->open({"cross", 1});
    CHECK(cross->info().cross);
    CHECK(cross->query_tokens(0) == Names{"e", "f", "g", "h"});
    CHECK(cross->key_tokens(0) == Names{"il", "fait", "beau"});
    CHECK(options->open({"decoder", 0})->query_tokens(2) == Names{"a", "b", "c", "d"});
    CHECK(options->open({"encoder", 0})->info().tensor == "encoder_attentions");

    const std::string missing = fault_of_choice("triple.npz");
    CHECK_THAT(missing, Contains("the encoder's attention, the decoder's self-attention, cross-attention") &&
                            Contains("choose one with --stack encoder, decoder or cross"));
    CHECK_THAT(fault_of_choice("triple.npz", {"cross", {}}), Contains("holds 2 texts"));
}

TEST_CASE("files of other tools that cannot be read are refused with one sentence", "[exchange]") {
    const std::pair<const char*, const char*> faults[] = {
        {"bad_checksum.npz", "the array attentions is damaged: its bytes do not match the checksum"},
        {"bad_cut.npz", "was cut short"},
        {"bad_deflate.npz", "the array layer3 is damaged"},
        {"bad_encrypted.npz", "is encrypted"},
        {"bad_method.npz", "is compressed by method 12 of ZIP"},
        {"bad_objects.npz", "save the tokens as numpy.array(tokens, dtype=str)"},
        {"bad_none.npz", "ids (2, 3) <i8"},
        {"bad_fortran.npz", "the array attn is stored in Fortran order"},
        {"bad_nan.circuitsvis.json", "NaN and Infinity are not JSON"},
        {"bad_ragged.circuitsvis.json", "the lengths 2 and 1 at the same depth"},
        {"bad_text.circuitsvis.json", "should hold only numbers, and holds \"1\""},
        {"bad_flat.circuitsvis.json", "[head][destination][source]"},
        {"bad_names.circuitsvis.json", "has 2 names in \"attention_head_names\" for 1 heads"},
        {"bad_tokens.circuitsvis.json", "has 2 tokens for 1 queries"},
        {"bad_other.circuitsvis.json", "without a list \"attention\""},
    };
    for (const auto& [name, part] : faults) {
        INFO(name);
        const std::string fault = fault_of_choice(name);
        INFO(fault);
        CHECK(fault.find(part) != std::string::npos);
        CHECK(fault.find('\n') == std::string::npos);
    }
}

TEST_CASE("only the chosen array of a npz file is checked and read", "[exchange]") {
    // Damages an array of another part.
    std::string bytes = read_file(exchanged("triple.npz"));
    const std::size_t header = bytes.find("encoder_attentions.npy");
    const std::size_t at = bytes.find('\n', header) + 20;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    const test::TemporaryFolder folder;
    write_file_atomically(folder.file("damaged.npz"), bytes);
    const AttentionOptionsPtr options = attention_options(folder.file("damaged.npz"));
    CHECK_NOTHROW(options->open({"cross", 0})->layer(0));
    CHECK_THAT(input_error([&] {
                   options->open({"encoder", 0});
               }),
               Contains("encoder_attentions is damaged"));
}
