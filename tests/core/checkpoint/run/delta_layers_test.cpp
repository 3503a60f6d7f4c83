#include "core/analysis/effects/logit_attribution.h"
#include "core/checkpoint/model/stacks.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

const std::string qwen3_next = "qwen3_next_tiny";

ModelRunPtr delta_run(const ModelInputs& inputs) {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + qwen3_next));
    Progress progress;
    return ModelRun::compute(model, inputs, {}, nullptr, {}, progress);
}

/// The numbers of row `i` of (1, T, width).
std::vector<double> numbers_at(const RunPart& trace, TensorId id, std::int64_t i) {
    const TensorPtr tensor = trace.find(id);
    REQUIRE(tensor != nullptr);
    const auto width = static_cast<std::size_t>(tensor->shape().back(0));
    const auto row = tensor->values().subspan(static_cast<std::size_t>(i) * width, width);
    return {row.begin(), row.end()};
}

} // namespace

TEST_CASE("calls about the attention of a layer without one say so in one sentence", "[delta]") {
    const ModelRunPtr run = delta_run(first_text(qwen3_next));
    std::vector<float> map(144);
    const auto refuses = [](const auto& call) {
        const std::string words = input_error(call);
        CHECK_THAT(words, Contains("layer 0 has a delta layer in place of attention"));
        CHECK_THAT(words, Contains("choose one of the layers 3"));
    };
    refuses([&] { run->layer(0); });
    refuses([&] { run->read_head(0, 1, map); });
    refuses([&] { run->rows(0, 0, 1, Progress()); });
    refuses([&] { run->problem(0); });
    CHECK(run->layer(3)->shape() == Shape{1, 4, 12, 12});
    CHECK((!run->info().has_weights(0) && !run->info().has_weights(2) && run->info().has_weights(3)));
    CHECK(nearest_attention(run->model().architecture(), {Stack::own, 1}) == 3);
}

// The state is written here as the sum of what every token before wrote, not step by step.
TEST_CASE("the read-out of a delta layer is what its queries find of its keys and values", "[delta]") {
    const ModelRunPtr run = delta_run(first_text(qwen3_next));
    const DeltaLayers& sizes = *run->model().architecture().delta;
    Progress progress;
    const RunPartPtr trace = run->around(1, progress);
    const auto dk = static_cast<std::size_t>(sizes.dk), dv = static_cast<std::size_t>(sizes.dv);
    for (std::size_t h = 0; h < static_cast<std::size_t>(sizes.H); ++h) {
        const std::size_t key = h / static_cast<std::size_t>(sizes.H / sizes.Hqk) * dk;
        std::vector<std::vector<double>> written; // by token: beta times what replaces the old number
        for (std::int64_t i = 0; i < trace->T(); ++i) {
            const auto q = numbers_at(*trace, TensorId::delta_q, i),
                       k = numbers_at(*trace, TensorId::delta_k, i),
                       v = numbers_at(*trace, TensorId::delta_v, i),
                       y = numbers_at(*trace, TensorId::delta_y, i);
            const auto along = [&](const std::vector<double>& row, std::int64_t earlier) {
                const auto other = numbers_at(*trace, TensorId::delta_k, earlier);
                double product = 0;
                for (std::size_t d = 0; d < dk; ++d)
                    product += row[key + d] * other[key + d];
                for (std::int64_t t = earlier + 1; t <= i; ++t)
                    product *= numbers_at(*trace, TensorId::delta_decay, t)[h];
                return product;
            };
            double square = 0;
            for (std::size_t d = 0; d < dk; ++d)
                square += k[key + d] * k[key + d];
            CHECK(square == Approx(1).margin(1e-3));
            std::vector<double> write(v.begin() + static_cast<std::ptrdiff_t>(h * dv),
                                      v.begin() + static_cast<std::ptrdiff_t>((h + 1) * dv));
            for (std::int64_t j = 0; j < i; ++j)
                for (std::size_t c = 0; c < dv; ++c)
                    write[c] -= along(k, j) * written[static_cast<std::size_t>(j)][c];
            for (double& number : write)
                number *= numbers_at(*trace, TensorId::delta_beta, i)[h];
            written.push_back(write);
            for (std::size_t c = 0; c < dv; ++c) {
                double read = 0;
                for (std::int64_t j = 0; j <= i; ++j)
                    read += along(q, j) * written[static_cast<std::size_t>(j)][c];
                CHECK(y[h * dv + c] ==
                      Approx(read / std::sqrt(static_cast<double>(dk))).epsilon(1e-4).margin(1e-6));
            }
        }
    }
}

TEST_CASE("a delta layer is one writer of a logit, of what it adds to the stream", "[delta]") {
    const ModelRunPtr run = delta_run(first_text(qwen3_next));
    const analysis::LogitAttribution all = analysis::logit_attribution(
        *run, {.position = 5, .token = 4, .from = analysis::LogitQuestion::From::zero}, Progress());
    std::vector<std::string> names;
    for (const analysis::LogitPart& part : all.parts) {
        names.push_back(part.writer.name());
        CHECK((part.writer.kind != analysis::Writer::Kind::head || part.writer.layer == 3));
    }
    for (const char* name : {"L0 delta", "L1 delta", "L2 delta", "L3H0", "L3H3"})
        CHECK(std::ranges::count(names, name) == 1);
    CHECK(std::ranges::count(names, "L3 delta") == 0);
    CHECK(analysis::sum_of_parts(all, [](const analysis::Writer&) { return true; }) ==
          Approx(all.logit).margin(1e-5));
}

TEST_CASE("padding before and after a text changes nothing for the real tokens of a delta layer", "[delta]") {
    const Model model = Model::open(test_data("/models/") + qwen3_next);
    const auto logits = [&](std::vector<std::int64_t> ids, std::vector<std::uint8_t> mask) {
        ModelInputs inputs;
        inputs.T = std::ssize(ids);
        inputs.ids = std::move(ids);
        inputs.attention_mask = std::move(mask);
        return run_on_cpu(model, inputs, {}).logits;
    };
    const TensorPtr plain = logits({5, 17, 42, 9, 3}, {}),
                    left = logits({0, 0, 5, 17, 42, 9, 3}, {0, 0, 1, 1, 1, 1, 1}),
                    right = logits({5, 17, 42, 9, 3, 0}, {1, 1, 1, 1, 1, 0});
    for (std::int64_t i = 0; i < 5; ++i)
        for (std::int64_t c = 0; c < plain->shape()[2]; ++c) {
            REQUIRE(left->at(0, i + 2, c) == Approx(plain->at(0, i, c)).margin(1e-4));
            REQUIRE(right->at(0, i, c) == Approx(plain->at(0, i, c)).margin(1e-5));
        }
}
