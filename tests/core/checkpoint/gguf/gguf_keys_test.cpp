#include "core/base/file.h"
#include "core/checkpoint/gguf/gguf_architecture.h"
#include "core/checkpoint/gguf/gguf_config.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/families/same_architecture.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

template<class Number>
void append_number(std::string& bytes, Number number) {
    std::array<char, sizeof(Number)> raw{};
    std::memcpy(raw.data(), &number, sizeof(Number));
    bytes.append(raw.data(), raw.size());
}

void append_text(std::string& bytes, const std::string& text) {
    append_number(bytes, static_cast<std::uint64_t>(text.size()));
    bytes += text;
}

/// A GGUF file with these pairs and two tables of zeros.
GgufFile gguf_with(const std::map<std::string, json>& pairs) {
    constexpr std::uint32_t version = 3, type_u32 = 4, type_f32 = 6, flag = 7, text = 8, tensor_f32 = 0;
    constexpr std::uint64_t width = 64, rows = 8, types = 2, alignment = 32;
    std::string bytes = "GGUF";
    append_number(bytes, version);
    append_number(bytes, std::uint64_t{2});
    append_number(bytes, static_cast<std::uint64_t>(pairs.size()));
    for (const auto& [key, value] : pairs) {
        append_text(bytes, key);
        if (value.is_boolean()) {
            append_number(bytes, flag);
            bytes.push_back(value.get<bool>() ? 1 : 0);
        } else if (value.is_number_integer()) {
            append_number(bytes, type_u32);
            append_number(bytes, value.get<std::uint32_t>());
        } else if (value.is_number()) {
            append_number(bytes, type_f32);
            append_number(bytes, value.get<float>());
        } else {
            append_number(bytes, text);
            append_text(bytes, value.get<std::string>());
        }
    }
    std::uint64_t at = 0;
    for (const auto& [name, count] : {std::pair("token_embd.weight", rows), {"token_types.weight", types}}) {
        append_text(bytes, name);
        append_number(bytes, std::uint32_t{2});
        append_number(bytes, width);
        append_number(bytes, count);
        append_number(bytes, tensor_f32);
        append_number(bytes, at);
        at += count * width * sizeof(float);
    }
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
    bytes.append(at, '\0');
    return GgufFile::from_bytes(bytes, "x.gguf");
}

std::map<std::string, json> usual_pairs(const std::string& name) {
    const bool layer_norm =
        name == "gptneox" || name == "gpt2" || name == "bert" || name == "cohere2" || name == "nemotron";
    std::map<std::string, json> pairs{{"general.architecture", name}};
    for (const auto& [key, value] : std::map<std::string, json>{
             {"block_count", 2},
             {"embedding_length", 64},
             {"attention.head_count", 4},
             {"feed_forward_length", 96},
             {"context_length", 32},
             {layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 1e-5}})
        pairs[name + "." + key] = value;
    if (name == "cohere2") {
        pairs["cohere2.logit_scale"] = 0.5;
        pairs["cohere2.attention.sliding_window"] = 9;
    }
    return pairs;
}

} // namespace

// The suffixes are those of llama.cpp's LLM_KV_NAMES (llama-arch.cpp), and one that does not exist.
TEST_CASE("every key that llama.cpp knows of an architecture is read, refused or known to be harmless") {
    const json table = json::parse(read_file(test_data("/gguf_keys.json")));
    const json &harmless = table.at("harmless"), &unscaled = table.at("harmless alone");
    std::size_t read = 0, refused = 0;
    for (const char* const name : {"llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "gptneox", "gpt2",
                                   "bert", "cohere2", "glm4", "exaone4", "nemotron"}) {
        const std::map<std::string, json> usual = usual_pairs(name);
        const Architecture before = read_gguf_architecture(gguf_with(usual));
        const json& turnless = table.at("without rotary positions");
        const bool turns = std::ranges::find(turnless, name) == turnless.end();
        for (const auto& [suffix, value] : table.at("keys").items()) {
            const std::string key = std::string(name) + "." + suffix;
            INFO(key);
            std::map<std::string, json> pairs = usual;
            pairs[key] = value == "other" ? json(std::string(name) == "bert") : value;
            bool same = true;
            const std::string fault = input_error(
                [&] { same = same_architecture(before, read_gguf_architecture(gguf_with(pairs))); });
            read += fault.empty() && !same ? 1 : 0;
            refused += fault.empty() ? 0 : 1;
            if (!fault.empty())
                CHECK_THAT(fault, Contains(key) || Contains(suffix.substr(suffix.rfind('.') + 1)));
            else if (same)
                CHECK((harmless.contains(suffix) || unscaled.contains(suffix) ||
                       (!turns && suffix.starts_with("rope."))));
        }
    }
    CHECK(read > 100);
    CHECK(refused > 500);
}
