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

TEST_CASE("a stack without the layer has no stages of it", "[models]") {
    const Model model = open_case("gpt2_tiny");
    CHECK_THAT(input_error([&] {
                   model.stages().in_layer({Stack::own, 7});
               }),
               Catch::Contains("there is no layer 7; layers are numbered 0 to 1"));
}
