#include "core/base/message.h"
#include "core/checkpoint/families/common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// The kinds of `pos_att_type`: a list, or one text with bars between them.
std::vector<std::string> position_kinds(const ConfigReader& reader) {
    const char* key = "pos_att_type";
    const nlohmann::json* const found = reader.find(key);
    std::vector<std::string> kinds;
    if (found == nullptr)
        return kinds;
    if (!found->is_string()) {
        kinds = reader.texts(key);
    } else {
        std::string kind;
        for (const char c : reader.text(key, "") + "|")
            if (c == '|') {
                kinds.push_back(std::move(kind));
                kind.clear();
            } else if (c != ' ') {
                kind += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            }
        std::erase(kinds, "");
    }
    if (!std::ranges::all_of(kinds, [](const std::string& kind) { return kind == "c2p" || kind == "p2c"; }))
        reader.refuse(key, tr("deberta_v2.position_kinds", "c2p, p2c, or both: \"p2c|c2p\""));
    return kinds;
}

/// A number that is below 1 where it is not set.
std::int64_t optional_count(const ConfigReader& reader, const char* key) {
    return reader.integer(key, std::numeric_limits<std::int32_t>::min()).value_or(-1);
}

RelativeRows relative_rows(const ConfigReader& reader, std::int64_t max_positions) {
    const char* const buckets_key = "position_buckets";
    const char* const furthest_key = "max_relative_positions";
    RelativeRows rows;
    const std::int64_t given = optional_count(reader, furthest_key);
    rows.furthest = given < 1 ? max_positions : given;
    rows.buckets = std::max<std::int64_t>(0, optional_count(reader, buckets_key));
    if (rows.buckets == 1)
        reader.refuse(buckets_key, tr("deberta_v2.least_buckets", "at least 2, or -1 for no buckets"));
    if (rows.buckets > 0 && rows.furthest - 1 == rows.buckets / 2)
        reader.refuse(
            given < 1 ? "max_position_embeddings" : furthest_key,
            tr("deberta_v2.furthest", "more than {} for {} = {}", rows.furthest, buckets_key, rows.buckets));
    rows.span = rows.buckets > 0 ? rows.buckets : rows.furthest;
    return rows;
}

bool norms_positions(const ConfigReader& reader) {
    std::string kinds = "|";
    for (const char c : reader.text("norm_rel_ebd", "none") + "|")
        if (c != ' ')
            kinds += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return kinds.find("|layer_norm|") != std::string::npos;
}

void add_head(const ConfigReader& reader, Architecture& a) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    const std::string own = "lm_predictions.lm_head.";
    if (!reader.flag("legacy", true)) {
        if (a.d_embed > 0)
            reader.refuse("legacy",
                          tr("deberta_v2.legacy",
                             "true: the head of newer files needs embeddings as wide as the layers"));
        a.tied = true;
        a.names.head =
            tensors_of({{own + "dense", linear, E::D, E::D, head_dense, head_dense_bias},
                        {own + "LayerNorm", vector, E::D, E::none, head_norm_weight, head_norm_bias},
                        {own.substr(0, own.size() - 1), table, E::vocab, E::D, W_U}});
        a.names.head.push_back({b_U, own + "bias", vector, E::vocab, E::none});
        return;
    }
    a.names.head = tensors_of({
        {"cls.predictions.transform.dense", linear, E::D, E::d_embed, head_dense, head_dense_bias},
        {"cls.predictions.transform.LayerNorm", vector, E::d_embed, E::none, head_norm_weight,
         head_norm_bias},
        {"cls.predictions.decoder", table, E::vocab, E::d_embed, W_U},
    });
    a.names.head.push_back({b_U, "cls.predictions.bias", vector, E::vocab, E::none});
    a.names.twins = {{b_U, "cls.predictions.decoder.bias"}};
    // Published files have the newer head and a configuration that does not say so.
    if (a.d_embed == 0)
        for (const auto& [weight, name] : {std::pair(head_dense, "dense.weight"),
                                           {head_dense_bias, "dense.bias"},
                                           {head_norm_weight, "LayerNorm.weight"},
                                           {head_norm_bias, "LayerNorm.bias"},
                                           {b_U, "bias"}})
            a.names.twins.emplace_back(weight, own + name);
}

} // namespace

/// BERT whose scores have terms by content and relative position (He et al. 2021, "DeBERTa"), with buckets of
/// distances and projections that queries, keys and positions share (He et al. 2023, "DeBERTaV3").
Architecture read_deberta_v2(const ConfigReader& reader) {
    using enum TensorId;
    using enum Layout;
    using E = Extent;
    if (optional_count(reader, "conv_kernel_size") > 0)
        reader.refuse("conv_kernel_size",
                      tr("deberta_v2.convolution", "0: the convolution after the first layer is not computed "
                                                   "here"));
    Architecture a = read_sizes(reader, "deberta-v2", {},
                                {.layers = 24,
                                 .D = 1536,
                                 .H = 24,
                                 .d_ff = 6144,
                                 .vocab = 128100,
                                 .max_positions = 512,
                                 .norm_eps = 1e-7});
    if (reader.size("attention_head_size", a.dk) != a.dk)
        reader.refuse("attention_head_size", std::to_string(a.dk));
    set_post_norm_encoder(a);
    a.mask_token = "[MASK]";
    a.token_types = reader.integer("type_vocab_size", 0).value_or(0);
    if (reader.flag("position_biased_input", true))
        set_learned_positions(a);
    if (const std::int64_t width = reader.size("embedding_size", a.D); width != a.D) {
        a.d_embed = width;
        a.map_before_norm = true;
    }
    const std::vector<std::string> kinds = position_kinds(reader);
    const bool has_c2p = std::ranges::count(kinds, "c2p") > 0, has_p2c = std::ranges::count(kinds, "p2c") > 0;
    // The terms count in the scale of the scores even where they are not computed.
    if (!kinds.empty())
        a.score_scale =
            1.0 / std::sqrt(static_cast<double>(a.dk * (1 + (has_c2p ? 1 : 0) + (has_p2c ? 1 : 0))));
    if (reader.flag("relative_attention", false) && !kinds.empty())
        a.relative =
            RelativeAttention{.rows = relative_rows(reader, a.max_positions), .c2p = has_c2p, .p2c = has_p2c};
    a.names = {
        .body = tensors_of({
            {"embeddings.word_embeddings", table, E::vocab, E::d_embed, W_E},
            {"embeddings.LayerNorm", vector, E::D, E::none, embedding_norm_weight, embedding_norm_bias},
            {"encoder.layer.{l}.attention.self.query_proj", linear, E::D, E::H_dk, W_Q, b_Q},
            {"encoder.layer.{l}.attention.self.key_proj", linear, E::D, E::Hkv_dk, W_K, b_K},
            {"encoder.layer.{l}.attention.self.value_proj", linear, E::D, E::Hkv_dk, W_V, b_V},
            {"encoder.layer.{l}.attention.output.dense", linear, E::H_dk, E::D, W_O, b_O},
            {"encoder.layer.{l}.attention.output.LayerNorm", vector, E::D, E::none, norm1_weight, norm1_bias},
            {"encoder.layer.{l}.intermediate.dense", linear, E::D, E::d_ff, W_in, b_in},
            {"encoder.layer.{l}.output.dense", linear, E::d_ff, E::D, W_out, b_out},
            {"encoder.layer.{l}.output.LayerNorm", vector, E::D, E::none, norm2_weight, norm2_bias},
        }),
        .head = {},
        .prefixes = {"deberta.", ""},
        .not_needed = {"embeddings.position_ids", "pooler.dense.", "mask_predictions."}};
    if (a.position_rows > 0)
        a.names.add({{"embeddings.position_embeddings", table, E::positions, E::d_embed, W_P}});
    else
        a.names.not_needed.emplace_back("embeddings.position_embeddings.");
    if (a.token_types > 0)
        a.names.add({{"embeddings.token_type_embeddings", table, E::token_types, E::d_embed, W_type}});
    if (a.d_embed > 0)
        a.names.add({{"embeddings.embed_proj", linear, E::d_embed, E::D, embedding_map}});
    if (a.relative) {
        a.names.add({{"encoder.rel_embeddings", table, E::distances, E::D, W_R}});
        if (norms_positions(reader))
            a.names.add({{"encoder.LayerNorm", vector, E::D, E::none, rel_norm_weight, rel_norm_bias}});
        const std::string self = "encoder.layer.{l}.attention.self.";
        const bool shared = reader.flag("share_att_key", false);
        if (has_c2p && !shared)
            a.names.add({{self + "pos_key_proj", linear, E::D, E::Hkv_dk, W_KR, b_KR}});
        if (has_p2c && !shared)
            a.names.add({{self + "pos_query_proj", linear, E::D, E::H_dk, W_QR, b_QR}});
    } else {
        a.names.not_needed.emplace_back("encoder.rel_embeddings.");
        a.names.not_needed.emplace_back("encoder.LayerNorm.");
    }
    add_head(reader, a);
    return a;
}

} // namespace headscope::checkpoint
