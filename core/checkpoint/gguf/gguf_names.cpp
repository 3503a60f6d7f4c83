#include "core/checkpoint/gguf/gguf_names.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace headscope::checkpoint {

namespace {

using W = TensorId;

struct GgufName {
    TensorId weight;
    std::string_view name; ///< without .weight or .bias; "{l}" stands for the layer
};

constexpr std::array gguf_names{GgufName{W::W_E, "token_embd.weight"},
                                GgufName{W::W_P, "position_embd.weight"},
                                GgufName{W::W_type, "token_types.weight"},
                                GgufName{W::embedding_norm_weight, "token_embd_norm.weight"},
                                GgufName{W::embedding_norm_bias, "token_embd_norm.bias"},
                                GgufName{W::final_norm_weight, "output_norm.weight"},
                                GgufName{W::final_norm_bias, "output_norm.bias"},
                                GgufName{W::W_U, "output.weight"},
                                GgufName{W::W_QKV, "blk.{l}.attn_qkv.weight"},
                                GgufName{W::b_QKV, "blk.{l}.attn_qkv.bias"},
                                GgufName{W::W_Q, "blk.{l}.attn_q.weight"},
                                GgufName{W::W_K, "blk.{l}.attn_k.weight"},
                                GgufName{W::W_V, "blk.{l}.attn_v.weight"},
                                GgufName{W::W_O, "blk.{l}.attn_output.weight"},
                                GgufName{W::b_Q, "blk.{l}.attn_q.bias"},
                                GgufName{W::b_K, "blk.{l}.attn_k.bias"},
                                GgufName{W::b_V, "blk.{l}.attn_v.bias"},
                                GgufName{W::b_O, "blk.{l}.attn_output.bias"},
                                GgufName{W::b_U, "output.bias"},
                                GgufName{W::W_DQ, "blk.{l}.attn_q_a.weight"},
                                GgufName{W::q_latent_norm, "blk.{l}.attn_q_a_norm.weight"},
                                GgufName{W::W_DKV, "blk.{l}.attn_kv_a_mqa.weight"},
                                GgufName{W::kv_latent_norm, "blk.{l}.attn_kv_a_norm.weight"},
                                GgufName{W::W_UKV, "blk.{l}.attn_kv_b.weight"},
                                GgufName{W::sink, "blk.{l}.attn_sinks.weight"},
                                GgufName{W::q_norm_all, "blk.{l}.attn_q_norm.weight"},
                                GgufName{W::k_norm_all, "blk.{l}.attn_k_norm.weight"},
                                GgufName{W::q_norm, "blk.{l}.attn_q_norm.weight"},
                                GgufName{W::k_norm, "blk.{l}.attn_k_norm.weight"},
                                GgufName{W::norm1_weight, "blk.{l}.attn_norm.weight"},
                                GgufName{W::norm1_bias, "blk.{l}.attn_norm.bias"},
                                GgufName{W::norm2_weight, "blk.{l}.ffn_norm.weight"},
                                GgufName{W::norm2_bias, "blk.{l}.ffn_norm.bias"},
                                GgufName{W::norm1_after_weight, "blk.{l}.post_attention_norm.weight"},
                                GgufName{W::norm2_after_weight, "blk.{l}.post_ffw_norm.weight"},
                                GgufName{W::mlp_gate_in, "blk.{l}.ffn_up.weight"},
                                GgufName{W::W_gate, "blk.{l}.ffn_gate.weight"},
                                GgufName{W::b_gate, "blk.{l}.ffn_gate.bias"},
                                GgufName{W::W_in, "blk.{l}.ffn_up.weight"},
                                GgufName{W::b_in, "blk.{l}.ffn_up.bias"},
                                GgufName{W::W_out, "blk.{l}.ffn_down.weight"},
                                GgufName{W::b_out, "blk.{l}.ffn_down.bias"},
                                GgufName{W::W_router, "blk.{l}.ffn_gate_inp.weight"},
                                GgufName{W::b_router, "blk.{l}.ffn_gate_inp.bias"},
                                GgufName{W::router_choice_bias, "blk.{l}.exp_probs_b.bias"},
                                GgufName{W::shared_gate, "blk.{l}.ffn_gate_inp_shexp.weight"},
                                GgufName{W::experts_gate_in, "blk.{l}.ffn_gate_up_exps.weight"},
                                GgufName{W::experts_gate_in_bias, "blk.{l}.ffn_gate_up_exps.bias"},
                                GgufName{W::expert_W_gate, "blk.{l}.ffn_gate_exps.weight"},
                                GgufName{W::expert_b_gate, "blk.{l}.ffn_gate_exps.bias"},
                                GgufName{W::expert_W_in, "blk.{l}.ffn_up_exps.weight"},
                                GgufName{W::expert_b_in, "blk.{l}.ffn_up_exps.bias"},
                                GgufName{W::expert_W_out, "blk.{l}.ffn_down_exps.weight"},
                                GgufName{W::expert_b_out, "blk.{l}.ffn_down_exps.bias"}};

/// In layers with experts: the MLP that every token uses.
constexpr std::array names_of_shared{GgufName{W::W_gate, "blk.{l}.ffn_gate_shexp.weight"},
                                     GgufName{W::W_in, "blk.{l}.ffn_up_shexp.weight"},
                                     GgufName{W::W_out, "blk.{l}.ffn_down_shexp.weight"}};

/// In older files: a tensor for each expert.
constexpr std::array names_of_single{GgufName{W::expert_W_gate, "blk.{l}.ffn_gate.{e}.weight"},
                                     GgufName{W::expert_W_in, "blk.{l}.ffn_up.{e}.weight"},
                                     GgufName{W::expert_W_out, "blk.{l}.ffn_down.{e}.weight"}};

/// Where norms follow the sums, as in BERT.
constexpr std::array names_after_sum{GgufName{W::norm1_weight, "blk.{l}.attn_output_norm.weight"},
                                     GgufName{W::norm1_bias, "blk.{l}.attn_output_norm.bias"},
                                     GgufName{W::norm2_weight, "blk.{l}.layer_output_norm.weight"},
                                     GgufName{W::norm2_bias, "blk.{l}.layer_output_norm.bias"}};

template<class Table>
const GgufName* find_name(const Table& table, TensorId weight) {
    const auto row = std::ranges::find(table, weight, &GgufName::weight);
    return row == table.end() ? nullptr : &*row;
}

const GgufName* name_of(const TensorName& row, const Architecture& a, bool single_experts) {
    if (a.norms.after_sum)
        if (const GgufName* const name = find_name(names_after_sum, row.weight))
            return name;
    if (row.layers == InLayers::mixtures)
        if (const GgufName* const name = find_name(names_of_shared, row.weight))
            return name;
    if (single_experts)
        if (const GgufName* const name = find_name(names_of_single, row.weight))
            return name;
    return find_name(gguf_names, row.weight);
}

bool has_ending(const GgufFile& file, std::string_view ending) {
    return std::ranges::any_of(file.entries(),
                               [&](const GgufEntry& entry) { return entry.name.ends_with(ending); });
}

/// Puts two rows in the place of a row that has twice their width.
void split_experts(TensorId whole, TensorId gate, TensorId in, Architecture& a) {
    const auto found = std::ranges::find(a.names.body, whole, &TensorName::weight);
    if (found == a.names.body.end())
        return;
    TensorName row = *found;
    a.names.body.erase(found);
    const bool vector = row.layout == Layout::expert_vectors;
    (vector ? row.in : row.out) = Extent::d_expert;
    for (const TensorId id : {gate, in}) {
        row.weight = id;
        a.names.body.push_back(row);
    }
}

/// Puts one row in the place of two.
void join_experts(TensorId gate, TensorId in, TensorId whole, Architecture& a) {
    const auto found = std::ranges::find(a.names.body, gate, &TensorName::weight);
    if (found == a.names.body.end())
        return;
    TensorName row = *found;
    row.weight = whole;
    row.out = Extent::two_d_expert;
    a.names.drop({gate, in});
    a.names.body.push_back(row);
}

/// Gates and inputs of experts are two tensors in most files, and one in some.
void match_experts(const GgufFile& file, Architecture& a) {
    if (has_ending(file, ".ffn_gate_up_exps.weight")) {
        join_experts(W::expert_W_gate, W::expert_W_in, W::experts_gate_in, a);
        a.expert_gate_in = GatePacking::gate_first;
        return;
    }
    split_experts(W::experts_gate_in, W::expert_W_gate, W::expert_W_in, a);
    split_experts(W::experts_gate_in_bias, W::expert_b_gate, W::expert_b_in, a);
}

/// Some files hold queries, keys and values in one tensor where the family has three.
void match_qkv(const GgufFile& file, Architecture& a) {
    const auto pack = [&](std::array<TensorId, 3> parts, TensorId whole, const char* name) {
        const TensorName* const first = find_row(a.names.body, parts.front());
        if (first == nullptr || a.latent || file.find(name) == nullptr)
            return;
        TensorName row = *first;
        row.weight = whole;
        (row.layout == Layout::vector ? row.in : row.out) = Extent::QKV;
        a.names.drop({parts[0], parts[1], parts[2]});
        a.names.body.push_back(row);
        a.qkv = QkvPacking::side_by_side;
    };
    pack({W::W_Q, W::W_K, W::W_V}, W::W_QKV, "blk.0.attn_qkv.weight");
    pack({W::b_Q, W::b_K, W::b_V}, W::b_QKV, "blk.0.attn_qkv.bias");
}

} // namespace

void take_gguf_names(const GgufFile& file, Architecture& a) {
    match_experts(file, a);
    match_qkv(file, a);
    const bool single_experts = has_ending(file, ".ffn_up.0.weight");
    for (std::vector<TensorName>* const rows : {&a.names.body, &a.names.head})
        for (TensorName& row : *rows) {
            if (const GgufName* const name = name_of(row, a, single_experts))
                row.name = name->name;
            // The format knows no other matrices.
            if (row.layout == Layout::conv1d)
                row.layout = Layout::linear;
            if (row.layout == Layout::experts || (row.layout == Layout::expert_linears && !single_experts))
                row.layout = Layout::experts_linear;
        }
    const auto rename = [&](TensorId weight, const char* name) {
        for (TensorName& row : a.names.body)
            if (row.weight == weight)
                row.name = name;
    };
    // Falcon's first norm is the second one in files of models that have two.
    if (file.find("blk.0.attn_norm_2.weight") != nullptr) {
        rename(W::norm1_weight, "blk.{l}.attn_norm_2.weight");
        rename(W::norm1_bias, "blk.{l}.attn_norm_2.bias");
        rename(W::norm2_weight, "blk.{l}.attn_norm.weight");
        rename(W::norm2_bias, "blk.{l}.attn_norm.bias");
    }
    if (a.latent && a.latent->query_rank > 0)
        rename(W::W_Q, "blk.{l}.attn_q_b.weight");
    if (a.family == "gpt_oss")
        rename(W::norm2_weight, "blk.{l}.post_attention_norm.weight");
}

} // namespace headscope::checkpoint
