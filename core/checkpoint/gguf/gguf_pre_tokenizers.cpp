#include "core/checkpoint/gguf/gguf_pre_tokenizers.h"

#include "core/base/joined.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

using P = GgufPreTokenizer;
using D = GgufDigits;

constexpr const char* llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* tekken_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* gpt4o_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr const char* deepseek_letters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr const char* deepseek_signs = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr const char* east_asian = "[一-龥ࠀ-一가-퟿]+";
constexpr const char* deepseek_v3_pattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* bloom_pattern = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";

// Messages list them in this order.
constexpr std::array rows{
    P{.name = "gpt-2"},
    P{.name = "gpt2"},
    P{.name = "default"},
    P{.name = "olmo"},
    P{.name = "phi-2"},
    P{.name = "mpt"},
    P{.name = "jais"},
    P{.name = "trillion"},
    P{.name = "exaone4"},
    P{.name = "mellum"},
    P{.name = "granite-docling"},
    P{.name = "smollm", .digits = D::before},
    P{.name = "starcoder", .digits = D::before},
    P{.name = "refact", .digits = D::before},
    P{.name = "command-r", .digits = D::before},
    P{.name = "codeshell", .digits = D::before},
    P{.name = "exaone", .digits = D::before},
    P{.name = "minerva-7b", .digits = D::before},
    P{.name = "falcon", .digits = D::by_three, .punctuation = true},
    P{.name = "llama-bpe", .patterns = {llama3_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "llama3", .patterns = {llama3_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "llama-v3", .patterns = {llama3_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "falcon3", .patterns = {llama3_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "pixtral", .patterns = {llama3_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "smaug-bpe", .patterns = {llama3_pattern}},
    P{.name = "dbrx", .patterns = {llama3_pattern}},
    P{.name = "glm4", .patterns = {llama3_pattern}},
    P{.name = "chatglm-bpe", .patterns = {llama3_pattern}},
    P{.name = "qwen2", .patterns = {qwen2_pattern}, .normalizes = true},
    P{.name = "deepseek-r1-qwen", .patterns = {qwen2_pattern}, .normalizes = true},
    P{.name = "megrez", .patterns = {qwen2_pattern}, .normalizes = true},
    P{.name = "stablelm2", .patterns = {qwen2_pattern}},
    P{.name = "tekken", .patterns = {tekken_pattern}, .ignores_merges = true, .begins = true},
    P{.name = "gpt-4o", .patterns = {gpt4o_pattern}},
    P{.name = "llama4", .patterns = {gpt4o_pattern}, .begins = true},
    P{.name = "deepseek-llm",
      .patterns = {"[\r\n]", deepseek_letters, deepseek_signs, R"(\s+$)", east_asian},
      .digits = D::after},
    P{.name = "deepseek-coder",
      .patterns = {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", east_asian},
      .digits = D::after},
    P{.name = "deepseek-v3", .patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", deepseek_v3_pattern}},
    P{.name = "hunyuan-dense",
      .patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", deepseek_v3_pattern}},
    P{.name = "bloom", .patterns = {bloom_pattern}},
    P{.name = "poro-chat", .patterns = {bloom_pattern}},
    P{.name = "gpt3-finnish", .patterns = {bloom_pattern}},
    P{.name = "viking", .patterns = {bloom_pattern}, .digits = D::after}};

} // namespace

const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name) {
    const auto row = std::ranges::find(rows, name, &GgufPreTokenizer::name);
    return row == rows.end() ? nullptr : &*row;
}

std::string gguf_pre_tokenizer_names() {
    return joined(rows, &GgufPreTokenizer::name);
}

} // namespace headscope::checkpoint
