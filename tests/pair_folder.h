#pragma once

#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace headscope::test {

// The golden case bert_tiny, row 0: ids 141 168 70 139 55 168 39 27 132 76 38, types 0 0 0 0 0 1 1 1 1 1 1.
// With a vocabulary of words w0 to w199 and 141, 55 and 38 as special tokens, these are two texts.
inline const std::string first_of_pair = "w168 w70 w139", second_of_pair = "w168 w39 w27 w132 w76";
/// The same tokens as one text, whose types are all 0.
inline const std::string pair_as_one = first_of_pair + " w55 " + second_of_pair;

/// Makes a copy of bert_tiny with a tokenizer that turns the two texts above into the golden case. Returns
/// its folder.
inline std::string make_pair_folder(const TemporaryFolder& folder, const std::string& name = "pair") {
    using nlohmann::json;
    const std::filesystem::path made = folder.file(name);
    std::filesystem::copy(test_data("/models/bert_tiny"), made);
    json vocabulary = json::object(), specials = json::object(), added = json::array();
    for (int id = 0; id < 200; ++id)
        vocabulary["w" + std::to_string(id)] = id;
    for (const int id : {141, 55, 38}) {
        const std::string word = "w" + std::to_string(id);
        specials[word] = {{"id", word}, {"ids", {id}}, {"tokens", {word}}};
        added.push_back({{"id", id},
                         {"content", word},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
    const auto special = [](const char* word, unsigned type) {
        return json{{"SpecialToken", {{"id", word}, {"type_id", type}}}};
    };
    const auto text = [](const char* which, unsigned type) {
        return json{{"Sequence", {{"id", which}, {"type_id", type}}}};
    };
    const json tokenizer = {
        {"version", "1.0"},
        {"added_tokens", added},
        {"normalizer", nullptr},
        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single", {special("w141", 0), text("A", 0), special("w38", 0)}},
          {"pair", {special("w141", 0), text("A", 0), special("w55", 0), text("B", 1), special("w38", 1)}},
          {"special_tokens", specials}}},
        {"decoder", nullptr},
        {"model",
         {{"type", "WordPiece"},
          {"unk_token", "w1"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 100},
          {"vocab", vocabulary}}}};
    write_file_atomically((made / "tokenizer.json").string(), tokenizer.dump());
    return made.string();
}

/// Returns the largest difference of the logits from those of Hugging Face's code for the two texts; infinity
/// for another number of tokens.
inline double off_golden_pair(const Tensor& logits) {
    const TensorPtr golden = format::Safetensors::open(test_data("/models/bert_tiny/expected.safetensors"))
                                 .tensor("expect.logits"); // logits of two cases
    if (2 * logits.count() != golden->count())
        return INFINITY;
    double largest = 0;
    for (std::int64_t i = 0; i < logits.count(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(logits.data()[i]) -
                                             static_cast<double>(golden->data()[i])));
    return largest;
}

} // namespace headscope::test
