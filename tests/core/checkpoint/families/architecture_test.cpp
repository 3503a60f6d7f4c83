#include "core/checkpoint/families/families.h"
#include "core/checkpoint/model/rope.h"
#include "tests/catch.h"
#include "tests/support.h"

#include <cmath>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using Catch::Contains;
using nlohmann::json;

namespace {

Architecture parse(const json& value) {
    return read_architecture(value.dump(), "config.json");
}

std::vector<float> frequencies_of(const Architecture& architecture, std::int64_t T) {
    return rotary_frequencies(architecture, architecture.ropes.at(0), T);
}

Rotary tables_of(const Architecture& architecture, std::int64_t T) {
    return rotary_tables(architecture, architecture.ropes.at(0), T);
}

std::string fault(const json& value) {
    return input_error([&] { parse(value); });
}

json llama(const json& more = json::object()) {
    json value = {{"model_type", "llama"}, {"hidden_size", 64}, {"num_attention_heads", 4}};
    value.update(more);
    return value;
}

json qwen2(const json& more = json::object()) {
    json value = {{"model_type", "qwen2"},    {"hidden_size", 64},      {"num_attention_heads", 4},
                  {"num_key_value_heads", 4}, {"num_hidden_layers", 3}, {"sliding_window", 8}};
    value.update(more);
    return value;
}

} // namespace

TEST_CASE("each family's own spelling and defaults are read") {
    // The published GPT-2 small writes these and little else.
    const Architecture gpt2 = parse({{"model_type", "gpt2"},
                                     {"n_embd", 768},
                                     {"n_head", 12},
                                     {"n_layer", 12},
                                     {"n_positions", 1024},
                                     {"vocab_size", 50257}});
    CHECK(gpt2.layers == 12);
    CHECK(gpt2.dk == 64);
    CHECK(gpt2.d_ff == 3072);
    CHECK(gpt2.activation == graph::Function::gelu_tanh);
    CHECK(gpt2.norm_eps == 1e-5);
    CHECK(gpt2.tied);
    CHECK(gpt2.temperature(3) == 1.0);
    const Architecture distilbert = parse({{"model_type", "distilbert"}, {"dim", 32}, {"n_heads", 4}});
    CHECK(distilbert.layers == 6);
    CHECK(distilbert.D == 32);
    CHECK(distilbert.norm_eps == 1e-12);
    CHECK(distilbert.token_types == 0);
    const Architecture roberta = parse({{"model_type", "roberta"}});
    CHECK(roberta.pad_id == 1);
    CHECK(roberta.vocab == 50265);
    const Architecture mistral = parse({{"model_type", "mistral"}});
    CHECK(mistral.Hkv == 8);
    CHECK(mistral.windows.at(0) == 4096);
    CHECK_FALSE(mistral.tied);
}

TEST_CASE("attention scaling switches of GPT-2 become a temperature") {
    const json base = {{"model_type", "gpt2"}, {"n_embd", 32}, {"n_head", 2}};
    json by_layer = base, unscaled = base;
    by_layer["scale_attn_by_inverse_layer_idx"] = true;
    unscaled["scale_attn_weights"] = false;
    CHECK(parse(by_layer).temperature(2) == 3.0);
    CHECK(parse(unscaled).temperature(2) == 0.25);
}

TEST_CASE("sliding windows are given to the layers that have them") {
    using Windows = std::vector<std::optional<std::int64_t>>;
    CHECK(parse(qwen2()).windows == Windows(3));
    CHECK(parse(qwen2({{"use_sliding_window", true}})).windows == Windows(3));
    CHECK(parse(qwen2({{"use_sliding_window", true}, {"max_window_layers", 1}})).windows ==
          Windows{std::nullopt, 8, 8});
    CHECK(parse(qwen2({{"use_sliding_window", true},
                       {"layer_types", {"sliding_attention", "full_attention", "full_attention"}}}))
              .windows == Windows{8, std::nullopt, std::nullopt});
    CHECK_THAT(fault(qwen2({{"use_sliding_window", true}, {"layer_types", {"other", "other", "other"}}})),
               Contains("layer_types"));
    CHECK_FALSE(parse({{"model_type", "mistral"}, {"sliding_window", nullptr}}).windows.at(0).has_value());
    CHECK_FALSE(parse(llama({{"sliding_window", 4}})).windows.at(0).has_value());
}

TEST_CASE("rotary frequencies follow the base and its scaling") {
    const auto of = [](const json& more) { return frequencies_of(parse(llama(more)), 1); };
    const auto plain = of({{"rope_theta", 10000.0}});
    REQUIRE(plain.size() == 8);
    for (std::size_t c = 0; c < plain.size(); ++c)
        CHECK(plain[c] == Approx(std::pow(10000.0, -static_cast<double>(c) / 8.0)));
    const auto linear = of({{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}}}});
    for (std::size_t c = 0; c < plain.size(); ++c)
        CHECK(linear[c] == Approx(plain[c] / 4));
    const auto llama3 = of({{"rope_scaling",
                             {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 128}}}});
    // Wavelengths 2 pi / f: 6.3, 19.9, 62.8, 198.7, ...; below 128/4 kept, above 128/1 divided by 8.
    CHECK(llama3[0] == Approx(plain[0]));
    CHECK(llama3[1] == Approx(plain[1]));
    const double kept = (128 / 62.8318530718 - 1) / 3;
    CHECK(llama3[2] == Approx(plain[2] * (kept + (1 - kept) / 8)));
    for (std::size_t c = 3; c < plain.size(); ++c)
        CHECK(llama3[c] == Approx(plain[c] / 8));
    const auto nested = of({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 500.0}}}});
    CHECK(nested[1] == Approx(std::pow(500.0, -1.0 / 8.0)));
    const Architecture dynamic = parse(
        llama({{"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}, {"max_position_embeddings", 16}}));
    CHECK(tables_of(dynamic, 16).cos->shape() == Shape{1, 16, 16});
    CHECK(frequencies_of(dynamic, 16) == plain);
    CHECK(frequencies_of(dynamic, 32)[1] ==
          Approx(std::pow(10000.0 * std::pow(2.0 * 32 / 16 - 1, 16.0 / 14.0), -1.0 / 8.0)));
}

TEST_CASE("yarn divides slow frequencies, and longrope each by its own number") {
    // From Hugging Face's formulas in torch: dk 16, base 10000, factor 4, 64 original positions.
    const Architecture yarn = parse(
        llama({{"max_position_embeddings", 64}, {"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}}}));
    const auto frequencies = frequencies_of(yarn, 1);
    const std::vector<double> expected{
        1, 0.23717082, 0.049999997, 0.0079056947, 0.0024999999, 0.00079056947, 0.00025000001, 7.9056947e-05};
    REQUIRE(frequencies.size() == expected.size());
    for (std::size_t c = 0; c < expected.size(); ++c)
        CHECK(frequencies[c] == Approx(expected[c]));
    CHECK(yarn.ropes.at(0).scaling.attention_factor == Approx(0.1 * std::log(4.0) + 1.0));
    CHECK(tables_of(yarn, 1).cos->at(0, 0, 0) == Approx(0.1 * std::log(4.0) + 1.0));
    const auto attention_factor = [](const json& more) {
        json scaling = {{"rope_type", "yarn"}, {"factor", 40.0}};
        scaling.update(more);
        return parse(llama({{"rope_scaling", scaling}})).ropes.at(0).scaling.attention_factor;
    };
    CHECK(attention_factor({{"attention_factor", 1.5}}) == 1.5);
    CHECK(attention_factor({{"mscale", 1.0}, {"mscale_all_dim", 1.0}}) == 1.0);

    const std::vector<double> few(8, 2.0), many(8, 5.0);
    const Architecture longrope = parse(
        llama({{"max_position_embeddings", 64},
               {"original_max_position_embeddings", 16},
               {"rope_scaling", {{"rope_type", "longrope"}, {"short_factor", few}, {"long_factor", many}}}}));
    CHECK(frequencies_of(longrope, 16)[0] == Approx(1 / 2.0));
    CHECK(frequencies_of(longrope, 17)[0] == Approx(1 / 5.0));
    CHECK(longrope.ropes.at(0).scaling.attention_factor ==
          Approx(std::sqrt(1 + std::log(4.0) / std::log(16.0))));
    CHECK_THAT(fault(llama({{"rope_scaling",
                             {{"rope_type", "longrope"}, {"short_factor", {1.0}}, {"long_factor", many}}}})),
               Contains("short_factor") && Contains("a list of 8 numbers"));
}

TEST_CASE("the names of sizes that all families share come before the family's own") {
    const Architecture gpt2 = parse({{"model_type", "gpt2"},
                                     {"hidden_size", 32},
                                     {"num_attention_heads", 2},
                                     {"num_hidden_layers", 3},
                                     {"max_position_embeddings", 40}});
    CHECK((gpt2.D == 32 && gpt2.H == 2 && gpt2.layers == 3 && gpt2.max_positions == 40));
    CHECK(parse({{"model_type", "distilbert"}, {"hidden_size", 36}, {"num_attention_heads", 6}}).D == 36);
    CHECK(parse({{"model_type", "gpt2"}, {"n_embd", 24}, {"hidden_size", 48}}).D == 48);
}

TEST_CASE("a config without model_type is read by the class that saved it") {
    const auto family = [](const char* name) {
        return parse({{"architectures", {name}},
                      {"hidden_size", 64},
                      {"num_attention_heads", 4},
                      {"num_key_value_heads", 4}})
            .family;
    };
    CHECK(family("LlamaForCausalLM") == "llama");
    CHECK(family("GPTNeoXForCausalLM") == "gpt_neox");
    CHECK(family("BertForMaskedLM") == "bert");
    CHECK(family("Qwen2MoeForCausalLM") == "qwen2_moe");
    CHECK(family("XLMRobertaModel") == "xlm-roberta");
    CHECK(family("Gemma3ForCausalLM") == "gemma3_text");
    CHECK_THAT(fault({{"architectures", {"UnknownForCausalLM"}}}), Contains("model_type is missing"));
    CHECK_THAT(fault({{"model_type", "umt5"}, {"architectures", {"LlamaForCausalLM"}}}), Contains("umt5"));
}

TEST_CASE("faults of a config name the key, what it has and what it should have") {
    CHECK_THAT(fault({{"model_type", "umt5"}}), Contains("model_type") && Contains("umt5") &&
                                                    Contains("gpt2, bert, distilbert, roberta, llama, "
                                                             "mistral, mixtral, qwen2"));
    CHECK_THAT(fault(json::object()), Contains("model_type is missing"));
    CHECK_THAT(fault(json::array()), Contains("object"));
    CHECK_THAT(fault(llama({{"hidden_size", "64"}})), Contains("hidden_size is \"64\""));
    CHECK_THAT(fault(llama({{"hidden_size", 0}})), Contains("hidden_size is 0"));
    CHECK_THAT(fault(llama({{"hidden_size", 1e30}})), Contains("hidden_size"));
    CHECK_THAT(fault(llama({{"hidden_size", 18446744073709551615U}})), Contains("hidden_size"));
    CHECK_THAT(fault(llama({{"num_hidden_layers", 1000000}})), Contains("num_hidden_layers"));
    CHECK_THAT(fault(llama({{"hidden_size", 66}})), Contains("hidden_size is 66"));
    CHECK_THAT(fault(llama({{"head_dim", 15}})), Contains("head_dim is 15") && Contains("even"));
    CHECK_THAT(fault(llama({{"num_key_value_heads", 3}})), Contains("num_key_value_heads is 3"));
    CHECK_THAT(fault(llama({{"hidden_act", "xielu"}})),
               Contains("hidden_act is \"xielu\"") && Contains("relu2"));
    CHECK_THAT(fault(llama({{"rms_norm_eps", -1}})), Contains("rms_norm_eps is -1"));
    CHECK_THAT(fault(llama({{"rope_theta", "big"}})), Contains("rope_theta"));
    CHECK_THAT(fault(llama({{"rope_scaling", 3}})), Contains("rope_scaling is 3"));
    CHECK_THAT(fault(llama({{"rope_scaling", {{"rope_type", "mrope"}}}})), Contains("mrope"));
    CHECK_THAT(fault(llama({{"rope_scaling", {{"rope_type", "yarn"}}}})), Contains("factor is missing"));
    CHECK_THAT(fault(llama({{"rope_theta", 1.0}, {"rope_scaling", {{"type", "yarn"}, {"factor", 2.0}}}})),
               Contains("rope_theta"));
    CHECK_THAT(fault(llama({{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}}})),
               Contains("low_freq_factor is missing"));
    CHECK_THAT(fault(llama({{"attention_bias", 1}})), Contains("attention_bias is 1"));
    CHECK_THAT(fault({{"model_type", "bert"}, {"position_embedding_type", "relative_key"}}),
               Contains("position_embedding_type"));
    CHECK_THAT(fault({{"model_type", "bert"}, {"is_decoder", true}}), Contains("is_decoder"));
    CHECK_THAT(input_error([] { read_architecture("{", "config.json"); }), Contains("config.json"));
}

TEST_CASE("what an architecture can say and is not computed is refused by name") {
    const Architecture plain = parse({{"model_type", "gpt2"}});
    CHECK_NOTHROW(require_supported(plain, "config.json"));
    const auto refused = [&](const auto& change) {
        Architecture changed = plain;
        change(changed);
        return input_error([&] { require_supported(changed, "config.json"); });
    };
    CHECK_THAT(refused([](Architecture& a) {
                   a.norms.after_branch = true;
                   a.residual = Residual::parallel;
               }),
               Contains("config.json: this gpt2 model has norms on the outputs of parallel branches"));
    CHECK_THAT(refused([](Architecture& a) { a.qk_norm = QkNorm::per_head_layer; }),
               Contains("that are LayerNorms"));
    CHECK_THAT(fault(llama({{"partial_rotary_factor", 0.5}})), Contains("partial_rotary_factor is 0.5"));
    CHECK_THAT(fault(llama({{"rope_parameters", {{"partial_rotary_factor", 0.5}}}})),
               Contains("rope_parameters: partial_rotary_factor is 0.5"));
    CHECK_THAT(fault(llama({{"partial_rotary_factor", 1.5}})), Contains("partial_rotary_factor is 1.5"));
}
