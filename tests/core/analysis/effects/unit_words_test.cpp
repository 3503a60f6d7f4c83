#include "core/analysis/effects/unit_words.h"

#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

using W = TensorId;

ModelRunPtr run_of_three(const std::string& name, const ModelEdits& edits = {}) {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + name));
    ModelInputs inputs;
    inputs.ids = {3, 1, 4};
    inputs.T = 3;
    if (model->encoder() != nullptr)
        inputs.source = {inputs};
    Progress progress;
    return ModelRun::compute(model, inputs, edits, nullptr, {}, progress);
}

/// By definition, in double: what a unit's row of W_out becomes on its way to each logit.
std::vector<double> by_definition(const Model& model, std::int64_t n, std::int64_t unit) {
    const Architecture& a = model.architecture();
    const auto D = static_cast<std::size_t>(a.D);
    const WeightSet layer = model.layer(n);
    std::vector<double> row(D);
    double mean = 0;
    for (std::size_t d = 0; d < D; ++d) {
        row[d] = layer[W::W_out]->data()[static_cast<std::size_t>(unit) * D + d];
        if (a.norms.after_branch)
            row[d] *= layer[W::norm2_after_weight]->data()[d];
        mean += row[d] / static_cast<double>(D);
    }
    std::vector<double> logits;
    const TensorPtr table = model.weight(W::W_U), gamma = model.weight(W::final_norm_weight);
    for (std::int64_t id = 0; id < a.vocab; ++id) {
        double sum = 0;
        for (std::size_t d = 0; d < D; ++d)
            sum += (row[d] - (is_layer_norm(a.norm) ? mean : 0.0)) * gamma->data()[d] *
                   table->data()[static_cast<std::size_t>(id) * D + d];
        logits.push_back(a.head_scale * sum);
    }
    return logits;
}

} // namespace

TEST_CASE("a unit's words are those of its row of W_out through the final norm's weight and W_U") {
    for (const auto& [name, stack] : {std::pair{"gpt2_tiny", Stack::own},
                                      {"llama_tiny_untied", Stack::own},
                                      {"gemma2_tiny", Stack::own},
                                      {"gpt_neox_tiny", Stack::own},
                                      {"t5_tiny", Stack::cross},
                                      {"mbart_tiny", Stack::cross}}) {
        INFO(name);
        const ModelRunPtr run = run_of_three(name);
        REQUIRE(analysis::has_unit_words(run->model(), stack));
        const std::int64_t n = attention_count(run->model().config()) - 1;
        Progress progress;
        const analysis::UnitWords words = analysis::unit_words(*run, n, 7, 5, progress);
        CHECK((words.attention == n && words.unit == 7));
        std::vector<double> expected = by_definition(run->model(), n, 7);
        for (const auto* list : {&words.raised, &words.lowered})
            for (const auto& word : *list)
                CHECK(word.logit == Approx(expected[static_cast<std::size_t>(word.id)]).margin(1e-5));
        std::ranges::sort(expected, std::greater<>());
        for (std::size_t at = 0; at < 5; ++at) {
            CHECK(words.raised[at].logit == Approx(expected[at]).margin(1e-5));
            CHECK(words.lowered[at].logit == Approx(expected[expected.size() - 1 - at]).margin(1e-5));
        }
    }
}

TEST_CASE("a unit's words follow edits of its row and of the final norm") {
    const ModelRunPtr plain = run_of_three("gpt2_tiny");
    Progress progress;
    const auto raised = [&](const ModelEdits& edits) {
        return analysis::unit_words(*run_of_three("gpt2_tiny", edits), 0, 3, 1, progress).raised.front();
    };
    const auto twice = [](const Tensor& tensor, std::int64_t first, std::int64_t count) {
        auto out = std::make_shared<Tensor>(tensor.shape(), tensor.values());
        for (std::int64_t i = first; i < first + count; ++i)
            out->data()[i] *= 2;
        return out;
    };
    const auto own = raised({});
    const Model& model = plain->model();
    const auto by_row = raised({{0, {{{W::W_out, twice(*model.layer(0)[W::W_out], 3 * 32, 32)}}, {}}}});
    const auto by_norm =
        raised({{1, {{{W::final_norm_weight, twice(*model.weight(W::final_norm_weight), 0, 32)}}, {}}}});
    for (const auto& word : {by_row, by_norm}) {
        CHECK(word.id == own.id);
        CHECK(word.logit == Approx(2 * own.logit));
    }
}

TEST_CASE("units of models whose rows do not reach the logits directly have no words") {
    for (const auto& [name, stack] : {std::pair{"bert_tiny", Stack::own},
                                      {"gpt_oss_tiny", Stack::own},
                                      {"t5_tiny", Stack::encoder},
                                      {"bart_tiny", Stack::cross},
                                      {"marian_tiny", Stack::cross}})
        CHECK_FALSE(analysis::has_unit_words(Model::open(test_data("/models/") + name), stack));
}
