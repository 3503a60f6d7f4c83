#include "core/checkpoint/families/families.h"

#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

// Every family by its model_type NAME. Architecture read_NAME(const ConfigReader&) stands in the family's own
// file.
#define HEADSCOPE_FAMILIES(row)                                                                              \
    row(gpt2) row(bert) row(distilbert) row(roberta) row(llama) row(mistral) row(mixtral) row(qwen2)         \
        row(qwen3) row(qwen3_moe) row(smollm3) row(phi3) row(opt) row(gpt_neo) row(gpt_neox) row(phi)        \
            row(gptj) row(falcon) row(bloom) row(modernbert) row(gemma2) row(gemma3_text) row(olmo)          \
                row(olmo2) row(olmo3) row(olmoe) row(gpt_oss) row(t5) row(mt5) row(bart) row(mbart)          \
                    row(marian)

#define HEADSCOPE_DECLARE(name) Architecture read_##name(const ConfigReader& reader);
HEADSCOPE_FAMILIES(HEADSCOPE_DECLARE)

namespace {

struct Family {
    std::string_view name;
    Architecture (*read)(const ConfigReader& reader);
};

#define HEADSCOPE_ROW(name) Family{#name, read_##name},
constexpr std::array families{HEADSCOPE_FAMILIES(HEADSCOPE_ROW)};

} // namespace

std::string family_names() {
    return joined(families, &Family::name);
}

Architecture read_architecture(std::string_view text, const std::string& source) {
    const nlohmann::json parsed = parse_json(text, source);
    const ConfigReader reader(parsed, source);
    const auto family = std::ranges::find(families, reader.text("model_type", ""), &Family::name);
    if (family == families.end())
        reader.refuse("model_type", tr("common.one", "one of {}", family_names()));
    Architecture architecture = family->read(reader);
    // Embedding models made of decoders read both ways. GPT-Neo has masks of its own, which do not look at
    // the key.
    if (!reader.flag("is_causal", true) && family->name != "gpt_neo")
        architecture.causal = false;
    architecture.end_tokens = reader.one_or_more("eos_token_id", -1);
    require_supported(architecture, source);
    if (architecture.encoder != nullptr)
        require_supported(*architecture.encoder, source);
    return architecture;
}

} // namespace headscope::checkpoint
