#include "core/export/derived_stages.h"

#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

struct Written {
    std::map<std::string, TensorPtr> tensors;
    std::map<std::string, exporting::IntegerStage> integers;
};

Written written_stages_of(const std::string& name, const std::vector<std::string>& names,
                          std::optional<std::int64_t> layer = {}) {
    const ModelCase one = load_model_case(name);
    const Model model = Model::open(one.folder);
    const ForwardResult result = run_on_cpu(
        model, one.inputs, {.nodes = exporting::nodes_to_keep(names), .layer = layer, .logits = false});
    Written written;
    exporting::NodeStages stages = exporting::select_nodes(model, result, names);
    for (const exporting::SelectedStage& stage : stages.tensors)
        written.tensors[stage.name()] = stage.tensor;
    for (exporting::IntegerStage& stage : stages.integers)
        written.integers[stage.name] = stage;
    return written;
}

} // namespace

TEST_CASE("what a mixture adds is the sum of its chosen experts' outputs and of the shared expert's") {
    for (const std::string name :
         {"mixtral_tiny", "qwen2_moe_tiny", "gpt_oss_tiny", "deepseek_v3_tiny", "llama4_text_tiny"}) {
        INFO(name);
        const bool scaled_inputs = name == "llama4_text_tiny"; // the fractions are in the outputs already
        std::vector<std::string> names{"router", "routing", "chosen", "expert_out", "mlp_out"};
        if (name == "qwen2_moe_tiny" || name == "deepseek_v3_tiny" || scaled_inputs)
            names.push_back("shared_out");
        const Written written = written_stages_of(name, names);
        int mixtures = 0;
        for (std::int64_t l = 0; l < load_model_case(name).L; ++l) {
            const std::string layer = "layers." + std::to_string(l) + ".";
            if (!written.integers.contains(layer + "chosen"))
                continue;
            ++mixtures;
            const exporting::IntegerStage& chosen = written.integers.at(layer + "chosen");
            const Tensor &routing = *written.tensors.at(layer + "routing"),
                         &outputs = *written.tensors.at(layer + "expert_out"),
                         &sum = *written.tensors.at(layer + "mlp_out");
            const std::int64_t experts = routing.shape().back(0), used = chosen.shape.back(0),
                               D = sum.shape().back(0), rows = sum.count() / D;
            REQUIRE(written.tensors.at(layer + "router")->shape() == routing.shape());
            REQUIRE(outputs.shape() == Shape{sum.shape()[0], sum.shape()[1], used, D});
            double largest = 0;
            for (std::int64_t row = 0; row < rows; ++row) {
                std::int64_t used_here = 0;
                for (std::int64_t e = 0; e < experts; ++e)
                    used_here += routing.data()[row * experts + e] != 0 ? 1 : 0;
                REQUIRE(used_here == used);
                for (std::int64_t c = 0; c < D; ++c) {
                    double expected = 0;
                    for (std::int64_t k = 0; k < used; ++k) {
                        const std::int64_t e = chosen.numbers[static_cast<std::size_t>(row * used + k)];
                        expected +=
                            (scaled_inputs ? 1.0 : static_cast<double>(routing.data()[row * experts + e])) *
                            static_cast<double>(outputs.data()[(row * used + k) * D + c]);
                    }
                    if (const auto shared = written.tensors.find(layer + "shared_out");
                        shared != written.tensors.end())
                        expected += static_cast<double>(shared->second->data()[row * D + c]);
                    largest =
                        std::max(largest, std::abs(expected - static_cast<double>(sum.data()[row * D + c])));
                }
            }
            CHECK(largest < 1e-5);
        }
        CHECK(mixtures > 0);
    }
}

TEST_CASE("latent attention's vectors are written by their names") {
    const Written written =
        written_stages_of("deepseek_v3_tiny", {"q_latent", "x", "kv_latent", "k_rotary"}, 1);
    CHECK(written.tensors.at("layers.1.q_latent")->values().data() ==
          written.tensors.at("layers.1.x")->values().data());
    const Model model = Model::open(load_model_case("deepseek_v3_tiny").folder);
    const Architecture& a = model.architecture();
    CHECK(written.tensors.at("layers.1.kv_latent")->shape().back(0) == a.latent->rank);
    CHECK(written.tensors.at("layers.1.k_rotary")->shape().back(0) == a.rotary_width);
}

TEST_CASE("a name that no layer of the model has is refused with those that it has") {
    CHECK_THROWS_WITH(written_stages_of("gpt2_tiny", {"kv_latent"}),
                      Contains("“kv_latent”") && Contains("gpt2") && Contains("mlp_pre") &&
                          Contains("q_heads"));
    CHECK_THROWS_WITH(written_stages_of("gpt2_tiny", {"W_Q"}), Contains("“W_Q”"));
    CHECK_THROWS_WITH(written_stages_of("mixtral_tiny", {"shared_out"}), Contains("“shared_out”"));
}
