#include "core/checkpoint/families/families.h"

#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/checkpoint/families/common.h"
#include "core/checkpoint/families/unopened.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>

namespace headscope::checkpoint {

// Every family by its model_type NAME. Architecture read_NAME(const ConfigReader&) stands in the family's own
// file.
#define HEADSCOPE_FAMILIES(row)                                                                              \
    row(gpt2) row(bert) row(distilbert) row(roberta) row(llama) row(mistral) row(mixtral) row(qwen2)         \
        row(qwen3) row(qwen2_moe) row(qwen3_moe) row(qwen3_next) row(smollm3) row(phi3) row(opt)             \
            row(gpt_neo) row(gpt_neox) row(phi) row(gptj) row(falcon) row(bloom) row(modernbert) row(gemma2) \
                row(gemma3_text) row(olmo) row(olmo2) row(olmo3) row(olmoe) row(gpt_oss) row(t5) row(mt5)    \
                    row(bart) row(mbart) row(marian) row(gemma) row(xlm_roberta) row(camembert)              \
                        row(starcoder2) row(stablelm) row(glm) row(gpt_bigcode) row(cohere) row(mpt)         \
                            row(granite) row(granitemoe) row(deepseek_v2) row(deepseek_v3)                   \
                                row(qwen2_vl_text) row(qwen2_5_vl_text) row(qwen3_vl_text)                   \
                                    row(qwen2_5_omni_text) row(cohere2) row(glm4) row(exaone4) row(xglm)     \
                                        row(nemotron) row(mpnet) row(codegen) row(electra) row(albert)       \
                                            row(llama4_text) row(deberta_v2) row(gemma3n_text) row(nanogpt)  \
                                                row(toy)
// Those whose configuration nests a language model among other parts, in nested.cpp.
#define HEADSCOPE_NESTED_FAMILIES(row)                                                                       \
    row(gemma3) row(mistral3) row(llava) row(llava_next) row(qwen2_vl) row(qwen2_5_vl) row(qwen3_vl)         \
        row(qwen2_5_omni) row(internvl_chat) row(multi_modality) row(llama4) row(gemma3n)
// Those that no file of Hugging Face has: the program makes their configuration.
#define HEADSCOPE_OWN_FAMILIES(row) row(nanogpt) row(toy)

#define HEADSCOPE_DECLARE(name) Architecture read_##name(const ConfigReader& reader);
HEADSCOPE_FAMILIES(HEADSCOPE_DECLARE)
HEADSCOPE_NESTED_FAMILIES(HEADSCOPE_DECLARE)
HEADSCOPE_OWN_FAMILIES(HEADSCOPE_DECLARE)

namespace {

struct Family {
    std::string_view name;
    Architecture (*read)(const ConfigReader& reader);
    bool nested;
};

/// The model_type of a family, most of which are identifiers.
constexpr std::string_view type_of(std::string_view name) {
    return name == "xlm_roberta" ? "xlm-roberta" : name == "deberta_v2" ? "deberta-v2" : name;
}

#define HEADSCOPE_ROW(name) Family{type_of(#name), read_##name, false},
#define HEADSCOPE_NESTED_ROW(name) Family{type_of(#name), read_##name, true},
constexpr std::array families{HEADSCOPE_FAMILIES(HEADSCOPE_ROW)
                                  HEADSCOPE_NESTED_FAMILIES(HEADSCOPE_NESTED_ROW)};

constexpr std::array own_families{HEADSCOPE_OWN_FAMILIES(HEADSCOPE_ROW)};

const Family* find_family(std::string_view name) {
    for (const std::span<const Family> list :
         {std::span<const Family>(families), std::span<const Family>(own_families)})
        if (const auto found = std::ranges::find(list, name, &Family::name); found != list.end())
            return &*found;
    return nullptr;
}

/// Letters and digits, small, as model types and names of classes have them in common: "gptneox".
std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

/// The family of a file without model_type, by the class that saved it: GPTNeoXForCausalLM is of gpt_neox.
std::string type_of_class(const ConfigReader& reader) {
    for (const std::string& name : reader.texts("architectures")) {
        std::string_view stem = name;
        for (const std::string_view end :
             {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM", "ForPreTraining",
              "MTModel", "EncoderModel", "Model"})
            if (stem.ends_with(end)) {
                stem.remove_suffix(end.size());
                break;
            }
        const std::string letters = letters_of(stem);
        // Classes without images, whose like with images have the shorter type.
        const bool reads_text =
            name == "Gemma3ForCausalLM" || name == "Gemma3nForCausalLM" || name == "Llama4ForCausalLM";
        const std::string own = reads_text ? letters + "text" : letters;
        const auto found =
            std::ranges::find(families, own, [](const Family& family) { return letters_of(family.name); });
        if (found != families.end())
            return std::string(found->name);
    }
    return "";
}

Architecture read_text_family(const Family& family, const ConfigReader& reader) {
    Architecture architecture = family.read(reader);
    // Embedding models made of decoders read both ways. GPT-Neo has masks of its own, which do not look at
    // the key.
    if (!reader.flag("is_causal", true) && family.name != "gpt_neo")
        architecture.causal = false;
    architecture.end_tokens = reader.one_or_more("eos_token_id", -1);
    return architecture;
}

} // namespace

std::string family_names() {
    return joined(families, &Family::name);
}

Architecture read_text_family(const std::string& name, const ConfigReader& reader) {
    const Family* const family = find_family(name);
    if (family == nullptr || family->nested)
        refuse_type(reader, name);
    return read_text_family(*family, reader);
}

Architecture read_architecture(std::string_view text, const std::string& source) {
    const nlohmann::json parsed = parse_json(text, source);
    const ConfigReader reader(parsed, source);
    const std::string type = reader.has("model_type") ? reader.text("model_type", "") : type_of_class(reader);
    const Family* const family = find_family(type);
    if (family == nullptr)
        refuse_type(reader, type);
    Architecture architecture = family->nested ? family->read(reader) : read_text_family(*family, reader);
    require_supported(architecture, source);
    if (architecture.encoder != nullptr)
        require_supported(*architecture.encoder_architecture, source);
    architecture.complete();
    return architecture;
}

} // namespace headscope::checkpoint
