#include "core/base/file.h"
#include "core/text/tokenizer/build.h"
#include "core/text/tokenizer/sentencepiece/model_file.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::text;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

using IdList = std::vector<TokenId>;

const std::string spm_folder = test_data("/tokenizers/sentencepiece/");

std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7U)
        out += static_cast<char>((value & 0x7FU) | 0x80U);
    return out + static_cast<char>(value);
}

std::string integer(std::uint64_t field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}

std::string data(std::uint64_t field, const std::string& bytes) {
    return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string number(std::uint64_t field, float value) {
    std::string out = varint(field << 3U | 5U);
    for (unsigned shift = 0; shift < 32; shift += 8)
        out += static_cast<char>(std::bit_cast<std::uint32_t>(value) >> shift & 0xFFU);
    return out;
}

std::string piece(const std::string& text, float score, std::uint64_t type = 1) {
    return data(1, data(1, text) + number(2, score) + integer(3, type));
}

const std::string unknown_piece = piece("<unk>", 0, 2);

std::string message(const std::string& bytes) {
    return input_error([&] { parse_sentencepiece(bytes, "a.model"); });
}

/// The message for a model file that a tokenizer is made of.
std::string loading_message(const std::string& bytes) {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("a.model"), bytes);
    return input_error([&] { load_tokenizer(folder.file("a.model")); });
}

/// A folder with files.
class Folder {
public:
    void copy(const std::string& model, const std::string& file) const {
        std::filesystem::copy(spm_folder + model + ".model", folder_.file(file));
    }
    void write(const std::string& file, const json& content) const {
        write_file_atomically(folder_.file(file), content.dump());
    }
    std::unique_ptr<Tokenizer> open() const { return load_tokenizer(folder_.file("")); }
    std::string fault() const {
        return input_error([&] { open(); });
    }
    std::string problem() const { return unsupported_tokenizer_reason(folder_.file("")); }

private:
    TemporaryFolder folder_;
};

} // namespace

TEST_CASE("fields that decide the tokens are read, others are skipped", "[tokenizer][sentencepiece]") {
    const std::string trainer = data(1, "input") + integer(3, 2) + integer(24, 1) + integer(35, 1) +
                                integer(40, 1) + data(45, "?") + number(10, 0.5F) + integer(43, ~0ULL);
    const std::string normalizer = data(2, "map") + integer(3, 0) + integer(4, 0) + integer(5, 0);
    const SentencePieceModel model =
        parse_sentencepiece(piece("a", -1.5F) + data(2, trainer) + piece("?", 0, 2) + data(3, normalizer) +
                                data(5, "x") + varint(99U << 3U | 1U) + "12345678",
                            "a.model");
    REQUIRE(model.pieces.size() == 2);
    CHECK(model.pieces[0].text == "a");
    CHECK(model.pieces[0].score == -1.5F);
    CHECK(model.pieces[1].type == PieceType::unknown);
    CHECK(model.kind == SentencePieceModel::Kind::bpe);
    CHECK(model.blank_as_suffix);
    CHECK(model.byte_fallback);
    CHECK(model.unknown == 1);
    CHECK(model.unknown_piece == "?");
    CHECK(model.charsmap == "map");
    CHECK_FALSE(model.adds_blank);
    CHECK_FALSE(model.removes_extra_blanks);
    CHECK_FALSE(model.marks_blanks);

    const SentencePieceModel bare = parse_sentencepiece(data(1, data(1, "a")), "a.model");
    CHECK(bare.kind == SentencePieceModel::Kind::unigram);
    CHECK(bare.pieces[0].type == PieceType::normal);
    CHECK((bare.adds_blank && bare.removes_extra_blanks && bare.marks_blanks));
    CHECK_FALSE(bare.byte_fallback);
}

TEST_CASE("damaged SentencePiece models are refused with the place", "[tokenizer][sentencepiece]") {
    const std::string good = unknown_piece + piece("a", -1);
    CHECK(message(good).empty());
    const std::string huge = varint(1U << 3U | 2U) + varint(std::uint64_t{1} << 63U);
    CHECK_THAT(message(good + huge),
               Contains("a.model") && Contains("9223372036854775808 bytes, and only 0 follow"));
    CHECK_THAT(message(good + data(1, "a").substr(0, 2)), Contains("1 bytes, and only 0 follow"));
    CHECK_THAT(message(good + varint(1U << 3U)), Contains("ends inside a field"));
    CHECK_THAT(message(good + std::string(11, '\xff')), Contains("more than 64 bits"));
    CHECK_THAT(message(good + integer(1, 5)), Contains("wire type 0, not 2"));
    CHECK_THAT(message(good + data(1, integer(1, 5))), Contains("wire type 0, not 2"));
    CHECK_THAT(message(good + data(1, data(1, "b") + integer(2, 1))), Contains("wire type 0, not 5"));
    CHECK_THAT(message(good + data(2, data(3, "x"))), Contains("wire type 2, not 0"));
    for (const unsigned wire : {3U, 4U, 6U, 7U})
        CHECK_THAT(message(good + varint(1U << 3U | wire)),
                   Contains("unknown wire type " + std::to_string(wire)));
    CHECK_THAT(message("{\"model\": {}}"), Contains("is not a SentencePiece model"));
    CHECK_THAT(message(""), Contains("no pieces"));
    CHECK_THAT(message(data(2, integer(3, 1))), Contains("no pieces"));
    CHECK_THAT(message(good + piece("a", -2)), Contains("pieces 1 and 2 are both \"a\""));
    CHECK_THAT(message(good + piece("", -2)), Contains("piece 2 is empty or not UTF-8"));
    CHECK_THAT(message(good + piece("\xff", -2)), Contains("piece 2 is empty or not UTF-8"));
    CHECK_THAT(message(good + piece("b", std::numeric_limits<float>::infinity())),
               Contains("score of piece 2"));
    CHECK_THAT(message(good + piece("b", std::numeric_limits<float>::quiet_NaN())),
               Contains("score of piece 2"));
    CHECK_THAT(message(good + piece("b", -1, 7)), Contains("piece 2 has type 7"));
    CHECK_THAT(message(good + piece("b", -1, 0)), Contains("piece 2 has type 0"));
    CHECK_THAT(message(good + data(2, integer(3, 5))), Contains("model type 5"));
    CHECK_THAT(message(good + data(2, integer(40, 2))), Contains("names piece 2 for unknown characters"));
    CHECK_THAT(message(good + data(2, integer(40, std::uint64_t{1} << 32U))),
               Contains("names piece 4294967296"));
    CHECK_THAT(message(good + data(2, integer(40, ~0ULL))), Contains("names piece -1"));
    // Every cut of a real file is refused or leaves out whole pieces.
    const std::string bytes = read_file(spm_folder + "unigram.model");
    for (std::size_t size = 0; size < 400; ++size)
        if (message(bytes.substr(0, size)).empty())
            CHECK(parse_sentencepiece(bytes.substr(0, size), "a.model").pieces.size() < 40);
}

TEST_CASE("models that SentencePiece could not use are refused", "[tokenizer][sentencepiece]") {
    const std::string good = unknown_piece + piece("a", -1);
    CHECK(loading_message(good).empty());
    for (const std::string& map : {std::string("x"), std::string("\x08\0\0\0", 4), std::string(4, '\0')})
        CHECK_THAT(loading_message(good + data(3, data(2, map))),
                   Contains("a.model") && Contains("length of a trie"));
    CHECK_THAT(loading_message(good + data(2, integer(3, 3))), Contains("words or characters"));
    CHECK_THAT(loading_message(good + piece("ab", 0, 4) + data(2, integer(3, 2))),
               Contains("tokenizer_class"));
}

TEST_CASE("a SentencePiece model of an unknown class is refused by name", "[tokenizer][sentencepiece]") {
    const Folder folder;
    folder.copy("unigram", "spiece.model");
    folder.write("tokenizer_config.json", {{"tokenizer_class", "CpmTokenizer"}});
    CHECK_THAT(folder.fault(), Contains("a CpmTokenizer") && Contains("--ids"));
    CHECK(folder.problem() == folder.fault());
    folder.write("tokenizer_config.json", json::object());
    CHECK(folder.problem().empty());
    CHECK(folder.open()->encode("").ids.empty());
    folder.write("config.json", {{"model_type", "pegasus"}});
    CHECK_THAT(folder.fault(), Contains("a PegasusTokenizer"));

    // A tokenizer.json counts more than a model.
    folder.write("config.json", {{"model_type", "gemma"}});
    folder.write("tokenizer.json",
                 json::parse(read_file(test_data("/tokenizers/gemma_like/tokenizer.json"))));
    CHECK(folder.open()->token_text(2) == "<bos>");
    CHECK(folder.open()->vocabulary_size() == 522);
}

TEST_CASE("the option files of a folder add tokens to a SentencePiece model", "[tokenizer][sentencepiece]") {
    const Folder folder;
    folder.copy("llama2_like", "tokenizer.model");
    folder.write("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizerFast"}});
    const auto size = static_cast<TokenId>(folder.open()->vocabulary_size());
    folder.write("added_tokens.json", {{"<two>", size + 1}, {"<one>", size}});
    folder.write("special_tokens_map.json", {{"pad_token", "<one>"}, {"mask_token", "<hole>"}});
    const IdList hi = folder.open()->encode("hi").ids;
    IdList expected = hi;
    expected.insert(expected.end(), {size, size + 1, size + 2});
    CHECK(folder.open()->encode("hi<one><two><hole>").ids == expected);
    CHECK(folder.open()->decode(expected, true) == "hi<two>");

    folder.write(
        "tokenizer_config.json",
        {{"tokenizer_class", "LlamaTokenizer"},
         {"bos_token", "<three>"},
         {"added_tokens_decoder", {{std::to_string(size), {{"content", "<three>"}, {"special", true}}}}}});
    CHECK(folder.open()->encode("hi").ids.front() == size);
}

TEST_CASE("DeBERTa appends its mask, ALBERT lowers letters", "[tokenizer][sentencepiece]") {
    const auto model = [](const std::string& more) {
        std::string bytes =
            piece("[PAD]", 0, 3) + piece("[CLS]", 0, 3) + piece("[SEP]", 0, 3) + piece("[UNK]", 0, 2);
        for (const char* text : {"\u2581", "a", "b", "!", "\u2581a", "1,", "1", ",", "\u00e9"})
            bytes += piece(text, text == std::string("1,") ? -0.5F : -1);
        return bytes + data(2, integer(40, 3)) + more;
    };
    const TemporaryFolder folder;
    const auto ids = [&](const char* name, const std::string& text, const json& more = json::object()) {
        json config{{"tokenizer_class", name}};
        config.update(more);
        write_file_atomically(folder.file("spm.model"), model(""));
        write_file_atomically(folder.file("tokenizer_config.json"), config.dump());
        return load_tokenizer(folder.file(""))->encode(text).ids;
    };
    CHECK(ids("DebertaV2Tokenizer", " a  b! [MASK]  ") == IdList{1, 8, 4, 6, 7, 13, 2});
    CHECK(ids("DebertaV2Tokenizer", "a!b", {{"split_by_punct", true}}) == IdList{1, 8, 4, 7, 4, 6, 2});
    CHECK(ids("DebertaV2Tokenizer", "A") == IdList{1, 4, 3, 2});
    CHECK(ids("DebertaV2Tokenizer", "A", {{"do_lower_case", true}}) == IdList{1, 8, 2});
    // The comma after a digit is a piece of its own for ALBERT and XLNet.
    CHECK(ids("DebertaV2Tokenizer", "1,") == IdList{1, 4, 9, 2});
    CHECK(ids("AlbertTokenizer", "1,") == IdList{1, 4, 10, 11, 2});
    CHECK(ids("AlbertTokenizer", "Ab") == IdList{1, 8, 6, 2});
    CHECK(ids("AlbertTokenizer", "\u00e9") == IdList{1, 4, 3, 2});
    CHECK(ids("AlbertTokenizer", "\u00e9", {{"keep_accents", true}}) == IdList{1, 4, 12, 2});
    CHECK(ids("XLNetTokenizer", "a b") == IdList{8, 4, 6, 16, 18});
}

TEST_CASE("Marian splits both languages by their models and has one vocabulary",
          "[tokenizer][sentencepiece]") {
    const json cases = json::parse(read_file(spm_folder + "cases.json"));
    const std::vector<std::string> texts = cases.at("texts");
    json vocab{{"</s>", 0}, {"<unk>", 1}, {">>fra<<", 2}};
    for (const char* side : {"source", "target"})
        for (const json& pieces : cases.at("pieces").at(side))
            for (const json& text : pieces)
                if (const std::string one = text; one.size() < 8 && one != "<unk>" && !vocab.contains(one))
                    vocab[one] = vocab.size();
    vocab["<pad>"] = vocab.size();
    const Folder folder;
    folder.copy("source", "source.spm");
    CHECK_THAT(folder.fault(), Contains("no target.spm"));
    folder.copy("target", "target.spm");
    folder.write("vocab.json", vocab);
    folder.write("config.json", {{"model_type", "marian"}});
    const auto tokenizer = folder.open();
    CHECK(tokenizer->vocabulary_size() == vocab.size());
    const auto expected = [&](const char* side, std::size_t i) {
        IdList ids;
        for (const json& text : cases.at("pieces").at(side).at(i))
            ids.push_back(vocab.value(text.get<std::string>(), 1));
        ids.push_back(0);
        return ids;
    };
    for (std::size_t i = 0; i < texts.size(); ++i) {
        // These texts are special tokens, which are found before the pieces.
        if (texts[i].find("</s>") != std::string::npos || texts[i] == "<unk>" || texts[i] == "<pad>")
            continue;
        INFO(json(texts[i]).dump());
        CHECK(tokenizer->encode(texts[i]).ids == expected("source", i));
        CHECK(tokenizer->encode_target(texts[i]).ids == expected("target", i));
    }
    const std::string sentence = texts.at(6);
    IdList coded = expected("source", 6);
    CHECK(tokenizer->decode(coded, true) == sentence);
    coded.insert(coded.begin(), 2);
    const Encoding got = tokenizer->encode(">>fra<< " + sentence);
    CHECK(got.ids == coded);
    CHECK(got.offsets.at(0) == TextSpan{0, 7});
    CHECK(got.offsets.at(1).begin >= 7);
    CHECK(tokenizer->encode("<pad>").ids == IdList{vocab["<pad>"].get<TokenId>(), 0});

    folder.write("tokenizer_config.json", {{"separate_vocabs", true}});
    CHECK_THAT(folder.fault(), Contains("separate vocabularies") && Contains("--decoder-ids"));
    folder.write("tokenizer_config.json", json::object());
    vocab.erase("<unk>");
    folder.write("vocab.json", vocab);
    CHECK_THAT(folder.fault(), Contains("no \"<unk>\""));
}
