#include "core/checkpoint/model/block_stages.h"
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

namespace {

ForwardResult run_whole(const Model& model, const ModelInputs& inputs) {
    StageSet stages;
    for (const TensorInfo& row : block_table())
        stages = stages.with(row.id);
    return run_on_cpu(model, inputs, {.stages = stages});
}

std::vector<TensorId> ids_of(const ForwardResult& result, std::int64_t layer) {
    std::vector<TensorId> ids;
    for (const BlockRun& block : result.blocks)
        if (block.place.layer == layer && block.id != TensorId::router) // which has no stop of its own
            ids.push_back(block.id);
    return ids;
}

float at(const Tensor& tensor, std::int64_t row, std::int64_t col) {
    return tensor.data()[row * tensor.shape().back(0) + col];
}

/// row . column of W, (d_in, d_out)
double product(const Tensor& x, std::int64_t row, const Tensor& W, std::int64_t column) {
    double sum = 0;
    for (std::int64_t d = 0; d < W.shape()[0]; ++d)
        sum += static_cast<double>(at(x, row, d)) * static_cast<double>(at(W, d, column));
    return sum;
}

} // namespace

TEST_CASE("a model has the stages around attention that its forward pass computes, in that order") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + name);
        const Architecture& architecture = model.architecture();
        const ForwardResult result = run_whole(model, first_text(name));
        for (std::int64_t l = 0; l < architecture.layers; ++l)
            CHECK(ids_of(result, l) == layer_stages(architecture, l));
        std::vector<TensorId> once = first_stages(architecture);
        std::ranges::copy(last_stages(architecture, model.has_head()), std::back_inserter(once));
        std::erase(once, TensorId::logits); // a result of its own
        CHECK(ids_of(result, -1) == once);
        CHECK((result.logits != nullptr) == model.has_head());
    }
}

TEST_CASE("a layer of a run has the numbers of run_model around its attention, bit for bit") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + name));
        const ModelInputs inputs = first_text(name);
        const ForwardResult expected = run_whole(*model, inputs);
        Progress progress;
        const ModelRunPtr run = ModelRun::compute(model, inputs, {}, nullptr, {}, progress);
        const std::int64_t position = inputs.T / 2;
        const BlockTracePtr ends = run->ends(Stack::own, position, progress);
        // What leaves a layer is a hidden state, which the golden cases know.
        const std::int64_t L = model->architecture().layers;
        for (std::int64_t l = 0; l + 1 < L; ++l)
            CHECK(same_bits(*(*run->block(l, progress))[layer_stages(model->architecture(), l).back()],
                            *run->hidden(l + 1)));
        for (const BlockRun& block : expected.blocks) {
            INFO("layer " << block.place.layer << " " << tensor_info(block.id).name);
            const BlockTracePtr got = block.place.layer < 0 ? ends : run->block(block.place.layer, progress);
            REQUIRE((*got)[block.id] != nullptr);
            if (block.id != TensorId::probabilities) {
                CHECK(same_bits(*(*got)[block.id], *block.tensor));
                continue;
            }
            // One row is multiplied otherwise than many, and the sum ends in other bits.
            for (std::int64_t token = 0; token < model->architecture().vocab; ++token) {
                CHECK(got->value(TensorId::logits, {0, position, token, 0}) ==
                      Approx(at(*expected.logits, position, token)).margin(1e-5));
                CHECK(got->value(block.id, {0, position, token, 0}) ==
                      Approx(at(*block.tensor, position, token)).margin(1e-6));
            }
        }
    }
}

TEST_CASE("every stage around attention follows from what made_from names") {
    for (const std::string& name : model_case_names()) {
        const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + name));
        const Architecture& architecture = model->architecture();
        const ModelInputs inputs = first_text(name);
        Progress progress;
        const ModelRunPtr run = ModelRun::compute(model, inputs, {}, nullptr, {}, progress);
        const std::int64_t row = inputs.T - 1, l = architecture.layers - 1;
        const BlockTracePtr block = run->block(l, progress);
        const auto close = [](float got, double want) {
            CHECK(static_cast<double>(got) == Approx(want).margin(2e-5 * std::max(1.0, std::abs(want))));
        };
        for (const TensorId id : layer_stages(architecture, l)) {
            INFO(name << " " << tensor_info(id).name);
            const Tensor& got = *(*block)[id];
            const std::vector<TensorId> from = made_from(architecture, id, l);
            const std::int64_t column = got.shape().back(0) / 3;
            if (from.empty()) {
                CHECK(id == TensorId::resid_in);
                CHECK(same_bits(got, *run->hidden(l)));
            } else if (const auto norm = norm_weights(architecture, id)) {
                const Tensor& x = *(*block)[from.front()];
                const TensorPtr bias = norm->bias ? block->weights[*norm->bias] : nullptr;
                double mean = 0, square = 0;
                const auto D = static_cast<double>(architecture.D);
                for (std::int64_t d = 0; d < architecture.D; ++d)
                    mean += architecture.norm == NormKind::layer ? static_cast<double>(at(x, row, d)) / D : 0;
                for (std::int64_t d = 0; d < architecture.D; ++d)
                    square += std::pow(static_cast<double>(at(x, row, d)) - mean, 2) / D;
                close(at(got, row, column),
                      (static_cast<double>(at(x, row, column)) - mean) /
                              std::sqrt(square + architecture.norm_eps) *
                              static_cast<double>(block->weights[norm->weight]->data()[column]) +
                          (bias == nullptr ? 0.0 : static_cast<double>(bias->data()[column])));
            } else if (architecture.experts > 0 && from.front() == TensorId::mlp_act) {
                CHECK((*block)[TensorId::mlp_act] == nullptr); // each expert has its own
            } else if (id == TensorId::mlp_act) {
                const double up =
                    from.size() > 1 ? static_cast<double>(at(*(*block)[from[1]], row, column)) : 1.0;
                close(at(got, row, column), static_cast<double>(at(*block->activated, row, column)) * up);
            } else if (id == TensorId::mlp_pre || id == TensorId::mlp_gate ||
                       from.front() == TensorId::mlp_act) {
                const WeightId weight = id == TensorId::mlp_pre    ? WeightId::mlp_in
                                        : id == TensorId::mlp_gate ? WeightId::mlp_gate
                                                                   : WeightId::mlp_out;
                const WeightId bias = id == TensorId::mlp_pre    ? WeightId::mlp_in_bias
                                      : id == TensorId::mlp_gate ? WeightId::mlp_gate_bias
                                                                 : WeightId::mlp_out_bias;
                const TensorPtr& b = block->weights[bias];
                close(at(got, row, column),
                      product(*(*block)[from.front()], row, *block->weights[weight], column) +
                          (b == nullptr ? 0.0 : static_cast<double>(b->data()[column])));
            } else {
                double sum = 0;
                for (const TensorId term : from)
                    sum += static_cast<double>(at(*(*block)[term], row, column));
                close(at(got, row, column), sum);
            }
        }
    }
}

TEST_CASE("the curve of an activation passes through the layer's own points") {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/gpt2_tiny")));
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(model, first_text("gpt2_tiny"), {}, nullptr, {}, progress);
    const BlockTracePtr block = run->block(1, progress);
    const Tensor &pre = *(*block)[TensorId::mlp_pre], &act = *(*block)[TensorId::mlp_act];
    REQUIRE(block->curve.size() > 2);
    for (std::int64_t i = 0; i < pre.count(); i += 7) {
        const auto after = std::ranges::lower_bound(
            block->curve, pre.data()[i], {}, [](const std::array<float, 2>& point) { return point[0]; });
        REQUIRE(after != block->curve.end());
        REQUIRE(after != block->curve.begin());
        const auto [x0, y0] = *(after - 1);
        const auto [x1, y1] = *after;
        const float straight = std::lerp(y0, y1, (pre.data()[i] - x0) / (x1 - x0));
        CHECK(act.data()[i] == Approx(straight).margin(1e-3));
    }
}

TEST_CASE("lengths tell how far each layer moves the residual stream") {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/gpt2_tiny")));
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(model, first_text("gpt2_tiny"), {}, nullptr, {}, progress);
    const StackLengths lengths = run->lengths(progress);
    REQUIRE(lengths.layers.size() == 2);
    for (std::int64_t l = 0; l < 2; ++l) {
        const BlockTracePtr block = run->block(l, progress);
        for (std::int64_t row = 0; row < run->inputs().T; ++row) {
            double square = 0;
            for (std::int64_t d = 0; d < model->architecture().D; ++d)
                square += std::pow(static_cast<double>(at(*(*block)[TensorId::resid_out], row, d)) -
                                       static_cast<double>(at(*(*block)[TensorId::resid_in], row, d)),
                                   2);
            CHECK(lengths.layers[static_cast<std::size_t>(l)][static_cast<std::size_t>(row)] ==
                  Approx(std::sqrt(square)).epsilon(1e-5));
        }
    }
}
