#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/run/expert_run.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/test_data.h"

#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

/// The sum of the experts of a layer; nothing for a layer without experts.
std::optional<TensorId> sum_of_experts(const ModelStages& stages, AttentionPlace place) {
    for (const TensorId id : stages.in_layer(place))
        if (stages.is_sum_of_experts(place, id))
            return id;
    return std::nullopt;
}

} // namespace

// Fails when a row gets the vector of another token, and when the fraction is left out of a scaled input.
TEST_CASE("the outputs of the experts, each times its fraction, are the sum of the experts, in every family",
          "[models]") {
    int layers = 0;
    for (const std::string& name : all_model_names()) {
        const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + name));
        Progress progress;
        const ModelRunPtr run = ModelRun::compute(model, first_text(name), {}, nullptr, {}, progress);
        for (std::int64_t n = 0; n < attention_count(model->config()); ++n) {
            const AttentionPlace place = attention_place(model->config(), n);
            const auto sum = sum_of_experts(model->stages(), place);
            if (!sum)
                continue;
            INFO(name << ", attention " << n);
            ++layers;
            const RunPartPtr part = run->around(n, progress);
            const Tensor &routing = *part->find(TensorId::routing), &expected = *part->find(*sum);
            const std::int64_t T = routing.shape()[1], E = routing.shape()[2], D = expected.shape()[2];
            std::vector<double> sums(static_cast<std::size_t>(T * D));
            for (std::int64_t e = 0; e < E; ++e) {
                const ExpertRun expert = run_expert(*part, e, e % T, progress);
                CHECK(expert.tokens[expert.row()] == e % T);
                std::size_t used = 0;
                for (std::size_t row = 0; row < expert.tokens.size(); ++row) {
                    const std::int64_t token = expert.tokens[row];
                    const double fraction = static_cast<double>(routing.at(0, token, e));
                    used += fraction != 0 ? 1 : 0;
                    if (fraction == 0)
                        continue;
                    for (std::int64_t d = 0; d < D; ++d)
                        sums[static_cast<std::size_t>(token * D + d)] +=
                            (model->stages().scales_expert_input(place) ? 1.0 : fraction) *
                            static_cast<double>(expert.out->at(0, static_cast<std::int64_t>(row), d));
                }
                std::size_t users = 0;
                for (std::int64_t token = 0; token < T; ++token)
                    users += routing.at(0, token, e) != 0 ? 1 : 0;
                CHECK(used == users);
            }
            double largest = 0;
            for (std::size_t at = 0; at < sums.size(); ++at)
                largest = std::max(largest, std::abs(sums[at] - static_cast<double>(expected.data()[at])));
            CHECK(largest < 1e-5);
        }
    }
    CHECK(layers >= 10);
}
