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

// Letters that have a case.
constexpr const char* deepseek_letters =
    R"(\s?[A-Za-z\x{00B5}\x{00C0}-\x{00D6}\x{00D8}-\x{00F6}\x{00F8}-\x{01BA}\x{01BC}-\x{01BF})"
    R"(\x{01C4}-\x{0293}\x{0295}-\x{02AF}\x{0370}-\x{0373}\x{0376}\x{0377}\x{037B}-\x{037D}\x{037F})"
    R"(\x{0386}\x{0388}-\x{038A}\x{038C}\x{038E}-\x{03A1}\x{03A3}-\x{03F5}\x{03F7}-\x{0481})"
    R"(\x{048A}-\x{052F}\x{0531}-\x{0556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD})"
    R"(\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59})"
    R"(\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4})"
    R"(\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126})"
    R"(\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E})"
    R"(\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3})"
    R"(\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
    R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
    R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";
constexpr const char* deepseek_signs =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)";
constexpr const char* east_asian = R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr const char* deepseek_v3_pattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* bloom_pattern = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";

constexpr const char* chinese_japanese = R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";

// Messages list them in this order.
constexpr std::array pre_tokenizer_rows{
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
    P{.name = "deepseek-v3", .patterns = {R"(\p{N}{1,3})", chinese_japanese, deepseek_v3_pattern}},
    P{.name = "hunyuan-dense", .patterns = {R"(\p{N}{1,3})", chinese_japanese, deepseek_v3_pattern}},
    P{.name = "bloom", .patterns = {bloom_pattern}},
    P{.name = "poro-chat", .patterns = {bloom_pattern}},
    P{.name = "gpt3-finnish", .patterns = {bloom_pattern}},
    P{.name = "viking", .patterns = {bloom_pattern}, .digits = D::after}};

} // namespace

const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name) {
    const auto row = std::ranges::find(pre_tokenizer_rows, name, &GgufPreTokenizer::name);
    return row == pre_tokenizer_rows.end() ? nullptr : &*row;
}

std::string gguf_pre_tokenizer_names() {
    return joined(pre_tokenizer_rows, &GgufPreTokenizer::name);
}

} // namespace headscope::checkpoint
