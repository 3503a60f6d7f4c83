#include "core/checkpoint/gguf/gguf_architecture.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/gguf/gguf_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

using W = WeightId;

struct GgufName {
    WeightId weight;
    std::string_view name; ///< without .weight or .bias; "{l}" stands for the layer
};

constexpr std::array gguf_names{GgufName{W::word_table, "token_embd.weight"},
                                GgufName{W::position_table, "position_embd.weight"},
                                GgufName{W::token_type_table, "token_types.weight"},
                                GgufName{W::embedding_norm_weight, "token_embd_norm.weight"},
                                GgufName{W::embedding_norm_bias, "token_embd_norm.bias"},
                                GgufName{W::final_norm_weight, "output_norm.weight"},
                                GgufName{W::final_norm_bias, "output_norm.bias"},
                                GgufName{W::output_table, "output.weight"},
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
                                GgufName{W::q_norm, "blk.{l}.attn_q_norm.weight"},
                                GgufName{W::k_norm, "blk.{l}.attn_k_norm.weight"},
                                GgufName{W::norm1_weight, "blk.{l}.attn_norm.weight"},
                                GgufName{W::norm1_bias, "blk.{l}.attn_norm.bias"},
                                GgufName{W::norm2_weight, "blk.{l}.ffn_norm.weight"},
                                GgufName{W::norm2_bias, "blk.{l}.ffn_norm.bias"},
                                GgufName{W::norm1_after_weight, "blk.{l}.post_attention_norm.weight"},
                                GgufName{W::norm2_after_weight, "blk.{l}.post_ffw_norm.weight"},
                                GgufName{W::mlp_gate_in, "blk.{l}.ffn_up.weight"},
                                GgufName{W::mlp_gate, "blk.{l}.ffn_gate.weight"},
                                GgufName{W::mlp_gate_bias, "blk.{l}.ffn_gate.bias"},
                                GgufName{W::mlp_in, "blk.{l}.ffn_up.weight"},
                                GgufName{W::mlp_in_bias, "blk.{l}.ffn_up.bias"},
                                GgufName{W::mlp_out, "blk.{l}.ffn_down.weight"},
                                GgufName{W::mlp_out_bias, "blk.{l}.ffn_down.bias"}};

/// Where norms follow the sums, as in BERT.
constexpr std::array names_after_sum{GgufName{W::norm1_weight, "blk.{l}.attn_output_norm.weight"},
                                     GgufName{W::norm1_bias, "blk.{l}.attn_output_norm.bias"},
                                     GgufName{W::norm2_weight, "blk.{l}.layer_output_norm.weight"},
                                     GgufName{W::norm2_bias, "blk.{l}.layer_output_norm.bias"}};

template<class Table>
const GgufName* find_name(const Table& table, WeightId weight) {
    const auto row = std::ranges::find(table, weight, &GgufName::weight);
    return row == table.end() ? nullptr : &*row;
}

/// What the format has no tensor for keeps its name of Hugging Face, and so is missing.
void rename(std::vector<TensorName>& rows, const Architecture& a) {
    for (TensorName& row : rows) {
        const GgufName* name = a.norms.after_sum ? find_name(names_after_sum, row.weight) : nullptr;
        if (name == nullptr)
            name = find_name(gguf_names, row.weight);
        if (name != nullptr)
            row.name = name->name;
        if (row.layout == Layout::conv1d)
            row.layout = Layout::linear; // the format knows no other matrices
    }
}

/// Some families know biases on queries, keys, values and output together; files may have the first three.
void drop_missing_bias(WeightId bias, const GgufFile& file, Architecture& a) {
    std::erase_if(a.names.body, [&](const TensorName& row) {
        return row.weight == bias && file.find(full_name(row, "", 0)) == nullptr;
    });
}

} // namespace

Architecture read_gguf_architecture(const GgufFile& file) {
    const nlohmann::json config = gguf_config(file);
    Architecture a = read_architecture(dump_json(config), file.source());
    rename(a.names.body, a);
    rename(a.names.head, a);
    a.names.prefixes = {""};
    a.names.not_needed = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                          "cls."}; // a classifier on top of BERT
    a.names.twins.clear();
    const std::string architecture = *file.metadata().text("general.architecture");
    if (architecture == "llama")
        a.rotary_pairs = RotaryPairs::neighbours;
    if (architecture == "llama" || architecture == "cohere2" || architecture == "nemotron")
        drop_missing_bias(W::b_O, file, a);
    if (a.qkv == QkvPacking::by_head)
        a.qkv = QkvPacking::side_by_side;
    if (adds_one(a.norm)) // the file has it added
        a.norm = is_layer_norm(a.norm) ? NormKind::layer : NormKind::rms;
    return a;
}

} // namespace headscope::checkpoint
