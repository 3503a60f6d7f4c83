#include "core/checkpoint/gguf/gguf_keys.h"

#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/gguf/gguf_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using R = GgufRotation;

constexpr std::array gguf_rows{
    GgufRow{.architecture = "llama", .model_type = "llama", .permuted = true, .mixture = true},
    GgufRow{.architecture = "qwen2", .model_type = "qwen2"},
    GgufRow{.architecture = "qwen2vl", .model_type = "qwen2"},
    GgufRow{.architecture = "qwen2moe", .model_type = "qwen2_moe", .mixture = true},
    GgufRow{.architecture = "qwen3", .model_type = "qwen3"},
    GgufRow{.architecture = "qwen3vl", .model_type = "qwen3"},
    GgufRow{.architecture = "qwen3moe", .model_type = "qwen3_moe", .mixture = true},
    GgufRow{.architecture = "qwen3vlmoe", .model_type = "qwen3_moe", .mixture = true},
    GgufRow{.architecture = "gemma", .model_type = "gemma"},
    GgufRow{.architecture = "gemma2", .model_type = "gemma2"},
    GgufRow{.architecture = "gemma3", .model_type = "gemma3_text"},
    GgufRow{.architecture = "phi2", .model_type = "phi", .rms = false, .rotation = R::part},
    GgufRow{.architecture = "phi3", .model_type = "phi3", .rotation = R::part},
    GgufRow{.architecture = "gptneox",
            .model_type = "gpt_neox",
            .rms = false,
            .own_heads = false,
            .own_width = false,
            .rotation = R::part},
    GgufRow{.architecture = "gpt2",
            .model_type = "gpt2",
            .rms = false,
            .own_heads = false,
            .own_width = false,
            .rotation = R::none},
    GgufRow{.architecture = "starcoder",
            .model_type = "gpt_bigcode",
            .rms = false,
            .own_width = false,
            .rotation = R::none},
    GgufRow{.architecture = "starcoder2", .model_type = "starcoder2", .rms = false},
    GgufRow{.architecture = "stablelm",
            .model_type = "stablelm",
            .rms = false,
            .own_width = false,
            .rotation = R::part},
    GgufRow{.architecture = "mpt",
            .model_type = "mpt",
            .rms = false,
            .own_heads = false,
            .own_width = false,
            .rotation = R::none},
    GgufRow{.architecture = "bloom",
            .model_type = "bloom",
            .rms = false,
            .own_heads = false,
            .own_width = false,
            .rotation = R::none},
    GgufRow{.architecture = "falcon", .model_type = "falcon", .rms = false, .own_width = false},
    GgufRow{.architecture = "bert",
            .model_type = "bert",
            .rms = false,
            .own_heads = false,
            .own_width = false,
            .rotation = R::none},
    GgufRow{.architecture = "olmo", .model_type = "olmo", .rms = false, .permuted = true},
    GgufRow{.architecture = "olmo2", .model_type = "olmo2"},
    GgufRow{.architecture = "olmoe", .model_type = "olmoe", .mixture = true},
    GgufRow{.architecture = "granite", .model_type = "granite", .permuted = true},
    GgufRow{.architecture = "granitemoe", .model_type = "granitemoe", .permuted = true, .mixture = true},
    GgufRow{.architecture = "command-r", .model_type = "cohere", .rms = false},
    GgufRow{.architecture = "cohere2", .model_type = "cohere2", .rms = false},
    GgufRow{.architecture = "chatglm", .model_type = "glm", .rotation = R::part},
    GgufRow{.architecture = "glm4", .model_type = "glm4", .rotation = R::part},
    GgufRow{.architecture = "exaone4", .model_type = "exaone4"},
    GgufRow{.architecture = "nemotron", .model_type = "nemotron", .rms = false, .rotation = R::part},
    GgufRow{.architecture = "smollm3", .model_type = "smollm3", .permuted = true},
    GgufRow{.architecture = "deepseek2", .model_type = "deepseek_v2", .mixture = true},
    GgufRow{.architecture = "gpt-oss", .model_type = "gpt_oss", .mixture = true},
    GgufRow{.architecture = "llama4", .model_type = "llama4_text", .mixture = true}};

const GgufRow& row_of(const ConfigReader& metadata) {
    if (const auto type = metadata.text("general.type"); type && *type != "model")
        metadata.refuse("general.type", tr("gguf_config.model_nothing_else_opened",
                                           "model: other types cannot be opened here"));
    constexpr const char* key = "general.architecture";
    const GgufRow* const row = find_gguf_row(metadata.text(key).value_or(""));
    if (row == nullptr)
        metadata.refuse(key, tr("common.one", "one of {}", gguf_architecture_names()));
    return *row;
}

} // namespace

const GgufRow* find_gguf_row(std::string_view architecture) {
    const auto row = std::ranges::find(gguf_rows, architecture, &GgufRow::architecture);
    return row == gguf_rows.end() ? nullptr : &*row;
}

std::string gguf_architecture_names() {
    return joined(gguf_rows, &GgufRow::architecture);
}

GgufKeys::GgufKeys(const GgufFile& file)
    : file_(file), metadata_(file.metadata()), row_(row_of(metadata_)),
      prefix_(std::string(row_.architecture) + ".") {}

double GgufKeys::positive(std::string_view suffix, double usual) {
    const std::string name = key(suffix);
    const double number = metadata_.number(name).value_or(usual);
    if (number <= 0)
        metadata_.refuse(name, tr("common.number_above_0", "a number above 0"));
    return number;
}

void GgufKeys::expect(std::string_view suffix, std::int64_t usual, const std::string& wanted) {
    const std::string name = key(suffix);
    if (metadata_.integer(name, 0).value_or(usual) != usual)
        metadata_.refuse(name, wanted);
}

void GgufKeys::refuse_unknown() const {
    // What is said of the file, of embeddings of whole texts, of labels and of images changes no number here.
    constexpr std::array<std::string_view, 6> harmless{"vocab_size",
                                                       "pooling_type",
                                                       "tensor_data_layout",
                                                       "classifier.output_labels",
                                                       "rope.dimension_sections",
                                                       "n_deepstack_layers"};
    const bool images = row_.architecture.find("vl") != std::string_view::npos;
    for (const auto& [key, value] : metadata_.all().items()) {
        if (!key.starts_with(prefix_) || known_.contains(key))
            continue;
        const std::string_view suffix = std::string_view(key).substr(prefix_.size());
        const auto found = std::ranges::find(harmless, suffix);
        if (found == harmless.end() || (!images && found >= harmless.end() - 2))
            metadata_.refuse(
                key, tr("gguf_config.absent_program_not_know",
                        "absent: the program does not know what it changes; get another file of the model"));
    }
}

} // namespace headscope::checkpoint
