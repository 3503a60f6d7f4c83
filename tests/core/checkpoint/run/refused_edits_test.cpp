#include "core/base/error.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/test_data.h"

using namespace headscope;
using namespace headscope::checkpoint;

namespace {

using W = TensorId;

ModelPtr model_to_refuse(const std::string& name) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name));
}

} // namespace

TEST_CASE("weights that cannot be edited are refused with one sentence") {
    const ModelPtr gpt2 = model_to_refuse("gpt2_tiny"), experts = model_to_refuse("gpt_oss_tiny");
    const auto fault = [](const Model& model, std::int64_t n, W weight, const TensorPtr& tensor) {
        return input_error([&] { check_edits(model, {{n, {.tensors = {{weight, tensor}}, .gains = {}}}}); });
    };
    using Catch::Contains;
    const auto of = [](Shape shape) { return std::make_shared<const Tensor>(shape, 0.5F); };
    CHECK(fault(*gpt2, 1, W::final_norm_weight, of(Shape{32})).empty());
    CHECK_THAT(fault(*gpt2, 0, W::final_norm_weight, of(Shape{32})),
               Contains("layer 0") && Contains("final_norm_weight, which it does not have"));
    CHECK_THAT(fault(*gpt2, 0, W::W_gate, of(Shape{32, 128})), Contains("W_gate, which it does not have"));
    CHECK_THAT(fault(*gpt2, 0, W::W_in, of(Shape{128, 32})), Contains("W_in") && Contains("(32, 128)"));
    CHECK_THAT(fault(*gpt2, 0, W::W_E, of(Shape{200, 32})), Contains("give the rows"));
    CHECK_THAT(fault(*gpt2, 0, W::embedding_norm_weight, of(Shape{32})), Contains("not part of attention"));
    const auto row_fault = [&](const Model& model, std::int64_t n, W table, std::int64_t row, Shape shape) {
        return input_error([&] {
            check_edits(model, {{n, {.tensors = {}, .gains = {}, .rows = {{table, {{row, of(shape)}}}}}}});
        });
    };
    CHECK(row_fault(*gpt2, 0, W::W_E, 199, {32}).empty());
    CHECK_THAT(row_fault(*gpt2, 0, W::W_E, 200, {32}), Contains("row 200 of W_E") && Contains("0 to 199"));
    CHECK_THAT(row_fault(*gpt2, 0, W::W_P, 3, {31}), Contains("(31)") && Contains("(32)"));
    CHECK_THAT(row_fault(*gpt2, 1, W::W_E, 3, {32}), Contains("first layer"));
    // W_U is W_E there, and is edited as W_E.
    CHECK_THAT(row_fault(*gpt2, 1, W::W_U, 3, {32}), Contains("rows of W_U"));
    // Both stacks read the encoder's table.
    const ModelPtr t5 = model_to_refuse("t5_tiny"), bart = model_to_refuse("bart_tiny");
    CHECK(row_fault(*t5, 0, W::W_E, 159, {32}).empty());
    CHECK_THAT(row_fault(*t5, 2, W::W_E, 3, {32}), Contains("decoder") && Contains("rows of W_E"));
    CHECK_THAT(row_fault(*t5, 0, W::W_P, 3, {32}), Contains("encoder") && Contains("rows of W_P"));
    CHECK_THAT(row_fault(*t5, 1, W::W_U, 3, {32}), Contains("rows of W_U"));
    CHECK(row_fault(*bart, 2, W::W_P, 65, {32}).empty());
    CHECK_THAT(row_fault(*bart, 2, W::W_P, 66, {32}), Contains("row 66 of W_P"));
    CHECK_THAT(row_fault(*gpt2, 0, W::W_type, 0, {32}), Contains("rows of W_type"));
    CHECK_THAT(fault(*experts, 0, W::expert_W_out, of(Shape{4, 24, 40})), Contains("give the rows"));
    CHECK(row_fault(*experts, 1, W::expert_W_out, 3, {24, 40}).empty());
    CHECK_THAT(row_fault(*experts, 1, W::expert_W_out, 4, {24, 40}),
               Contains("row 4 of expert_W_out") && Contains("0 to 3"));
    CHECK_THAT(row_fault(*experts, 1, W::expert_W_out, 3, {40}), Contains("(40)") && Contains("(24, 40)"));
    CHECK_THAT(row_fault(*gpt2, 1, W::expert_W_in, 0, {32, 128}),
               Contains("expert_W_in, which it does not have"));
    CHECK_THAT(row_fault(*experts, 1, W::experts_gate_in, 0, {40, 48}), Contains("a tensor"));
    CHECK(fault(*experts, 0, W::norm2_weight, of(Shape{40})).empty());
}
