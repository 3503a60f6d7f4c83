#include "core/checkpoint/run/forward.h"

#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/reference.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/core/run/watched_backend.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

const StageSet only_weights = StageSet().with(TensorId::weights);

ModelInputs row(std::vector<std::int64_t> ids, std::vector<std::uint8_t> mask = {}) {
    ModelInputs inputs;
    inputs.T = static_cast<std::int64_t>(ids.size());
    inputs.ids = std::move(ids);
    inputs.attention_mask = std::move(mask);
    return inputs;
}

Model model_of(const std::string& name) {
    return Model::open(test_data("/models/") + name);
}

/// Largest difference of the rows of `short_run` and those of `long_run` that begin `offset` tokens later.
double shifted_difference(const Tensor& short_run, const Tensor& long_run, std::int64_t offset) {
    double largest = 0;
    for (std::int64_t i = 0; i < short_run.shape()[1]; ++i)
        for (std::int64_t c = 0; c < short_run.shape()[2]; ++c)
            largest = std::max(largest, static_cast<double>(
                                            std::abs(short_run.at(0, i, c) - long_run.at(0, i + offset, c))));
    return largest;
}

} // namespace

TEST_CASE("every golden model meets Hugging Face's numbers") {
    const auto names = model_case_names();
    REQUIRE(names.size() == 59);
    for (const std::string& name : names) {
        const ModelCase one = load_model_case(name);
        const Model model = Model::open(one.folder);
        INFO(name);
        CHECK(model.report().missing.empty());
        CHECK(model.report().head_missing.empty());
        CHECK(model.report().wrong_shape.empty());
        CHECK(model.report().unknown.empty());
        CHECK(model.report().unused.empty() == model.architecture().key_layers.empty());
        const ForwardResult result = run_on_cpu(model, one.inputs, {.stages = only_weights});
        REQUIRE(static_cast<std::int64_t>(result.layers.size()) == std::ssize(one.attention_layers));
        for (const LayerRun& run : result.layers) {
            INFO("layer " << run.place.layer);
            CHECK(one.weights_difference(run.place.layer, *run.trace.stage(TensorId::weights)) < 1e-5);
        }
        REQUIRE(static_cast<std::int64_t>(result.hidden.size()) == one.L + 1);
        for (std::int64_t l = 0; l <= one.L; ++l) {
            INFO("hidden " << l);
            CHECK(one.hidden_difference(l, *result.hidden[static_cast<std::size_t>(l)]) < 2e-5);
        }
        REQUIRE(result.logits != nullptr);
        CHECK(one.logits_difference(*result.logits) < 1e-4);
    }
}

TEST_CASE("a kept problem recomputes the layer's attention, all stages") {
    for (const std::string& name : model_case_names()) {
        const ModelCase one = load_model_case(name);
        const std::int64_t l = one.attention_layers[one.attention_layers.size() > 1 ? 1 : 0];
        const ForwardResult result =
            run_on_cpu(Model::open(one.folder), one.inputs,
                       {.stages = StageSet::all(), .layer = l, .keep_problems = true});
        INFO(name);
        REQUIRE(result.layers.size() == 1);
        REQUIRE(result.layers[0].place.layer == l);
        REQUIRE(result.layers[0].problem.has_value());
        CHECK(difference(result.layers[0].trace, reference_trace(*result.layers[0].problem)) == "");
        CHECK(broken_invariant(result.layers[0].trace) == "");
    }
}

TEST_CASE("padding changes nothing for the real tokens") {
    const std::vector<std::int64_t> ids{5, 17, 42, 99, 3};
    for (const char* name : {"llama_tiny_untied", "mistral_tiny", "qwen2_tiny_bf16"}) {
        INFO(name);
        const Model model = model_of(name);
        const auto plain = run_on_cpu(model, row(ids), {});
        // Rotary scores depend on the distance of two tokens alone, so left padding may shift them all.
        const auto left = run_on_cpu(model, row({0, 0, 5, 17, 42, 99, 3}, {0, 0, 1, 1, 1, 1, 1}), {});
        const auto right = run_on_cpu(model, row({5, 17, 42, 99, 3, 0}, {1, 1, 1, 1, 1, 0}), {});
        CHECK(shifted_difference(*plain.logits, *left.logits, 2) < 1e-4);
        CHECK(shifted_difference(*plain.logits, *right.logits, 0) < 1e-5);
    }
    const Model bert = model_of("bert_tiny");
    CHECK(shifted_difference(*run_on_cpu(bert, row(ids), {}).logits,
                             *run_on_cpu(bert, row({5, 17, 42, 99, 3, 0}, {1, 1, 1, 1, 1, 0}), {}).logits,
                             0) < 1e-5);
}

TEST_CASE("a gain reaches its head and its layer alone") {
    const Model model = model_of("gpt2_tiny");
    const ModelInputs inputs = row({1, 2, 3, 4});
    const ForwardOptions plain{.stages = StageSet::all()};
    ForwardOptions muted = plain;
    muted.edits[1].gains = {1, 1, 0, 1};
    const auto before = run_on_cpu(model, inputs, plain), after = run_on_cpu(model, inputs, muted);
    CHECK(bitwise_difference(after.layers[0].trace, before.layers[0].trace) == "");
    const Tensor& concat = *after.layers[1].trace.stage(TensorId::concat);
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t c = 16; c < 24; ++c)
            CHECK(concat.at(0, i, c) == 0.0F);
    CHECK(shifted_difference(*before.logits, *after.logits, 0) > 1e-3);
    muted.edits = {{2, {}}};
    CHECK_THAT(input_error([&] { run_on_cpu(model, inputs, muted); }), Contains("name layer 2"));
}

TEST_CASE("GPT-2 adds the word embedding of its token types") {
    const Model model = model_of("gpt2_tiny");
    ModelInputs typed = row({4, 5});
    typed.token_types = {7, 8};
    const auto plain = run_on_cpu(model, row({4, 5}), {}), changed = run_on_cpu(model, typed, {});
    const TensorPtr words = model.weight(TensorId::W_E);
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t c = 0; c < words->shape()[1]; ++c)
            CHECK(changed.hidden[0]->at(0, i, c) ==
                  Approx(plain.hidden[0]->at(0, i, c) + words->at(7 + i, c)).margin(1e-6));
}

TEST_CASE("inputs that do not fit the model are named") {
    const Model gpt2 = model_of("gpt2_tiny"), bert = model_of("bert_tiny"),
                roberta = model_of("roberta_tiny");
    const auto fault = [](const Model& model, const ModelInputs& inputs) {
        return input_error([&] { run_on_cpu(model, inputs, {}); });
    };
    CHECK_THAT(fault(gpt2, row({1, 200})), Contains("input_ids[0, 1] is 200") && Contains("0 to 199"));
    CHECK_THAT(fault(gpt2, row({-1})), Contains("is -1"));
    CHECK_THAT(fault(gpt2, row({})), Contains("no token ids"));
    CHECK(fault(gpt2, row(std::vector<std::int64_t>(64, 1))).empty());
    CHECK_THAT(fault(gpt2, row(std::vector<std::int64_t>(65, 1))),
               Contains("65 tokens") && Contains("positions for 64"));
    CHECK(fault(roberta, row(std::vector<std::int64_t>(48, 7))).empty());
    CHECK_THAT(fault(roberta, row(std::vector<std::int64_t>(49, 7))), Contains("positions for 48"));
    CHECK_THAT(fault(gpt2, row({1, 2}, {1})), Contains("attention_mask has 1 entries"));
    ModelInputs typed = row({1, 2});
    typed.token_types = {0, 2};
    CHECK_THAT(fault(bert, typed), Contains("token_type_ids[0, 1] is 2"));
    typed.token_types = {0, 1};
    CHECK(fault(bert, typed).empty());
    CHECK_THAT(fault(model_of("llama_tiny_tied"), typed), Contains("llama has no token types"));
    typed.token_types = {0, 200};
    CHECK_THAT(fault(gpt2, typed), Contains("token_type_ids[0, 1] is 200"));
    CHECK_THAT(input_error([&] { run_on_cpu(gpt2, row({1}), {.stages = only_weights, .layer = 2}); }),
               Contains("no layer 2"));
}

TEST_CASE("a pass hands out its layers one by one and keeps none of them") {
    const Model model = model_of("gpt2_tiny");
    const ForwardOptions together{.stages = only_weights};
    const ForwardResult all = run_on_cpu(model, row({1, 2, 3}), together);
    ForwardOptions one_by_one = together;
    std::vector<LayerRun> taken;
    one_by_one.take = [&](LayerRun layer) { taken.push_back(std::move(layer)); };
    CHECK(run_on_cpu(model, row({1, 2, 3}), one_by_one).layers.empty());
    REQUIRE((taken.size() == all.layers.size() && !taken.empty()));
    for (std::size_t l = 0; l < taken.size(); ++l) {
        CHECK(taken[l].place == all.layers[l].place);
        CHECK(std::ranges::equal(taken[l].trace.stage(TensorId::weights)->values(),
                                 all.layers[l].trace.stage(TensorId::weights)->values()));
    }
}

TEST_CASE("a pass reports its progress and can be cancelled between layers") {
    const Model model = model_of("gpt2_tiny");
    Progress progress;
    std::vector<float> seen;
    WatchedBackend watch([&](const auto&, auto&, Progress& shared) { seen.push_back(shared.fraction()); });
    run_model(model, row({1, 2}), {}, &watch, progress);
    CHECK(std::ssize(seen) > model.config().layers);
    CHECK(std::ranges::is_sorted(seen));
    CHECK((seen[1] > 0.0F && seen.back() < 1.0F));
    CHECK(progress.fraction() == 1.0F);

    int calls = 0;
    WatchedBackend stop([&](const auto&, auto&, Progress& shared) {
        ++calls;
        shared.cancel();
    });
    CHECK(error_kind([&] { run_model(model, row({1, 2}), {}, &stop, progress); }) == ErrorKind::cancelled);
    CHECK(calls == 1);
}
