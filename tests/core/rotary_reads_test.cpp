#include "core/attention/graph_of_problem.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"

#include <cmath>

using namespace headscope;
using namespace headscope::test;

TEST_CASE("a turned number is its own times cos and its partner's times sin", "[rotary]") {
    const ModelCase one = load_model_case("llama_tiny_untied");
    checkpoint::ForwardOptions options{.stages = StageSet::all(), .layer = 1, .keep_problems = true};
    const checkpoint::ForwardResult result =
        run_on_cpu(checkpoint::Model::open(one.folder), one.inputs, options);
    const Trace& trace = result.layers.front().trace;
    const Problem& problem = *result.layers.front().problem;
    const Dims& dims = problem.dims;
    REQUIRE(problem.rotary);
    const AttentionGraph graph = attention_graph(problem);
    for (const TensorId id : {TensorId::q_heads, TensorId::k_heads}) {
        const Tensor& turned = *trace.stage(id);
        for (std::int64_t h = 0; h < turned.shape()[1]; ++h)
            for (std::int64_t i = 0; i < turned.shape()[2]; ++i)
                for (std::int64_t c = 0; c < dims.dk; ++c) {
                    const auto reads = graph.reads(id, {0, h, i, c});
                    REQUIRE(reads.size() == 4); // with its cosine and its sine
                    const Tensor& from = *trace.stage(reads[0].source);
                    const float own = from.data()[from.shape().offset(reads[0].first)],
                                partner = from.data()[from.shape().offset(reads[1].first)];
                    const float sign = c < dims.dk / 2 ? -1.0F : 1.0F;
                    const float expected = own * problem.rotary->cos->at(0, i, c) +
                                           sign * partner * problem.rotary->sin->at(0, i, c);
                    REQUIRE(std::abs(turned.at(0, h, i, c) - expected) < 1e-5F);
                }
    }
    CHECK(graph.reads(TensorId::v_heads, {0, 0, 1, 2}).size() == 1);
}
