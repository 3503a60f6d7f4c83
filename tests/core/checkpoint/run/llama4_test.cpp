#include "core/checkpoint/run/expert_run.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

std::shared_ptr<const Model> llama4_model() {
    return std::make_shared<const Model>(Model::open(test_data("/models/llama4_text_tiny")));
}

ModelInputs llama4_inputs(std::vector<std::int64_t> ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    return inputs;
}

ModelInputs llama4_text() {
    return llama4_inputs({5, 9, 13, 22, 31, 40, 51, 60, 7, 11, 19, 23, 5, 9, 13, 22, 31});
}

double llama4_number(const Trace& trace, TensorId stage, std::int64_t h, std::int64_t i, std::int64_t c) {
    return static_cast<double>(trace.stage(stage)->at(0, h, i, c));
}

} // namespace

TEST_CASE("layers of Llama 4 without rotation scale the queries of a token by its position") {
    const ForwardResult run = run_on_cpu(*llama4_model(), llama4_text(),
                                         {.stages = StageSet().with(TensorId::q).with(TensorId::q_heads)});
    const Trace& trace = run.layers.at(3).trace;
    CHECK(trace.parts.query_scale);
    CHECK_FALSE(trace.parts.rotary);
    CHECK_FALSE(trace.parts.qk_norm);
    const std::int64_t H = trace.dims.H, dk = trace.dims.dk;
    for (std::int64_t i = 0; i < trace.dims.Tq; ++i) {
        // Nakanishi 2025, as modeling_llama4.py has it: floor_scale 4, attn_scale 0.1.
        const double scale = std::log1p(std::floor((static_cast<double>(i) + 1) / 4)) * 0.1 + 1;
        for (std::int64_t n = 0; n < H * dk; ++n) {
            const auto own = static_cast<double>(trace.stage(TensorId::q)->at(0, i, n));
            CHECK(llama4_number(trace, TensorId::q_heads, n / dk, i, n % dk) ==
                  Approx(own * scale).margin(1e-7));
        }
    }
}

TEST_CASE("queries and keys of Llama 4's other layers have the length of the norm, and read their chunk") {
    const ForwardResult run =
        run_on_cpu(*llama4_model(), llama4_text(),
                   {.stages = StageSet().with(TensorId::q_heads).with(TensorId::weights)});
    for (const std::size_t l : {0U, 1U, 2U}) {
        const Trace& trace = run.layers.at(l).trace;
        CHECK(trace.parts.qk_norm);
        CHECK(trace.parts.rotary);
        for (std::int64_t row = 0; row < trace.dims.H * trace.dims.Tq; ++row) {
            const std::int64_t h = row / trace.dims.Tq, i = row % trace.dims.Tq;
            double squares = 0;
            for (std::int64_t c = 0; c < trace.dims.dk; ++c)
                squares += std::pow(llama4_number(trace, TensorId::q_heads, h, i, c), 2);
            CHECK(squares / static_cast<double>(trace.dims.dk) == Approx(1).margin(2e-3)); // but for eps
            for (std::int64_t j = 0; j < trace.dims.Tk; ++j)
                CHECK((llama4_number(trace, TensorId::weights, h, i, j) > 0) == (j <= i && j / 5 == i / 5));
        }
    }
}

TEST_CASE("a text of Llama 4 that is longer than a chunk has its padding at the end") {
    ModelInputs inputs = llama4_text();
    inputs.attention_mask.assign(static_cast<std::size_t>(inputs.T), 1);
    inputs.attention_mask.back() = 0;
    CHECK_NOTHROW(run_on_cpu(*llama4_model(), inputs, {}));
    inputs.attention_mask.front() = 0;
    CHECK_THAT(input_error([&] { run_on_cpu(*llama4_model(), inputs, {}); }),
               Contains("attention_mask[0, 0] is 0") && Contains("chunk of 5") && Contains("at the end"));
    ModelInputs brief = llama4_inputs({5, 9, 13, 22, 31});
    brief.attention_mask = {0, 1, 1, 1, 1};
    CHECK_NOTHROW(run_on_cpu(*llama4_model(), brief, {}));
}

TEST_CASE("the norms of Llama 4 have no weights that could be edited") {
    LayerEdits edits;
    edits.tensors[TensorId::q_norm] = std::make_shared<const Tensor>(Shape{6}, 2.0F);
    CHECK_FALSE(input_error([&] {
                    run_on_cpu(*llama4_model(), llama4_text(), {.edits = {{0, edits}}});
                }).empty());
}

TEST_CASE("an expert of Llama 4 reads the token's vector times its fraction, used or not") {
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(llama4_model(), llama4_text(), {}, nullptr, {}, progress);
    const RunPartPtr block = run->around(1, progress);
    REQUIRE(block != nullptr);
    const Tensor &routing = *block->find(TensorId::routing), &W = *block->weights[TensorId::W_router];
    for (const std::int64_t token : {0, 7, 16}) {
        int used = 0;
        for (std::int64_t e = 0; e < 3; ++e) {
            const ExpertRun units = run_expert(*block, e, token, progress);
            const Tensor& read = *block->find(units.reads);
            double score = 0;
            for (std::int64_t c = 0; c < 24; ++c)
                score += static_cast<double>(read.at(0, token, c)) * static_cast<double>(W.at(c, e));
            const double fraction = 1 / (1 + std::exp(-score));
            CHECK(static_cast<double>(units.input_scales[units.row()]) == Approx(fraction).epsilon(1e-5));
            const TensorPtr W_gate = block->weights.row(TensorId::expert_W_gate, e);
            double gate = 0;
            for (std::int64_t c = 0; c < 24; ++c)
                gate += fraction * static_cast<double>(read.at(0, token, c)) *
                        static_cast<double>(W_gate->values()[static_cast<std::size_t>(c * 10)]);
            CHECK(static_cast<double>(units.at(units.gate, 0)) == Approx(gate).margin(1e-5));
            used += routing.at(0, token, e) > 0 ? 1 : 0;
        }
        CHECK(used == 1);
    }
}
