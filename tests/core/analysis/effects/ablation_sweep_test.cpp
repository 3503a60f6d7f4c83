#include "core/analysis/effects/ablation_sweep.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace headscope;
using namespace headscope::analysis;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

ModelPtr opened(const std::string& name) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name));
}

ModelInputs tokens(const std::vector<std::int64_t>& ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = ids;
    return inputs;
}

/// A text for the model, and of an encoder-decoder one for its decoder.
ModelInputs some_text(const Model& model) {
    ModelInputs inputs = tokens({3, 7, 5, 11, 7, 9});
    if (model.encoder() != nullptr)
        inputs.source = {tokens({8, 2, 6, 4})};
    return inputs;
}

std::vector<HeadEffect> swept(const ModelPtr& model, const ModelEdits& edits, const SweepOptions& options) {
    Progress progress;
    const ModelRunPtr run =
        ModelRun::compute(model, some_text(*model), edits, nullptr, ModelRun::Options(), progress);
    std::vector<HeadEffect> effects;
    ablation_sweep(
        *run, options, [&](const HeadEffect& effect) { effects.push_back(effect); }, progress);
    CHECK(progress.fraction() == 1.0F);
    return effects;
}

std::vector<double> logits_at(const Model& model, const ModelEdits& edits, std::int64_t position) {
    ForwardOptions options;
    options.edits = edits;
    const TensorPtr logits = run_on_cpu(model, some_text(model), options).logits;
    const float* const row = logits->data() + logits->offset(0, position, 0);
    return {row, row + logits->shape()[2]};
}

double divergence(const std::vector<double>& before, const std::vector<double>& after) {
    const auto log_sum = [](const std::vector<double>& logits) {
        return std::log(std::transform_reduce(logits.begin(), logits.end(), 0.0, std::plus<>(),
                                              [](double logit) { return std::exp(logit); }));
    };
    const double sum_before = log_sum(before), sum_after = log_sum(after);
    return std::transform_reduce(before.begin(), before.end(), after.begin(), 0.0, std::plus<>(),
                                 [&](double was, double is) {
                                     return std::exp(was - sum_before) * (was - sum_before - is + sum_after);
                                 });
}

} // namespace

TEST_CASE("a sweep measures what whole runs with a gain of 0 show, for every kind of model", "[sweep]") {
    for (const char* const name : {"gpt2_tiny", "gemma2_tiny", "gptj_tiny", "bert_tiny", "t5_tiny"}) {
        CAPTURE(name);
        const ModelPtr model = opened(name);
        const ModelConfig& config = model->config();
        // The run has edits of its own: a head is half as loud.
        const std::int64_t edited = attention_number(config, {Stack::own, 1});
        ModelEdits edits;
        edits[edited].gains.assign(static_cast<std::size_t>(config.H), 1.0F);
        edits[edited].gains.back() = 0.5F;
        const std::int64_t position = 4;
        const std::vector<double> before = logits_at(*model, edits, position);
        const std::vector<HeadEffect> effects = swept(model, edits, {.position = position, .tokens = {2, 9}});
        std::int64_t heads = 0;
        for (const Stack stack : stacks_of(config))
            heads += in_stack(config, stack).layers * in_stack(config, stack).H;
        REQUIRE(std::ssize(effects) == heads);
        CHECK(effects.back().place.layer == 0); // the costly ones come last
        double largest = 0;
        for (const HeadEffect& effect : effects) {
            CAPTURE(effect.place.layer, effect.head, static_cast<int>(effect.place.stack));
            ModelEdits off = edits;
            std::vector<float>& gains = off[attention_number(config, effect.place)].gains;
            gains.resize(static_cast<std::size_t>(in_stack(config, effect.place.stack).H), 1.0F);
            gains[static_cast<std::size_t>(effect.head)] = 0;
            const std::vector<double> after = logits_at(*model, off, position);
            CHECK(effect.divergence == Approx(divergence(before, after)).margin(2e-6).epsilon(1e-3));
            REQUIRE(effect.logits.size() == 2);
            CHECK(static_cast<double>(effect.logits[0]) == Approx(after[2]).margin(2e-5));
            CHECK(static_cast<double>(effect.logits[1]) == Approx(after[9]).margin(2e-5));
            largest = std::max(largest, effect.divergence);
        }
        CHECK(largest > 1e-5);
    }
}

TEST_CASE("a head's mean output is what a bias of the same size would add", "[sweep]") {
    const ModelPtr model = opened("gpt2_tiny");
    const ModelConfig& config = model->config();
    const std::vector<HeadEffect> effects =
        swept(model, {}, {.position = 5, .ablation = Ablation::mean, .places = {{Stack::own, 1}}});
    REQUIRE(std::ssize(effects) == config.H);
    ForwardOptions options;
    options.stages = StageSet().with(TensorId::contributions);
    const ForwardResult whole = run_on_cpu(*model, some_text(*model), options);
    const Tensor& written = *whole.layers[1].trace.stage(TensorId::contributions);
    const std::vector<double> before = logits_at(*model, {}, 5);
    for (const HeadEffect& effect : effects) {
        CHECK(effect.place == AttentionPlace{Stack::own, 1});
        const TensorPtr own = model->layer(1)[TensorId::b_O];
        const auto bias = std::make_shared<Tensor>(own->shape(), own->values());
        for (std::int64_t d = 0; d < config.D; ++d) {
            double mean = 0;
            for (std::int64_t i = 0; i < 6; ++i)
                mean += static_cast<double>(written.at(0, effect.head, i, d)) / 6;
            bias->at(d) += static_cast<float>(mean);
        }
        LayerEdits edits;
        edits.gains.assign(static_cast<std::size_t>(config.H), 1.0F);
        edits.gains[static_cast<std::size_t>(effect.head)] = 0;
        edits.tensors[TensorId::b_O] = bias;
        CHECK(effect.divergence ==
              Approx(divergence(before, logits_at(*model, {{1, edits}}, 5))).margin(2e-6).epsilon(1e-3));
    }
}

TEST_CASE("a head that is off already changes nothing, and a sweep ends when it is cancelled", "[sweep]") {
    const ModelPtr model = opened("llama_tiny_tied");
    const auto H = static_cast<std::size_t>(model->config().H);
    LayerEdits off;
    off.gains.assign(H, 0.0F);
    for (const HeadEffect& effect : swept(model, {{0, off}}, {.places = {{Stack::own, 0}}}))
        CHECK(effect.divergence == Approx(0).margin(1e-9));
    Progress progress;
    const ModelRunPtr run =
        ModelRun::compute(model, some_text(*model), {}, nullptr, ModelRun::Options(), progress);
    std::size_t finished = 0;
    const auto stop = [&](const HeadEffect&) {
        ++finished;
        progress.cancel();
    };
    CHECK_THROWS_WITH(ablation_sweep(*run, {}, stop, progress), Contains("cancelled"));
    CHECK(finished == 1);
}

TEST_CASE("a sweep leaves out the heads that were measured before, and the others are as in a whole sweep",
          "[sweep]") {
    const ModelPtr model = opened("gpt2_tiny");
    const std::vector<HeadEffect> whole = swept(model, {}, {.tokens = {4}});
    SweepOptions options{.tokens = {4}};
    options.skip = [](AttentionPlace place, std::int64_t head) { return place.layer == 1 || head == 0; };
    const std::vector<HeadEffect> rest = swept(model, {}, options);
    std::size_t n = 0;
    for (const HeadEffect& effect : whole) {
        if (options.skip(effect.place, effect.head))
            continue;
        REQUIRE(n < rest.size());
        CHECK(rest[n].place == effect.place);
        CHECK(rest[n].head == effect.head);
        CHECK(rest[n].logits == effect.logits);
        CHECK(rest[n++].divergence == effect.divergence);
    }
    CHECK(n == rest.size());
    CHECK(n > 0);
}

TEST_CASE("a sweep refuses what the run has not", "[sweep]") {
    const ModelPtr model = opened("gpt2_tiny");
    CHECK_THROWS_WITH(swept(model, {}, {.position = 6}), Contains("no position 6 in a text of 6 tokens"));
    CHECK_THROWS_WITH(swept(model, {}, {.tokens = {100000}}), Contains("no token 100000"));
    CHECK_THROWS_WITH(swept(model, {}, {.places = {{Stack::own, 99}}}), Contains("no layer 99"));
}
