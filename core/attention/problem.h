#pragma once

// Longer than 150 lines: one list of fields.

#include "core/attention/mask.h"
#include "core/base/message.h"
#include "core/tensor/dims.h"
#include "core/tensor/tensor.h"
#include "core/trace/stage_set.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

/// The projections of one layer, applied from the right (Y = X W + b, W stored (d_in, d_out)). Head h has
/// columns [h dk, (h+1) dk) of W_Q, the columns of its key/value head in W_K and W_V, and rows [h dv, (h+1)
/// dv) of W_O. Biases may be null.
struct Weights {
    TensorPtr W_Q; ///< (Dq, H dk)
    TensorPtr W_K; ///< (Dkv, Hkv dk)
    TensorPtr W_V; ///< (Dkv, Hkv dv)
    TensorPtr W_O; ///< (H dv, D)
    TensorPtr b_Q; ///< (H dk)
    TensorPtr b_K; ///< (Hkv dk)
    TensorPtr b_V; ///< (Hkv dv)
    TensorPtr b_O; ///< (D)
    /// (dk): weights of an RMSNorm (Zhang and Sennrich 2019) over each row of a query and key head, before
    /// the rotary position embedding (Henry et al. 2020, "Query-Key Normalization"). Both or neither.
    TensorPtr q_norm{}, k_norm{};
    TensorPtr v_norm{}; ///< (dv), or null: weights of an RMSNorm over each row of a value head
    /// (H dk) and (Hkv dk), instead of q_norm and k_norm: weights of one RMSNorm over the row of all heads
    /// together.
    TensorPtr q_norm_all{}, k_norm_all{};
    /// (H): logits of the attention sink. Each row's softmax includes the head's sink as one more key whose
    /// value is zero (OpenAI 2025, "gpt-oss-120b & gpt-oss-20b Model Card"), so that the weights of the keys
    /// add up to less than 1.
    TensorPtr sink{};
    /// (Dq, H dv), or null: the sigmoid of x W_G + b_G multiplies each number of the head outputs (Qiu et al.
    /// 2025, "Gated Attention for Large Language Models"). b_G, (H dv), may be null.
    TensorPtr W_G{}, b_G{};
    /// (D, H dk) and (H dk): make the keys and queries of relative positions. Null: W_K, b_K, W_Q and b_Q do.
    TensorPtr W_KR{}, b_KR{}, W_QR{}, b_QR{};
};

/// Terms of the scores by content and relative position (He et al. 2021, "DeBERTa", equation 4), at least one
/// of both: queries times keys of positions (c2p), and keys times queries of positions (p2c), which are made
/// of Problem::rel_positions. Self-attention only, with as many key/value heads as query heads.
struct RelativeTerms {
    RelativeRows rows;
    bool c2p = false, p2c = false;
    bool operator==(const RelativeTerms&) const = default;
};

/// Rotary position embedding (Su et al. 2021, "RoFormer"), in the order of Hugging Face's rotate_half: number
/// c of a query or key head becomes y[c] cos[c] + r[c] sin[c], where r[c] = -y[c + dk/2] in the first half of
/// the head and y[c - dk/2] in the second. q and k contain the numbers before the rotation, q_heads and
/// k_heads the numbers after it. Self-attention only, dk even.
struct Rotary {
    TensorPtr cos; ///< (B, Tq, dk), or (1, Tq, dk) for every batch entry
    TensorPtr sin; ///< same shape
};

/// All inputs that determine the numbers of one run. Cheap to copy: tensors are shared and never changed.
struct Problem {
    Dims dims;
    TensorPtr x;    ///< (B, Tq, Dq)
    TensorPtr x_kv; ///< (B, Tk, Dkv); null where keys and values come from x
    Weights weights;
    Mask mask;
    std::vector<float> gains;           ///< head gains, which multiply head_out before concat; empty: all 1
    float norm_eps = 1e-6F;             ///< added to the mean square by the norms on q and k; > 0
    float qkv_limit = 0.0F;             ///< q, k and v are clamped to [-limit, limit]; 0: no limit
    float score_cap = 0.0F;             ///< scaled becomes cap tanh(scaled / cap); 0: no cap
    float temperature = 1.0F;           ///< the scaled scores are divided by it; > 0
    std::vector<std::string> tokens;    ///< Tq labels, or empty
    std::vector<std::string> kv_tokens; ///< Tk labels if cross(), or empty
    std::optional<Rotary> rotary{};     ///< rotates q_heads and k_heads by their positions
    /// (Tq), or null: q_heads contains the queries times the number of their token. Not together with rotary.
    TensorPtr query_scale{};

    std::optional<RelativeTerms> relative{};
    TensorPtr rel_positions{}; ///< (distances, D), with `relative`; else null

    /// x_kv has a row for each token of x (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1); Tk equals Tq then.
    bool latent = false;

    bool has_source() const { return x_kv != nullptr; }
    /// Whether keys and values are those of other tokens.
    bool cross() const { return has_source() && !latent; }
    ProblemParts parts() const {
        const bool c2p = relative && relative->c2p, p2c = relative && relative->p2c;
        return {.cross = has_source(),
                .latent = latent,
                .relative_terms = c2p || p2c,
                .c2p = c2p,
                .p2c = p2c,
                .own_pos_keys = weights.W_KR != nullptr,
                .own_pos_queries = weights.W_QR != nullptr,
                .relative = relative ? relative->rows : RelativeRows(),
                .rotary = rotary.has_value(),
                .query_scale = query_scale != nullptr,
                .qk_norm = weights.q_norm != nullptr || weights.k_norm != nullptr,
                .value_norm = weights.v_norm != nullptr,
                .joint_norm = weights.q_norm_all != nullptr || weights.k_norm_all != nullptr,
                .qkv_limit = qkv_limit != 0.0F,
                .soft_cap = score_cap != 0.0F,
                .gated = weights.W_G != nullptr,
                .sink = weights.sink != nullptr,
                .tempered = temperature != 1.0F};
    }
    float gain(std::int64_t h) const { return gains.empty() ? 1.0F : gains[static_cast<std::size_t>(h)]; }
    /// An input tensor by its id: x, x_kv or a member of Weights. Null for stages, mask, gain and absent
    /// tensors.
    const Tensor* input(TensorId id) const;
    TensorPtr input_ptr(TensorId id) const;
    /// The member with that tensor, which may be null; a null pointer for stages, mask and gain.
    TensorPtr* input_slot(TensorId id);
    /// The label of query i or key j: the token, or its number if there are no tokens.
    std::string query_label(std::int64_t i) const;
    std::string key_label(std::int64_t j) const;
};

/// One field of a problem.
struct Field {
    std::string_view name;            ///< in project files
    Message label;                    ///< in messages
    std::optional<TensorId> row = {}; ///< of the stage table; empty for labels and for fields with two rows
    bool required = false;            ///< every problem has it
    Axis entries = Axis::none;        ///< of a list: the axis with its length, unless it is empty
};

/// Calls visit(field, value...) once for every field, with that field of each of the problems. A field is a
/// TensorPtr (a tensor that the user may edit), Dims, optional<Rotary>, optional<RelativeTerms>, Mask,
/// vector<float>, float or vector<string>.
template<class Visit, class... Problems>
void visit_fields(const Visit& visit, Problems&... p) {
    using enum TensorId;
    visit(Field{"dims", translatable("problem.sizes", "sizes")}, p.dims...);
    visit(Field{"x", untranslated("X"), x, true}, p.x...);
    visit(Field{"x_kv", untranslated("X_kv"), x_kv}, p.x_kv...);
    visit(Field{"W_Q", untranslated("W_Q"), W_Q, true}, p.weights.W_Q...);
    visit(Field{"W_K", untranslated("W_K"), W_K, true}, p.weights.W_K...);
    visit(Field{"W_V", untranslated("W_V"), W_V, true}, p.weights.W_V...);
    visit(Field{"W_O", untranslated("W_O"), W_O, true}, p.weights.W_O...);
    visit(Field{"b_Q", untranslated("b_Q"), b_Q}, p.weights.b_Q...);
    visit(Field{"b_K", untranslated("b_K"), b_K}, p.weights.b_K...);
    visit(Field{"b_V", untranslated("b_V"), b_V}, p.weights.b_V...);
    visit(Field{"b_O", untranslated("b_O"), b_O}, p.weights.b_O...);
    visit(Field{"q_norm", untranslated("q_norm"), q_norm}, p.weights.q_norm...);
    visit(Field{"k_norm", untranslated("k_norm"), k_norm}, p.weights.k_norm...);
    visit(Field{"v_norm", untranslated("v_norm"), v_norm}, p.weights.v_norm...);
    visit(Field{"q_norm_all", untranslated("q_norm_all"), q_norm_all}, p.weights.q_norm_all...);
    visit(Field{"k_norm_all", untranslated("k_norm_all"), k_norm_all}, p.weights.k_norm_all...);
    visit(Field{"sink", translatable("common.sink", "sink"), sink}, p.weights.sink...);
    visit(Field{"W_G", untranslated("W_G"), W_G}, p.weights.W_G...);
    visit(Field{"b_G", untranslated("b_G"), b_G}, p.weights.b_G...);
    visit(Field{"rel_positions", untranslated("rel_positions"), rel_positions}, p.rel_positions...);
    visit(Field{"W_KR", untranslated("W_KR"), W_KR}, p.weights.W_KR...);
    visit(Field{"b_KR", untranslated("b_KR"), b_KR}, p.weights.b_KR...);
    visit(Field{"W_QR", untranslated("W_QR"), W_QR}, p.weights.W_QR...);
    visit(Field{"b_QR", untranslated("b_QR"), b_QR}, p.weights.b_QR...);
    visit(Field{"relative", translatable("problem.relative_terms", "terms by relative position")},
          p.relative...);
    visit(Field{"norm_eps", translatable("problem.norms_queries_keys", "ε of the norms on queries and keys"),
                norm_eps},
          p.norm_eps...);
    visit(Field{"qkv_limit",
                translatable("problem.limit_queries_keys_values", "limit of queries, keys and values"),
                qkv_limit},
          p.qkv_limit...);
    visit(Field{"score_cap", translatable("problem.soft_cap", "soft cap"), score_cap}, p.score_cap...);
    visit(Field{"rotary", translatable("problem.rotary_table_2", "rotary table")}, p.rotary...);
    visit(Field{"query_scale", untranslated("query_scale"), query_scale}, p.query_scale...);
    visit(Field{"mask", translatable("common.mask", "mask"), mask}, p.mask...);
    visit(Field{"gains", translatable("problem.gains", "head gains"), gain, false, Axis::H}, p.gains...);
    visit(Field{"temperature", translatable("common.temperature", "temperature"), temperature},
          p.temperature...);
    visit(Field{"tokens", translatable("common.tokens_2", "tokens"), {}, false, Axis::Tq}, p.tokens...);
    visit(Field{"kv_tokens", translatable("problem.key_tokens", "key tokens"), {}, false, Axis::Tk},
          p.kv_tokens...);
}

/// Returns true for tensors that the user can edit: x, x_kv and the members of Weights, not query_scale.
bool is_editable(TensorId id);

/// The numbers of an input, including the rotary tables; null if the problem has no such tensor.
TensorPtr input_tensor(const Problem& problem, TensorId id);

/// Infers the sizes from the tensors: dk = W_Q columns / H, dv = W_V columns / Hkv. Hkv absent: H. Throws
/// Error(input) with the tensor's name if a size is missing, zero or does not divide.
Dims infer_dims(const TensorPtr& x, const TensorPtr& x_kv, const Weights& weights, std::int64_t H,
                std::optional<std::int64_t> Hkv);

/// Throws Error(input) with one sentence that names the first invalid tensor, its value and the expected
/// value: shapes against dims, H divisible by Hkv, empty inputs, NaN or infinity in x, weights or biases,
/// gains, temperature, token counts, masks, rotary tables.
void validate(const Problem& problem);

} // namespace headscope
