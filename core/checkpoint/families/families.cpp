#include "core/checkpoint/families/families.h"

#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

struct Family {
    std::string_view name; ///< model_type
    Architecture (*read)(const ConfigReader& reader);
};

constexpr std::array families = std::to_array<Family>({
    {"gpt2", read_gpt2},
    {"bert", read_bert},
    {"distilbert", read_distilbert},
    {"roberta", read_roberta},
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"qwen2", read_qwen2},
    {"smollm3", read_smollm3},
    {"phi3", read_phi3},
    {"opt", read_opt},
    {"gpt_neo", read_gpt_neo},
    {"gpt_neox", read_gpt_neox},
    {"phi", read_phi},
    {"gptj", read_gptj},
    {"falcon", read_falcon},
});

} // namespace

std::string family_names() {
    std::string names;
    for (const Family& family : families)
        names += (names.empty() ? "" : ", ") + std::string(family.name);
    return names;
}

Architecture read_architecture(std::string_view text, const std::string& source) {
    const nlohmann::json parsed = parse_json(text, source);
    const ConfigReader reader(parsed, source);
    const auto family = std::ranges::find(families, reader.text("model_type", ""), &Family::name);
    if (family == families.end())
        reader.refuse("model_type", "one of " + family_names());
    Architecture architecture = family->read(reader);
    require_supported(architecture, source);
    return architecture;
}

} // namespace headscope::checkpoint
