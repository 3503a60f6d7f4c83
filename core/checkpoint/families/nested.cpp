#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// The names that a language model's tensors have among those of the other parts. Uploads of transformers 4
/// write language_model.model, newer ones model.language_model, and Qwen's older ones model alone.
void use_nested_names(NameMap& names) {
    names.prefixes = {"language_model.model.", "model.language_model.", "model.",
                      "thinker.model.",        "language_model.",       ""};
    for (const char* head : {"language_model.lm_head.weight", "thinker.lm_head.weight"})
        names.twins.emplace_back(TensorId::W_U, head);
}

} // namespace

Architecture read_nested_text(const ConfigReader& reader, const NestedText& nested) {
    const nlohmann::json usual = parse_json(nested.defaults, nested.family);
    std::optional<ConfigReader> text(reader);
    for (const char* key : nested.keys)
        if (text)
            text = text->object(key);
    if (!text)
        text = nested.at_top ? reader : ConfigReader(usual, reader.source());
    // The type at the top is that of the whole.
    const bool at_top = &text->all() == &reader.all();
    const std::string type = at_top ? nested.usual_type : text->text("model_type", nested.usual_type);
    if (nested.own_type && type != nested.usual_type)
        text->refuse("model_type", nested.usual_type);
    Architecture a = read_text_family(type, *text);
    const TensorName* const head = find_row(a.names.head, TensorId::W_U);
    if (a.encoder != nullptr || head == nullptr || head->name != "lm_head.weight" ||
        a.names.prefixes.front() != "model.")
        text->refuse("model_type",
                     tr("nested.decoder_tensors_named_llama",
                        "a decoder whose tensors are named like Llama's, such as llama, mistral "
                        "or qwen2"));
    use_nested_names(a.names);
    a.family = nested.family;
    // Versions of the library disagree about the defaults of the two keys, so only a value that is there
    // counts. A head that the file has counts more, see Model.
    const std::optional<bool> own = text->flag("tie_word_embeddings"),
                              outer = reader.flag("tie_word_embeddings");
    a.tied = own.value_or(false) || outer.value_or(false) || (!own && !outer);
    if (a.dtype.empty())
        a.dtype = reader.text("torch_dtype", reader.text("dtype", ""));
    if (auto ends = reader.one_or_more("eos_token_id", -1); !ends.empty())
        a.end_tokens = std::move(ends);
    return a;
}

Architecture read_gemma3(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "gemma3", .usual_type = "gemma3_text"});
}

Architecture read_mistral3(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "mistral3",
                                     .usual_type = "mistral",
                                     .own_type = false,
                                     .defaults = R"({"head_dim": 128, "hidden_size": 5120,
        "intermediate_size": 32768, "max_position_embeddings": 131072, "num_attention_heads": 32,
        "num_hidden_layers": 40, "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000000.0,
        "sliding_window": null, "vocab_size": 131072})"});
}

Architecture read_llava(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "llava", .usual_type = "llama", .own_type = false});
}

Architecture read_llava_next(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "llava_next", .usual_type = "llama", .own_type = false});
}

Architecture read_qwen2_vl(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "qwen2_vl", .usual_type = "qwen2_vl_text", .at_top = true});
}

Architecture read_qwen2_5_vl(const ConfigReader& reader) {
    return read_nested_text(reader,
                            {.family = "qwen2_5_vl", .usual_type = "qwen2_5_vl_text", .at_top = true});
}

Architecture read_qwen3_vl(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "qwen3_vl", .usual_type = "qwen3_vl_text", .at_top = true});
}

/// A language model (the thinker) with images, sound and a voice (Xu et al. 2025, "Qwen2.5-Omni").
Architecture read_qwen2_5_omni(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "qwen2_5_omni",
                                     .usual_type = "qwen2_5_omni_text",
                                     .keys = {"thinker_config", "text_config"}});
}

/// InternVL as its authors publish it (Chen et al. 2024).
Architecture read_internvl_chat(const ConfigReader& reader) {
    return read_nested_text(
        reader,
        {.family = "internvl_chat", .usual_type = "llama", .keys = {"llm_config"}, .own_type = false});
}

Architecture read_llama4(const ConfigReader& reader) {
    return read_nested_text(reader, {.family = "llama4", .usual_type = "llama4_text"});
}

/// Token ids after those that layers have embeddings for stand for images and sound.
Architecture read_gemma3n(const ConfigReader& reader) {
    Architecture a = read_nested_text(reader, {.family = "gemma3n", .usual_type = "gemma3n_text"});
    a.copies->refuses_later_ids = true;
    return a;
}

/// DeepSeek-VL and Janus as their authors publish them (Lu et al. 2024; Wu et al. 2024).
Architecture read_multi_modality(const ConfigReader& reader) {
    return read_nested_text(
        reader,
        {.family = "multi_modality", .usual_type = "llama", .keys = {"language_config"}, .own_type = false});
}

} // namespace headscope::checkpoint
