#pragma once

#include "core/checkpoint/architecture/delta.h"
#include "core/checkpoint/architecture/latent.h"
#include "core/checkpoint/architecture/name_map.h"
#include "core/checkpoint/architecture/norms.h"
#include "core/checkpoint/architecture/positions.h"
#include "core/checkpoint/architecture/stream_copies.h"
#include "core/checkpoint/model/model_config.h"
#include "core/checkpoint/model/stacks.h"
#include "core/graph/attributes.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// Everything that decides what a checkpoint computes, but for its weights. A family's file makes it from
/// config.json, and graph_of makes the graph of it; nothing outside of core/checkpoint reads more of it than
/// its ModelConfig. Which biases there are is what `names` lists.
struct Architecture : ModelConfig {
    NameMap names;
    std::shared_ptr<const Architecture> encoder_architecture; ///< of `encoder`, the same object

    std::vector<std::int64_t> d_ffs; ///< per layer; empty: d_ff in all
    std::int64_t d_shared = 0;       ///< same of the MLP for all tokens beside the experts; 0: there is none
    std::int64_t d_expert = 0;       ///< same of each expert
    std::int64_t experts = 0;        ///< MLPs per layer of which a token uses some; 0: one for all
    std::vector<bool> mixtures;      ///< per layer whether it has the experts; empty: all have, or none
    graph::Route route;              ///< how many, and which fraction of each one's output a token gets
    graph::Experts expert_input;     ///< whether the fraction multiplies the input instead
    graph::Gate expert_gate;         ///< of experts, whose activation is not `activation`

    // The embedding.
    std::int64_t position_rows = 0;        ///< of the position table; 0: there is none
    Sinusoids sinusoids = Sinusoids::none; ///< the table is computed
    std::int64_t position_offset = 0;      ///< the row of the first token
    PositionCount position_count = PositionCount::every_token;
    std::int64_t pad_id = 0;
    std::int64_t token_types = 0;  ///< rows of the token type table; 0: there is none
    bool word_token_types = false; ///< token types are rows of the word table, as in GPT-2
    double embedding_scale = 1.0;  ///< multiplies the word embedding; above 0
    bool embedding_norm = false;
    /// Width of the embeddings, of their norm and of the rows of the head's table; a linear map brings what
    /// the norm returns to D. 0: D, without a map.
    std::int64_t d_embed = 0;
    bool map_before_norm = false; ///< the norm reads what the map returns, D wide

    // Norms and residual.
    NormKind norm = NormKind::layer;
    double norm_eps = 0.0; ///< above 0
    NormPlaces norms;
    bool final_norm = false;
    bool final_norm_in_head = false; ///< the last hidden state is the one before it
    Residual residual = Residual::serial;
    double branch_scale = 1.0;          ///< multiplies what attention and MLP add to the residual stream
    std::optional<StreamCopies> copies; ///< of the residual stream; with norms before and after branches

    // Attention.
    std::optional<LatentAttention> latent;            ///< keys and values come from a narrow vector
    std::optional<DeltaLayers> delta;                 ///< in place of the attention of some layers
    std::vector<std::optional<std::int64_t>> windows; ///< per layer, if it has one. Causal: how many keys
                                                      ///< back, itself included; else how far to each side
    std::vector<std::optional<std::int64_t>> chunks;  ///< same, causal: keys of a chunk; see graph::Mask
    QkvPacking qkv = QkvPacking::separate;
    QkNorm qk_norm = QkNorm::none;
    bool value_norm = false;           ///< RMSNorm over each value head, without weights
    double qkv_limit = 0.0;            ///< q, k and v are cut to [-limit, limit]; 0: they are not
    std::optional<double> score_scale; ///< multiplies the scores; absent: 1/sqrt(dk)
    bool divide_by_layer = false;      ///< scores are divided by the number of the layer, counted from 1
    double score_cap = 0.0;            ///< cap tanh(score / cap); 0: none
    Alibi alibi = Alibi::none;
    std::optional<DistanceBuckets> buckets;    ///< a bias per head and bucket is added to the scaled scores
    std::optional<RelativeAttention> relative; ///< terms by content and position are part of the scores
    std::int64_t rotary_width = 0; ///< numbers of a query or key head that turn, the first or, with
                                   ///< `latent`, the last: 0, or even and at most dk, which is even
    RotaryPairs rotary_pairs = RotaryPairs::halves;
    std::vector<Rope> ropes;
    std::vector<std::optional<std::size_t>> layer_rope; ///< per layer: which of `ropes`, if any
    std::optional<QueryScale> query_scale;              ///< of layers without rotary positions

    // MLP and head.
    graph::Function activation = graph::Function::gelu;
    std::vector<std::optional<double>> gate_cutoffs;   ///< per layer; see graph::GaussianTopK. Empty: none
    GatePacking gate = GatePacking::separate;          ///< of models whose MLP has a gate
    GatePacking expert_gate_in = GatePacking::in_turn; ///< of files that hold both in one tensor
    graph::Function head_activation =
        graph::Function::gelu; ///< after the head's own dense layer, if it has one
    double head_scale = 1.0;   ///< multiplies what the head reads; above 0
    double logit_cap = 0.0;    ///< cap tanh(logit / cap); 0: none

    /// What the scaled scores of layer l are divided by on top of sqrt(dk).
    double temperature(std::int64_t l) const;
    std::int64_t Dkv() const { return latent ? latent->rank + rotary_width : D; }
    /// As Dims::Dq.
    std::int64_t Dq() const { return latent ? latent->query_rank : 0; }
    /// Whether what attention and MLP return is normed or scaled before it is added.
    bool changes_branches() const { return norms.after_branch || branch_scale != 1.0; }
    bool has_rotary(std::int64_t l) const { return layer_rope[static_cast<std::size_t>(l)].has_value(); }
    bool has_plain_norm(std::int64_t l) const { return qk_norm == QkNorm::per_head_plain && has_rotary(l); }
    /// The cutoff of the MLP's gates in layer l, if it has one.
    std::optional<double> gate_cutoff(std::int64_t l) const;
    /// Whether tokens of layer l use some of several experts.
    bool has_experts(std::int64_t l) const;
    /// The width inside the MLP that every token of layer l uses; 0: there is none.
    std::int64_t mlp_width(std::int64_t l) const;
    std::int64_t embed_width() const { return d_embed > 0 ? d_embed : D; }

    /// Makes this the decoder of an encoder-decoder.
    void set_encoder(Architecture own);
    /// Sets what follows from the rest: the facts of ModelConfig about shared weights, copies of the
    /// residual stream and longest_text. Called once, when all else is set.
    void complete();
};

/// The encoder where the stack is one of an encoder-decoder, else the architecture itself.
const Architecture& in_stack(const Architecture& architecture, Stack stack);

/// Throws Error(input) with a sentence that names the first thing which is not computed; `source`: the file.
void require_supported(const Architecture& architecture, const std::string& source);

} // namespace headscope::checkpoint
