#include "core/checkpoint/families/families.h"

#include "core/base/file.h"
#include "core/checkpoint/model/rope.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"

#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

Architecture family(const char* name, json more = json::object()) {
    more["model_type"] = name;
    return read_architecture(more.dump(), "config.json");
}

std::string family_fault(const char* name, const json& more) {
    return input_error([&] { family(name, more); });
}

/// Moves the rotary settings to where transformers 5 writes them.
void renew_rope(json& config) {
    json rope = config.value("rope_scaling", json());
    if (!rope.is_object())
        rope = {{"rope_type", "default"}};
    for (const auto& [old, now] : {std::pair("rope_theta", "rope_theta"),
                                   {"rotary_emb_base", "rope_theta"},
                                   {"partial_rotary_factor", "partial_rotary_factor"},
                                   {"rotary_pct", "partial_rotary_factor"}})
        if (config.contains(old)) {
            rope[now] = config[old];
            config.erase(old);
        }
    config.erase("rope_scaling");
    if (rope.size() > 1)
        config["rope_parameters"] = rope;
}

/// The config as transformers 5 writes it.
json newer(json config) {
    renew_rope(config);
    if (config.contains("text_config"))
        renew_rope(config["text_config"]);
    config["dtype"] = config.at("torch_dtype");
    config.erase("torch_dtype");
    return config;
}

} // namespace

TEST_CASE("a config says the same in the spelling of transformers 4 and 5") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const std::string text = read_file(load_model_case(name).folder + "/config.json");
        const Architecture old = read_architecture(text, "config.json");
        const Architecture now = read_architecture(newer(json::parse(text)).dump(), "config.json");
        CHECK(now.dtype == old.dtype);
        CHECK_FALSE(now.dtype.empty());
        CHECK(now.rotary_width == old.rotary_width);
        CHECK(now.layer_rope == old.layer_rope);
        REQUIRE(now.ropes.size() == old.ropes.size());
        for (std::size_t r = 0; r < now.ropes.size(); ++r)
            CHECK(rotary_frequencies(now, now.ropes[r], 40) == rotary_frequencies(old, old.ropes[r], 40));
    }
}

TEST_CASE("Gemma 3n's last layers share keys, its first gates are sparse, and one copy is active") {
    const json sizes = {{"num_hidden_layers", 6},
                        {"num_kv_shared_layers", 2},
                        {"layer_types",
                         {"sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
                          "full_attention", "sliding_attention"}}};
    const auto with = [&](const json& more) {
        json config = sizes;
        config.update(more);
        return family("gemma3n_text", config);
    };
    const auto fault_with = [&](const json& more) {
        json config = sizes;
        config.update(more);
        return family_fault("gemma3n_text", config);
    };
    const Architecture usual = with(json::object());
    CHECK(usual.key_layers == std::vector<std::int64_t>{0, 1, 2, 3, 1, 3});
    CHECK(usual.key_layer(5) == 3);
    CHECK(with({{"num_kv_shared_layers", 0}}).key_layer(5) == 5);
    CHECK(usual.value_norm);
    CHECK(usual.temperature(0) * std::sqrt(256.0) == Approx(1)); // scores are not divided
    CHECK(usual.logit_cap == 30);
    CHECK(with({{"final_logit_softcapping", nullptr}}).logit_cap == 0);
    REQUIRE(usual.copies.has_value());
    CHECK(usual.copies->count == 4);
    CHECK(usual.copies->active == 0);
    CHECK_FALSE(usual.gate_cutoff(0).has_value()); // ten layers or fewer
    // As a table of the normal distribution has them.
    const Architecture sparse = with({{"activation_sparsity_pattern", {0.95, 0.5, 0.001, 0, 0.99, 0.8}}});
    CHECK(sparse.gate_cutoff(0).value() == Approx(1.6448536269514722).epsilon(1e-13));
    CHECK(sparse.gate_cutoff(1).value() == Approx(0).margin(1e-15));
    CHECK(sparse.gate_cutoff(2).value() == Approx(-3.0902323061678132).epsilon(1e-13));
    CHECK_FALSE(sparse.gate_cutoff(3).has_value());
    CHECK(sparse.gate_cutoff(4).value() == Approx(2.3263478740408408).epsilon(1e-13));
    CHECK(family("gemma3n_text", {}).gate_cutoff(9).has_value());
    CHECK_FALSE(family("gemma3n_text", {}).gate_cutoff(10).has_value());
    CHECK(with({{"intermediate_size", {7, 8, 9, 7, 7, 7}}}).mlp_width(2) == 9);
    CHECK(with({{"intermediate_size", {7, 7, 7, 7, 7, 7}}}).mlp_width(2) == 7);
    CHECK_THAT(fault_with({{"intermediate_size", {7, 8}}}), Contains("intermediate_size") && Contains("6"));
    CHECK_THAT(fault_with({{"activation_sparsity_pattern", {0.5}}}),
               Contains("activation_sparsity_pattern") && Contains("6 numbers"));
    CHECK_THAT(fault_with({{"activation_sparsity_pattern", {1.0, 0, 0, 0, 0, 0}}}), Contains("below 1"));
    CHECK_THAT(fault_with({{"altup_active_idx", 4}}), Contains("altup_active_idx is 4"));
    CHECK_THAT(fault_with({{"num_kv_shared_layers", 6}}), Contains("num_kv_shared_layers is 6"));
    CHECK_THAT(fault_with({{"num_kv_shared_layers", 5}}), Contains("each type")); // no full layer is left
}

TEST_CASE("SmolLM3 leaves out the rotary positions of the layers it names, else of every fourth") {
    using Ropes = std::vector<std::optional<std::size_t>>;
    CHECK(family("smollm3", {{"num_hidden_layers", 5}}).layer_rope == Ropes{0, 0, 0, std::nullopt, 0});
    CHECK(family("smollm3", {{"num_hidden_layers", 3}, {"no_rope_layers", {0, 1, 0}}}).layer_rope ==
          Ropes{std::nullopt, 0, std::nullopt});
    const Architecture sliding =
        family("smollm3", {{"num_hidden_layers", 4}, {"use_sliding_window", true}, {"sliding_window", 7}});
    CHECK(sliding.windows == std::vector<std::optional<std::int64_t>>{{}, {}, {}, 7});
    CHECK(sliding.ropes.at(0).theta == 2e6);
    CHECK_THAT(family_fault("smollm3", {{"no_rope_layers", {1}}}),
               Contains("no_rope_layers is [1]") && Contains("36 layers"));
    CHECK_THAT(family_fault("smollm3", {{"no_rope_layers", {1, -1}}}), Contains("whole number from 0"));
}

TEST_CASE("Llama 4's layers rotate within chunks, or scale queries and attend to the whole text") {
    using Ropes = std::vector<std::optional<std::size_t>>;
    using Chunks = std::vector<std::optional<std::int64_t>>;
    const json sizes = {{"num_hidden_layers", 4}, {"attention_chunk_size", 7}};
    const auto with = [&](const json& more) {
        json config = sizes;
        config.update(more);
        return family("llama4_text", config);
    };
    const Architecture usual = with(json::object());
    CHECK(usual.layer_rope == Ropes{0, 0, 0, std::nullopt});
    CHECK(usual.chunks == Chunks{7, 7, 7, {}});
    CHECK(usual.qk_norm == QkNorm::per_head_plain);
    CHECK(usual.has_plain_norm(2));
    CHECK_FALSE(usual.has_plain_norm(3));
    CHECK(usual.expert_input.scaled_input);
    CHECK(usual.has_experts(0));
    REQUIRE(usual.query_scale.has_value());
    CHECK(usual.query_scale->at(8190) == 1.0);
    CHECK(usual.query_scale->at(8191) == Approx(1.0 + 0.1 * std::log(2.0)));
    // First releases wrote a number for the flag.
    CHECK(with({{"attn_temperature_tuning", 4}}).query_scale == usual.query_scale);
    CHECK_FALSE(with({{"attn_temperature_tuning", 0}}).query_scale.has_value());
    const Architecture other =
        with({{"no_rope_layers", {0, 1, 1, 1}}, {"moe_layers", {1}}, {"use_qk_norm", false}});
    CHECK(other.layer_rope == Ropes{std::nullopt, 0, 0, 0});
    CHECK(other.chunks == Chunks{{}, 7, 7, 7});
    CHECK(other.qk_norm == QkNorm::none);
    CHECK(other.mixtures == std::vector<bool>{false, true, false, false});
    CHECK(other.mlp_width(0) == 16384);
    CHECK(other.mlp_width(1) == 8192);
    CHECK(with({{"layer_types", {"full_attention", "full_attention", "full_attention", "chunked_attention"}}})
              .chunks == Chunks{{}, {}, {}, 7});
    CHECK(with({{"attention_chunk_size", nullptr}}).chunks == Chunks{{}, {}, {}, {}});
    // MobileLLM-R1 has no experts, and says 0 of what it lacks.
    const Architecture dense = with({{"moe_layers", json::array()},
                                     {"interleave_moe_layer_step", 0},
                                     {"num_local_experts", 0},
                                     {"num_experts_per_tok", 0},
                                     {"no_rope_layer_interval", 0},
                                     {"no_rope_layers", {1, 1, 1, 1}}});
    CHECK(dense.experts == 0);
    CHECK(dense.mlp_width(3) == 16384);
    CHECK_THAT(family_fault("llama4_text", {{"no_rope_layers", {1}}}),
               Contains("no_rope_layers is [1]") && Contains("48 layers"));
    CHECK_THAT(family_fault("llama4_text", {{"layer_types", {"full_attention"}}}),
               Contains("layer_types") && Contains("chunked_attention"));
    CHECK_THAT(family_fault("llama4_text", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}}),
               Contains("rope_scaling") && Contains("use_qk_norm"));
    CHECK_THAT(family_fault("llama4_text", {{"num_experts_per_tok", 17}}), Contains("num_experts_per_tok"));
}

TEST_CASE("GPT-Neo's local layers have a window, and its scores are not divided") {
    const json sizes = {{"num_layers", 3}, {"hidden_size", 32}, {"num_heads", 2}, {"window_size", 9}};
    const auto with = [&](const json& types) {
        json config = sizes;
        config["attention_types"] = types;
        return config;
    };
    using Windows = std::vector<std::optional<std::int64_t>>;
    CHECK(family("gpt_neo", sizes).windows == Windows{{}, 9, {}});
    const json local_first = json::parse(R"([[["local"], 2], [["global"], 1]])");
    CHECK(family("gpt_neo", with(local_first)).windows == Windows{9, 9, {}});
    CHECK(family("gpt_neo", sizes).temperature(0) == Approx(1 / std::sqrt(16.0)));
    for (const char* wrong : {R"([[["global"], 2]])", R"([[["global"], 4]])", R"([[["near"], 3]])",
                              R"([["global", 3]])", "3", R"([[[], 1000000000]])", R"([[["global"], -1]])"})
        CHECK_THAT(family_fault("gpt_neo", with(json::parse(wrong))),
                   Contains("attention_types is") && Contains("3 layers"));
}

TEST_CASE("OPT's norms stand before or after, and what its larger kin have is refused") {
    const Architecture before = family("opt"), after = family("opt", {{"do_layer_norm_before", false}});
    CHECK((before.norms.before && !before.norms.after_sum && before.final_norm));
    CHECK((after.norms.after_sum && !after.norms.before && !after.final_norm));
    CHECK(before.position_rows == 2050);
    CHECK(before.longest_text == 2048);
    CHECK_THAT(family_fault("opt", {{"word_embed_proj_dim", 512}}), Contains("word_embed_proj_dim is 512"));
    CHECK(find_row(before.names.body, TensorId::final_norm_weight) != nullptr);
    const Architecture bare = family("opt", {{"layer_norm_elementwise_affine", false}});
    for (const TensorId norm : {TensorId::norm1_weight, TensorId::norm2_bias, TensorId::final_norm_weight})
        CHECK(find_row(bare.names.body, norm) == nullptr);
}

TEST_CASE("the generations of Falcon differ in key heads, norms and residual") {
    const json sizes = {{"hidden_size", 64}, {"num_attention_heads", 8}};
    const auto with = [&](json more) {
        more.update(sizes);
        return family("falcon", more);
    };
    const Architecture first = with({{"multi_query", false}, {"parallel_attn", false}}), second = with({}),
                       third = with({{"new_decoder_architecture", true}, {"num_kv_heads", 2}});
    CHECK((first.Hkv == 8 && first.qkv == QkvPacking::by_head && first.residual == Residual::serial));
    CHECK((second.Hkv == 1 && second.qkv == QkvPacking::side_by_side &&
           second.residual == Residual::parallel_one_norm));
    CHECK((third.Hkv == 2 && third.qkv == QkvPacking::by_head && third.residual == Residual::parallel));
    CHECK(find_row(second.names.body, TensorId::norm2_weight) == nullptr);
    CHECK(find_row(third.names.body, TensorId::norm2_weight)->name == "h.{l}.ln_mlp.weight");
    CHECK(with({{"alibi", true}}).alibi == Alibi::before_scale_bfloat16);
}

TEST_CASE("three of four layers of OLMo 3 have a window, and only the others scaled angles") {
    const json yarn = {{"rope_type", "yarn"}, {"factor", 8.0}, {"original_max_position_embeddings", 512}};
    const json sizes = {{"num_hidden_layers", 4}, {"rope_theta", 5e5}, {"rope_scaling", yarn}};
    const Architecture a = family("olmo3", sizes);
    for (const std::size_t l : {0U, 1U, 2U, 3U}) {
        CHECK(a.windows[l] == (l < 3 ? std::optional<std::int64_t>(4096) : std::nullopt));
        const Rope& rope = a.ropes[a.layer_rope[l].value()];
        CHECK(rope.theta == 5e5);
        CHECK((rope.scaling.kind == RopeScaling::Kind::yarn) == (l == 3));
    }
    json flat = sizes;
    flat.erase("rope_scaling");
    flat.erase("rope_theta");
    flat["rope_parameters"] = yarn;
    flat["rope_parameters"]["rope_theta"] = 700.0;
    for (const Rope& rope : family("olmo3", flat).ropes)
        CHECK(rope.theta == 700.0);
    CHECK(family("olmo", {{"clip_qkv", 8.0}}).qkv_limit == 8.0);
    CHECK(family("olmo", {{"clip_qkv", nullptr}}).qkv_limit == 0.0);
    CHECK_FALSE(family("olmo2").norms.before);
}

TEST_CASE("gpt-oss takes its experts, windows and scaling from the config, or as its class does") {
    const Architecture usual = family("gpt_oss");
    CHECK((usual.experts == 128 && usual.route.used == 4 && usual.expert_gate.limit == 7.0));
    CHECK((usual.windows[0] == 128 && !usual.windows[1]));
    CHECK(usual.ropes.front().scaling.factor == 32.0);
    CHECK(usual.ropes.front().scaling.attention_factor == Approx(0.1 * std::log(32.0) + 1.0));
    CHECK(family("gpt_oss", {{"rope_scaling", nullptr}}).ropes.front().scaling.factor == 1.0);
    const Architecture other = family("gpt_oss", {{"num_local_experts", 6},
                                                  {"experts_per_token", 3},
                                                  {"swiglu_limit", 2.5} /* not read by Hugging Face */,
                                                  {"sliding_window", 9}});
    CHECK((other.experts == 6 && other.route.used == 3 && other.expert_gate.limit == 7.0));
    CHECK(other.windows[2] == 9);
    CHECK_THAT(family_fault("gpt_oss", {{"num_local_experts", 2}}), Contains("num_experts_per_tok"));
}

TEST_CASE("numbers of a head that turn together are brought half a head apart") {
    Architecture a;
    a.dk = 8;
    a.rotary_width = 8;
    CHECK(rotary_order(a).empty());
    a.rotary_width = 4; // pairs (0, 2) and (1, 3)
    CHECK(rotary_order(a) == std::vector<std::int64_t>{0, 1, 4, 6, 2, 3, 5, 7});
    a.rotary_pairs = RotaryPairs::neighbours; // pairs (0, 1) and (2, 3)
    CHECK(rotary_order(a) == std::vector<std::int64_t>{0, 2, 4, 6, 1, 3, 5, 7});
    const Rotary tables = rotary_tables(a, Rope(), 3);
    for (const std::int64_t c : {2, 3, 6, 7})
        CHECK((tables.cos->at(0, 2, c) == 1.0F && tables.sin->at(0, 2, c) == 0.0F));
    CHECK(tables.sin->at(0, 2, 4) == Approx(std::sin(2.0)));
    CHECK(tables.sin->at(0, 2, 5) == Approx(std::sin(2.0 / 100)));
}

TEST_CASE("Cohere 2 and EXAONE 4 turn queries and keys only in layers with a window") {
    using Windows = std::vector<std::optional<std::int64_t>>;
    using Ropes = std::vector<std::optional<std::size_t>>;
    const json sizes = {{"num_hidden_layers", 5}, {"sliding_window", 9}};
    for (const char* name : {"cohere2", "exaone4"}) {
        INFO(name);
        const Architecture usual = family(name, sizes);
        CHECK(usual.windows == Windows{9, 9, 9, {}, 9});
        CHECK(usual.layer_rope == Ropes{0, 0, 0, {}, 0});
        json other = sizes;
        other["sliding_window_pattern"] = 2;
        CHECK(family(name, other).layer_rope == Ropes{0, {}, 0, {}, 0});
        other["layer_types"] = {"full_attention", "sliding_attention", "full_attention", "full_attention",
                                "full_attention"};
        CHECK(family(name, other).windows == Windows{{}, 9, {}, {}, {}});
        CHECK(family(name, other).layer_rope == Ropes{{}, 0, {}, {}, {}});
        CHECK(family(name, {{"num_hidden_layers", 5}}).windows[0] == 4096);
    }
    // The published 32B writes a pattern of letters beside layer_types, the 1.2B no window at all.
    json letters = sizes;
    letters["sliding_window_pattern"] = "LLLG";
    CHECK_THAT(family_fault("exaone4", letters), Contains("sliding_window_pattern is \"LLLG\""));
    letters["layer_types"] = json(5, "full_attention");
    CHECK(family("exaone4", letters).layer_rope == Ropes(5));
    letters["sliding_window"] = nullptr;
    CHECK(family("exaone4", letters).layer_rope == Ropes{0, 0, 0, 0, 0});
    CHECK(family("exaone4", letters).windows == Windows(5));
}

TEST_CASE("GLM 4 has norms on both sides of each branch, and EXAONE 4 behind it alone") {
    const Architecture glm = family("glm4"), exaone = family("exaone4");
    CHECK((glm.norms.before && glm.norms.after_branch && glm.rotary_width == 64));
    CHECK(find_row(glm.names.body, TensorId::b_O) == nullptr);
    CHECK(find_row(family("glm4", {{"attention_bias", false}}).names.body, TensorId::b_Q) == nullptr);
    CHECK((!exaone.norms.before && exaone.norms.after_branch && exaone.qk_norm == QkNorm::per_head));
    CHECK(find_row(exaone.names.body, TensorId::norm1_weight) == nullptr);
}

TEST_CASE("Nemotron's biases are optional, and its MLP has no gate") {
    const auto has = [](const Architecture& a, TensorId id) { return find_row(a.names.body, id) != nullptr; };
    const Architecture bare = family("nemotron"),
                       biased = family("nemotron", {{"attention_bias", true}, {"mlp_bias", true}});
    for (const TensorId id : {TensorId::b_Q, TensorId::b_O, TensorId::b_in, TensorId::b_out}) {
        CHECK_FALSE(has(bare, id));
        CHECK(has(biased, id));
    }
    CHECK_FALSE((has(bare, TensorId::W_gate) || has(biased, TensorId::b_gate)));
    CHECK((is_layer_norm(bare.norm) && adds_one(bare.norm) && has(bare, TensorId::norm1_bias)));
    CHECK((bare.Hkv == 48 && bare.rotary_width == 64 && bare.activation == graph::Function::relu_square));
}

TEST_CASE("CodeGen packs queries, values and keys for each quarter of the heads") {
    Architecture a = family("codegen", {{"n_head", 8}, {"n_embd", 64}, {"rotary_dim", 4}});
    CHECK(a.dk == 8);
    const auto is = [&](QkvPart part, std::int64_t first) {
        const PackedColumns at = columns_of(part, a);
        return at.first == first && at.count == 16 && at.blocks == 4 && at.stride == 48;
    };
    CHECK((is(QkvPart::queries, 0) && is(QkvPart::values, 16) && is(QkvPart::keys, 32)));
    a.qkv = QkvPacking::side_by_side;
    CHECK((columns_of(QkvPart::keys, a).first == 64 && columns_of(QkvPart::values, a).first == 128));
    CHECK_THAT(family_fault("codegen", {{"n_head", 6}, {"n_embd", 48}, {"rotary_dim", 4}}),
               Contains("n_head is 6") && Contains("multiple of 4"));
    CHECK_THAT(family_fault("codegen", {{"rotary_dim", nullptr}}), Contains("rotary_dim"));
}

TEST_CASE("MPNet counts positions from row 2 and takes T5's 32 buckets of distances") {
    const Architecture a = family("mpnet", {{"pad_token_id", 7}});
    CHECK((a.pad_id == 1 && a.position_offset == 2 && a.longest_text == 510));
    CHECK((a.buckets->count == 32 && a.buckets->furthest == 128 && a.buckets->both_sides));
    CHECK_THAT(family_fault("mpnet", {{"relative_attention_num_buckets", 64}}),
               Contains("relative_attention_num_buckets is 64") && Contains("32"));
}

TEST_CASE("DeBERTa-v2 has the terms by relative position that pos_att_type names") {
    const json both = {{"relative_attention", true}, {"pos_att_type", "P2C | c2p"}};
    const auto has = [](const Architecture& a, TensorId id) { return find_row(a.names.body, id) != nullptr; };
    const Architecture usual = family("deberta-v2", both);
    CHECK((usual.relative->c2p && usual.relative->p2c));
    CHECK((usual.relative->rows.span == 512 && usual.relative->rows.buckets == 0));
    CHECK((has(usual, TensorId::W_KR) && has(usual, TensorId::b_QR)));
    CHECK_FALSE(has(usual, TensorId::rel_norm_weight));
    CHECK(usual.temperature(0) == Approx(std::sqrt(3.0)));
    CHECK(usual.longest_text == 512);

    json shared = both;
    shared.update({{"share_att_key", true},
                   {"position_buckets", 256},
                   {"max_relative_positions", -1},
                   {"norm_rel_ebd", "layer_norm"},
                   {"position_biased_input", false}});
    const Architecture v3 = family("deberta-v2", shared);
    CHECK((v3.relative->rows.span == 256 && v3.relative->rows.furthest == 512));
    CHECK_FALSE((has(v3, TensorId::W_KR) || has(v3, TensorId::W_QR) || v3.position_rows > 0));
    CHECK(has(v3, TensorId::rel_norm_bias));
    CHECK(v3.longest_text > 1'000'000);

    // One term alone, and none: the scale counts the terms that are named.
    json one = both;
    one["pos_att_type"] = {"c2p"};
    CHECK((family("deberta-v2", one).relative->c2p && !family("deberta-v2", one).relative->p2c));
    CHECK_FALSE(has(family("deberta-v2", one), TensorId::W_QR));
    one.erase("relative_attention");
    CHECK_FALSE(family("deberta-v2", one).relative);
    CHECK(family("deberta-v2", one).temperature(0) == Approx(std::sqrt(2.0)));
    CHECK_FALSE(family("deberta-v2", {{"relative_attention", true}}).relative);
    CHECK(family("deberta-v2").temperature(0) == 1);
}

TEST_CASE("what DeBERTa-v2 computes otherwise is refused by its key") {
    const json both = {{"relative_attention", true}, {"pos_att_type", "p2c|c2p"}};
    const auto fault = [&](json also) {
        also.update(both);
        return family_fault("deberta-v2", also);
    };
    CHECK_THAT(fault({{"conv_kernel_size", 3}}),
               Contains("conv_kernel_size is 3") && Contains("convolution after the first layer"));
    CHECK_THAT(fault({{"position_buckets", 1}}), Contains("position_buckets is 1"));
    CHECK_THAT(fault({{"position_buckets", 64}, {"max_relative_positions", 33}}),
               Contains("max_relative_positions is 33"));
    CHECK_THAT(family_fault("deberta-v2", {{"pos_att_type", "p2p"}}), Contains("pos_att_type"));
    CHECK_THAT(fault({{"legacy", false}, {"embedding_size", 128}}), Contains("legacy"));
    CHECK_THAT(fault({{"attention_head_size", 32}}), Contains("attention_head_size is 32"));
    CHECK(family("deberta-v2", {{"conv_kernel_size", 0}}).layers == 24);
}

TEST_CASE("other faults of the newer families are named") {
    CHECK_THAT(family_fault("gptj", {{"rotary_dim", nullptr}}), Contains("rotary_dim"));
    CHECK_THAT(family_fault("gptj", {{"rotary_dim", 300}}), Contains("rotary_dim is 300"));
    CHECK_THAT(family_fault("gptj", {{"rotary_dim", 3}}), Contains("rotary_dim is 3"));
    CHECK_THAT(family_fault("gpt_neox", {{"rotary_pct", 1.5}}), Contains("rotary_pct is 1.5"));
    CHECK_THAT(family_fault("phi", {{"qk_layernorm", true}}), Contains("norms on queries and keys"));
}
