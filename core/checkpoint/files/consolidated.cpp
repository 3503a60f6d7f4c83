#include "core/checkpoint/files/consolidated.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/config_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char *consolidated_safetensors = "consolidated.safetensors",
                     *consolidated_torch = "consolidated.00.pth";

bool has_file_called(const std::string& folder, const char* name) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / name, ignored);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 17> renamed_parts{{
    {"tok_embeddings.", "model.embed_tokens."},
    {"attention.wq.", "self_attn.q_proj."},
    {"attention.wk.", "self_attn.k_proj."},
    {"attention.wv.", "self_attn.v_proj."},
    {"attention.wo.", "self_attn.o_proj."},
    {"feed_forward.gate.", "block_sparse_moe.gate."},
    {"feed_forward.experts.", "block_sparse_moe.experts."},
    {"feed_forward.w1.", "mlp.gate_proj."},
    {"feed_forward.w2.", "mlp.down_proj."},
    {"feed_forward.w3.", "mlp.up_proj."},
    {"attention_norm.", "input_layernorm."},
    {"ffn_norm.", "post_attention_layernorm."},
    {"attention.q_norm.", "self_attn.q_norm."},
    {"attention.k_norm.", "self_attn.k_norm."},
    {"output.", "lm_head."},
    {"norm.", "model.norm."},
    {"rope.freqs", "model.rotary_emb.inv_freq"},
}};

std::string hugging_face_name(const std::string& name) {
    std::string rest = name, start;
    if (rest.starts_with("layers.")) {
        const auto after = rest.find('.', std::string_view("layers.").size());
        if (after == std::string::npos)
            return name;
        start = "model." + rest.substr(0, after + 1);
        rest.erase(0, after + 1);
    }
    for (const auto& [theirs, ours] : renamed_parts)
        if (rest.starts_with(theirs))
            return start + std::string(ours) + rest.substr(theirs.size());
    return start + rest;
}

std::int64_t first_extent(const TensorFiles& tensors, const std::string& name, const std::string& theirs,
                          const std::string& source) {
    const format::TensorEntry* const entry = tensors.find(name);
    if (entry == nullptr || entry->extents.size() != 2)
        fail_input(tr("consolidated.lacks_tensor",
                      "{} describes a model with a matrix {}, which the weights beside it do not have; get "
                      "both again",
                      source, theirs));
    return entry->extents[0];
}

/// Keys that name another model, or a part of one, than is computed here.
void check_params(const ConfigReader& reader) {
    constexpr std::array known{"dim",
                               "n_layers",
                               "n_heads",
                               "n_kv_heads",
                               "head_dim",
                               "hidden_dim",
                               "multiple_of",
                               "ffn_dim_multiplier",
                               "norm_eps",
                               "vocab_size",
                               "rope_theta",
                               "use_scaled_rope",
                               "rope_scaling_factor",
                               "use_biases",
                               "causal",
                               "sliding_window",
                               "max_seq_len",
                               "max_batch_size",
                               "max_position_embeddings",
                               "model_parallel_size",
                               "tied_embeddings",
                               "moe",
                               "vision_encoder",
                               "model_type",
                               "quantization_args"};
    for (const auto& [key, value] : reader.all().items())
        if (std::ranges::find(known, key) == known.end() && !value.is_null() && value != false)
            reader.refuse(key, tr("consolidated.unknown_key",
                                  "absent: this key is not known here and may change the numbers; open the "
                                  "checkpoint that Hugging Face's tools made of it"));
    if (reader.flag("use_biases", false))
        reader.refuse("use_biases", tr("consolidated.no_biases", "false: biases are not computed here"));
    if (!reader.flag("causal", true))
        reader.refuse("causal", tr("consolidated.causal", "true: only causal models are computed here"));
    if (reader.text("model_type", "transformer") != "transformer")
        reader.refuse("model_type",
                      tr("consolidated.transformer", "transformer, the only kind computed here"));
    if (reader.has("quantization_args"))
        reader.refuse("quantization_args",
                      tr("consolidated.quantized", "absent: quantized weights are not read here"));
}

} // namespace

bool is_consolidated(const std::string& folder) {
    return has_file_called(folder, "params.json") && !has_file_called(folder, "config.json") &&
           (has_file_called(folder, consolidated_safetensors) || has_file_called(folder, consolidated_torch));
}

TensorFiles open_consolidated(const std::string& folder) {
    if (!has_file_called(folder, consolidated_safetensors) && has_file_called(folder, "consolidated.01.pth"))
        fail_input(
            tr("consolidated.several_parts",
               "{} has the weights in several parts, consolidated.00.pth and on, each with a part of "
               "every "
               "tensor, which is not read here; open the checkpoint that Hugging Face's tools made of it",
               folder));
    TensorFiles files = TensorFiles::open_file(
        folder + "/" +
        (has_file_called(folder, consolidated_safetensors) ? consolidated_safetensors : consolidated_torch));
    files.rename(hugging_face_name);
    return files;
}

std::string config_of_params(std::string_view params, const std::string& source, const TensorFiles& tensors) {
    const json parsed = parse_json(params, source);
    const ConfigReader reader(parsed, source);
    check_params(reader);
    const std::int64_t D = reader.needed_integer("dim", 1), layers = reader.needed_integer("n_layers", 1),
                       H = reader.needed_integer("n_heads", 1);
    const std::int64_t rows =
        first_extent(tensors, "model.embed_tokens.weight", "tok_embeddings.weight", source);
    // Meta's files say -1 where the tokenizer decides.
    if (const auto vocab = reader.integer("vocab_size", -1); vocab && *vocab > 0 && *vocab != rows)
        reader.refuse("vocab_size", tr("consolidated.vocab", "{}, the rows of tok_embeddings.weight", rows));
    json config{{"hidden_size", D},
                {"num_hidden_layers", layers},
                {"num_attention_heads", H},
                {"num_key_value_heads", reader.size("n_kv_heads", H)},
                {"vocab_size", rows},
                {"rms_norm_eps", reader.positive("norm_eps", 1e-5)},
                {"rope_theta", reader.positive("rope_theta", 10000.0)},
                {"tie_word_embeddings", tensors.find("lm_head.weight") == nullptr},
                {"sliding_window", nullptr}};
    if (const auto width = reader.integer("head_dim", 1))
        config["head_dim"] = *width;
    std::int64_t longest = 8192;
    if (reader.flag("use_scaled_rope", false)) {
        // Llama 3.2's models of 16 and 28 layers are stretched further; their own file does not say so.
        constexpr std::int64_t of_1b = 16, of_3b = 28;
        const double usual = layers == of_1b || layers == of_3b ? 32.0 : 8.0;
        config["rope_scaling"] = {{"rope_type", "llama3"},
                                  {"factor", reader.positive("rope_scaling_factor", usual)},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 8192}};
        longest = 131072;
    }
    longest = reader.size("max_position_embeddings", reader.size("max_seq_len", longest));
    config["max_position_embeddings"] = longest;
    const auto window = reader.integer("sliding_window", 1);
    if (window)
        config["sliding_window"] = *window;
    if (const auto moe = reader.object("moe")) {
        config["model_type"] = "mixtral";
        config["num_local_experts"] = moe->needed_integer("num_experts", 1);
        config["num_experts_per_tok"] = moe->size("num_experts_per_tok", 2);
        config["intermediate_size"] =
            first_extent(tensors, "model.layers.0.block_sparse_moe.experts.0.w1.weight",
                         "layers.0.feed_forward.experts.0.w1.weight", source);
    } else {
        config["model_type"] = window ? "mistral" : "llama";
        config["intermediate_size"] = first_extent(tensors, "model.layers.0.mlp.gate_proj.weight",
                                                   "layers.0.feed_forward.w1.weight", source);
    }
    return config.dump();
}

} // namespace headscope::checkpoint
