#pragma once

#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/families/rope_config.h"
#include "core/checkpoint/files/config_reader.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

// What the families' files share. Each function reads keys of config.json and throws Error(input) naming the
// key, what it has and what it should have.

/// How a family spells the sizes. A null key: the file does not say it. The common spelling of layers, D, H
/// or max_positions, where a file has it, comes before the family's own: Hugging Face's classes set it last.
struct SizeKeys {
    const char* layers = "num_hidden_layers";
    const char* D = "hidden_size";
    const char* H = "num_attention_heads";
    const char* d_ff = "intermediate_size";
    const char* max_positions = "max_position_embeddings";
    const char* norm_eps = "layer_norm_eps";
    const char* activation = "hidden_act";
    const char* head_dim = nullptr;                        ///< null: heads are D / H wide
    bool own_layers = false, own_D = false, own_H = false; ///< true: the common spelling is of another size
};

/// What the family's configuration class takes where a key is missing.
struct SizeDefaults {
    std::int64_t layers = 12, D = 768, H = 12;
    std::int64_t d_ff = 0; ///< 0: 4 D
    std::int64_t vocab = 0, max_positions = 0;
    std::int64_t head_dim = 0; ///< 0: D / H
    double norm_eps = 1e-5;
    const char* activation = "gelu";
    bool tied = true;
};

/// Sizes, eps, activation, tied tables and dtype; full attention in every layer; as many key/value heads as
/// query heads, of width D / H.
Architecture read_sizes(const ConfigReader& reader, const char* family, const SizeKeys& keys,
                        const SizeDefaults& defaults);

/// Hkv, where a missing key means `usual` or, where that is 0, H; null means H.
void read_grouped_heads(const ConfigReader& reader, std::int64_t usual, Architecture& architecture,
                        const char* key = "num_key_value_heads");

/// GPT-2's frame: causal, LayerNorm before attention and MLP and at the end.
void set_pre_norm_decoder(Architecture& architecture);
/// BERT's frame: every token reads every other, LayerNorm after the embedding and after each residual sum.
void set_post_norm_encoder(Architecture& architecture);
/// A learned position table of max_positions rows, whose first token has row 0.
void set_learned_positions(Architecture& architecture);

/// What sets a Llama-like family apart.
struct LlamaLike {
    const char* family;
    SizeDefaults defaults;
    std::int64_t Hkv = 0; ///< where num_key_value_heads is missing; 0: H
    RopeKeys rope{.whole = true};
    const char* activation = "hidden_act";
    const char* norm_eps = "rms_norm_eps";
    const char* head_dim = "head_dim"; ///< null: heads are D / H wide
};
struct LlamaBiases {
    bool qkv = false, out = false, mlp = false;
};
/// Llama's frame and names: causal, RMSNorm before attention and MLP and at the end, rotary positions, an
/// MLP with a gate, grouped key/value heads, head_dim. No biases and no windows: those are the family's.
Architecture read_llama_like(const ConfigReader& reader, const LlamaLike& family,
                             const LlamaBiases& biases = {});
NameMap llama_names(const LlamaBiases& biases);
/// Makes the norms of Llama's frame LayerNorms, with or without biases.
void use_layer_norms(Architecture& architecture, bool biased);

/// Puts the file's gate and up projections into one tensor, the gate's rows first.
void use_fused_gate(Architecture& architecture);

/// Experts that a token uses, where a missing key means `usual`: at least 1, at most `experts`.
std::int64_t used_experts(const ConfigReader& reader, const char* key, std::int64_t usual,
                          std::int64_t experts);
/// How a family calls the tensors of its mixtures: of a layer, and of one expert, where "{e}" is its number.
struct MixtureNames {
    const char *router, *gate, *in, *out;
    const char* shared = nullptr; ///< module of the MLP for all tokens, which d_shared announces
};
/// Gives the layers of `mixtures` a mixture of experts in place of the MLP, each with an MLP of its own of
/// the same activation, d_expert wide, and beside them one for all tokens, d_shared wide. The tensors are
/// those of a family like Llama.
void set_mixture(const MixtureNames& names, Architecture& architecture);

/// The activation that a key names, or the usual one where it is missing.
graph::Function read_activation(const ConfigReader& reader, const char* key, const char* usual);
/// The one of that name, which `key` gave.
graph::Function activation_named(const ConfigReader& reader, const char* key, const std::string& name);

/// Gives a window to the layers that slide: those layer_types names, or where it is missing those `slides`
/// names. A missing key means `usual`, null means that no layer has one.
void read_windows(const ConfigReader& reader, std::optional<std::int64_t> usual,
                  const std::function<bool(std::int64_t l)>& slides, Architecture& architecture,
                  const char* key = "sliding_window");

/// Gives every layer the same window, whatever layer_types lists. A missing key means `usual`.
void read_one_window(const ConfigReader& reader, std::optional<std::int64_t> usual,
                     Architecture& architecture);

/// The encoder of BERT and RoBERTa, which have the same keys and names; without prefixes and head.
Architecture read_bert_like(const ConfigReader& reader, const char* family, const SizeDefaults& defaults);

/// Where a multimodal configuration has its language model.
struct NestedText {
    const char* family;
    const char* usual_type; ///< model_type of the language model where the file does not say it
    /// The keys that lead to its object, outermost first.
    std::vector<const char*> keys{"text_config"};
    bool own_type = true;        ///< false: any decoder with Llama's names of tensors
    bool at_top = false;         ///< a file without the object has the language model's keys at the top
    const char* defaults = "{}"; ///< JSON of a file without the object
};
/// Reads the language model of a multimodal configuration, under the names that its tensors have there. The
/// parts for images and sound are not read.
Architecture read_nested_text(const ConfigReader& reader, const NestedText& nested);
/// Reads a configuration by the family's name, which is not that of a multimodal one. Throws Error(input) for
/// other names.
Architecture read_text_family(const std::string& family, const ConfigReader& reader);

/// What sets a relative of BART apart (Lewis et al. 2020).
struct BartLike {
    const char* family;
    std::int64_t vocab, start_id;
    bool norms_before = false;   ///< and one at the end of each stack; else behind each sum
    bool embedding_norm = false; ///< and learned positions from row 2 on; else sinusoids from row 0 on
};
/// An encoder-decoder with BART's keys and names.
Architecture read_bart_like(const ConfigReader& reader, const BartLike& family);

} // namespace headscope::checkpoint
