#include "core/checkpoint/graph/model_stages.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <map>
#include <sstream>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

Model open_case(const std::string& name) {
    return Model::open(test_data("/models/") + name);
}

/// "mlp_out = experts(norm2)": a stage, its kind and its sources.
std::string described(const ModelStages& stages, AttentionPlace place, TensorId id) {
    std::string sources;
    for (const TensorId source : stages.sources(place, id))
        sources += (sources.empty() ? "" : ", ") + std::string(tensor_info(source).name);
    const std::string name(tensor_info(id).name);
    const std::string kind = stages.norm(place, id)                ? "norm"
                             : stages.branch_scale(place, id)      ? "scale"
                             : stages.is_sum_of_experts(place, id) ? "experts"
                                                                   : "";
    if (sources.empty())
        return name;
    return name + " = " + (kind.empty() ? sources : kind + "(" + sources + ")");
}

/// The stages of an attention, as a line of tests/data/model_stages.txt lists them.
std::string listed(const ModelStages& stages, AttentionPlace place) {
    std::string line;
    for (const TensorId id : stages.in_layer(place))
        line += (line.empty() ? "" : "; ") + described(stages, place, id);
    return line;
}

} // namespace

// The file was made before the graphs had this task, by code that read the settings of each architecture.
TEST_CASE("the graphs of the golden models have the listed stages around every attention", "[models]") {
    std::istringstream file(read_file(test_data("/model_stages.txt")));
    std::map<std::string, std::int64_t> attentions;
    for (std::string name, place, stages; file >> name >> place && std::getline(file >> std::ws, stages);) {
        const Model model = open_case(name);
        const AttentionPlace at = attention_place(model.architecture(), attentions[name]++);
        INFO(name << ", " << attention_words(model.architecture(), at));
        CHECK(place == layer_prefix(model.architecture(), at));
        CHECK(listed(model.stages(), at) == stages);
    }
    CHECK(attentions.size() >= 59);
    for (const auto& [name, count] : attentions)
        CHECK(count == attention_count(open_case(name).architecture()));
}

TEST_CASE("the stages outside the layers of a stack are those of its embedding, final norm and head",
          "[models]") {
    using enum TensorId;
    const Model gpt2 = open_case("gpt2_tiny"), bert = open_case("bert_tiny"), t5 = open_case("t5_tiny"),
                bart = open_case("bart_tiny");
    CHECK(gpt2.stages().before_layers(Stack::own) == std::vector{embedding, position});
    CHECK(gpt2.stages().after_layers(Stack::own) == std::vector{final_norm, logits, probabilities});
    CHECK(bert.stages().after_layers(Stack::own) == std::vector{logits, probabilities});
    CHECK(t5.stages().before_layers(Stack::encoder) == std::vector{embedding});
    CHECK(t5.stages().after_layers(Stack::encoder) == std::vector{final_norm});
    CHECK(t5.stages().after_layers(Stack::cross) == std::vector{final_norm, logits, probabilities});
    CHECK(bart.stages().before_layers(Stack::own) == std::vector{embedding, position});
    CHECK(bart.stages().after_layers(Stack::encoder).empty());
}

TEST_CASE("outside the layers of a stack, a stage is that of its last layer", "[models]") {
    const Model gpt2 = open_case("gpt2_tiny"), bart = open_case("bart_tiny");
    CHECK(described(gpt2.stages(), {Stack::own, -1}, TensorId::final_norm) == "final_norm = norm(resid_out)");
    CHECK(described(gpt2.stages(), {Stack::own, -1}, TensorId::resid_out) ==
          "resid_out = resid_mid, mlp_out");
    CHECK(described(bart.stages(), {Stack::own, -1}, TensorId::norm2) == "norm2 = norm(resid_out)");
    CHECK(gpt2.stages().sources({Stack::own, -1}, TensorId::embedding).empty());
}

TEST_CASE("the MLP after a cross-attention is named by the layer of the decoder", "[models]") {
    const Model model = open_case("bart_tiny");
    const ModelStages& stages = model.stages();
    CHECK(stages.name({Stack::cross, 1}, TensorId::mlp_act) == "decoder.layers.1.mlp_act");
    CHECK(stages.name({Stack::cross, 1}, TensorId::norm1) == "cross.layers.1.norm1");
    CHECK(stages.name({Stack::cross, -1}, TensorId::embedding) == "decoder.embedding");
    CHECK(stages.name({Stack::own, -1}, TensorId::logits) == "logits");
    CHECK(stages.has({Stack::cross, 1}, TensorId::mlp_act));
    CHECK_FALSE(stages.has({Stack::own, 1}, TensorId::mlp_act));
    CHECK(stages.norm({Stack::cross, 1}, TensorId::norm2)->weight == TensorId::norm2_weight);
}

TEST_CASE("a norm of a sum is a state of the residual stream, and a norm before a branch is not",
          "[models]") {
    const Model bert = open_case("bert_tiny"), llama = open_case("llama_tiny_untied");
    CHECK(bert.stages().is_stream({Stack::own, 0}, TensorId::norm1));
    CHECK_FALSE(bert.stages().has_norm_before({Stack::own, 0}));
    CHECK_FALSE(llama.stages().is_stream({Stack::own, 0}, TensorId::norm1));
    CHECK(llama.stages().has_norm_before({Stack::own, 0}));
    CHECK(llama.stages().is_stream({Stack::own, 0}, TensorId::resid_mid));
}

// Fails when an answer is taken from another node, or when a window leaves out the query.
TEST_CASE("the graphs of the golden models answer with the settings of their families", "[models]") {
    std::map<std::string, int> found;
    for (const std::string& name : all_model_names()) {
        const Model model = open_case(name);
        const ModelStages& stages = model.stages();
        INFO(name);
        CHECK(stages.head_scale() == (model.has_head() ? model.architecture().head_scale : 1.0));
        CHECK(stages.logit_cap() == (model.has_head() ? model.architecture().logit_cap : 0.0));
        for (const Stack stack : stacks_of(model.config()))
            CHECK(stages.embedding_scale(stack) == in_stack(model.architecture(), stack).embedding_scale);
        for (std::int64_t n = 0; n < attention_count(model.config()); ++n) {
            const AttentionPlace place = attention_place(model.config(), n);
            const auto layer = static_cast<std::size_t>(place.layer);
            const Architecture& a = in_stack(model.architecture(), place.stack);
            INFO(attention_words(model.config(), place));
            for (const TensorId id : stages.in_layer(place))
                if (const auto norm = stages.norm(place, id)) {
                    CHECK(norm->centered == is_layer_norm(a.norm));
                    CHECK((norm->eps == a.norm_eps || id == TensorId::laurel_out));
                    CHECK(norm->adds_one == (adds_one(a.norm) && norm->weight.has_value()));
                    found["norm"] += norm->adds_one ? 1 : 0;
                }
            if (stages.has(place, TensorId::mlp_act)) {
                CHECK(stages.activation(place) == a.activation);
                CHECK(stages.gate_cutoff(place) == a.gate_cutoff(place.layer));
                found["cutoff"] += stages.gate_cutoff(place) ? 1 : 0;
            }
            if (stages.has(place, TensorId::routing)) {
                CHECK(stages.route(place) == a.route);
                CHECK(stages.expert_gate(place) == a.expert_gate);
                CHECK(stages.scales_expert_input(place) == a.expert_input.scaled_input);
                found["scaled input"] += stages.scales_expert_input(place) ? 1 : 0;
            }
            if (!has_attention(model.config(), place)) {
                CHECK(stages.delta_eps(place) == a.norm_eps);
                continue;
            }
            CHECK(stages.score_cap(place) == a.score_cap);
            const bool own_keys = place.stack != Stack::cross;
            CHECK(stages.window(place) == (own_keys ? a.windows[layer] : std::nullopt));
            CHECK(stages.chunk(place) == (own_keys ? a.chunks[layer] : std::nullopt));
            CHECK(stages.has_latent_keys(place) == a.latent.has_value());
            CHECK(stages.has_relative_terms(place) == a.relative.has_value());
            CHECK(stages.has_norm_of_queries(place) == (a.qk_norm == QkNorm::per_head_plain
                                                            ? a.has_plain_norm(place.layer)
                                                            : a.qk_norm != QkNorm::none));
            found["window"] += stages.window(place) && a.causal ? 1 : 0;
            found["window to both sides"] += stages.window(place) && !a.causal ? 1 : 0;
            found["chunk"] += stages.chunk(place) ? 1 : 0;
            found["score cap"] += stages.score_cap(place) > 0 ? 1 : 0;
        }
    }
    for (const char* const setting :
         {"norm", "cutoff", "scaled input", "window", "window to both sides", "chunk", "score cap"}) {
        INFO(setting);
        CHECK(found[setting] > 0);
    }
}

TEST_CASE("around the layers, stages and weights have the names of their stack or of the head", "[models]") {
    const Model gpt2 = open_case("gpt2_tiny"), t5 = open_case("t5_tiny");
    CHECK(gpt2.stages().has({Stack::own, -1}, TensorId::position));
    CHECK_FALSE(t5.stages().has({Stack::own, -1}, TensorId::position));
    CHECK(t5.stages().parameter_shape({Stack::encoder, -1}, TensorId::W_E) ==
          Shape{t5.config().vocab, t5.config().D});
    CHECK(t5.stages().name({Stack::own, -1}, TensorId::W_U) == "W_U");
    CHECK(gpt2.stages().has_parameter({Stack::own, 0}, TensorId::b_Q));
    CHECK_FALSE(gpt2.stages().has_parameter({Stack::own, 0}, TensorId::q_norm));
}

TEST_CASE("a stack without the layer has no stages of it", "[models]") {
    const Model model = open_case("gpt2_tiny");
    CHECK_THAT(input_error([&] {
                   model.stages().in_layer({Stack::own, 7});
               }),
               Catch::Contains("there is no layer 7; layers are numbered 0 to 1"));
}
