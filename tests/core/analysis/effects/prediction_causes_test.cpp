#include "core/analysis/effects/prediction_causes.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

using namespace headscope;
using namespace headscope::analysis;
using namespace headscope::checkpoint;
using Catch::Contains;

namespace {

constexpr const char* mary_and_john = "When Mary and John went to the shop, John gave a book to";

ModelRunPtr run_of(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits = {}) {
    Progress progress;
    return ModelRun::compute(model, inputs, edits, nullptr, ModelRun::Options(), progress);
}

ModelInputs six_tokens(const Model& model) {
    ModelInputs inputs;
    inputs.ids = {3, 7, 5, 11, 2, 9};
    inputs.T = 6;
    if (model.encoder() != nullptr)
        inputs.source = {inputs};
    return inputs;
}

ModelEdits without_head(const ModelConfig& a, AttentionPlace place, std::int64_t head) {
    ModelEdits edits;
    std::vector<float>& gains = edits[attention_number(a, place)].gains;
    gains.assign(static_cast<std::size_t>(in_stack(a, place.stack).H), 1.0F);
    gains[static_cast<std::size_t>(head)] = 0;
    return edits;
}

} // namespace

TEST_CASE("pocket predicts Mary mostly because of a head that attends to Mary", "[causes]") {
    const TextModelPtr model = open_text_model(model_folder("pocket"));
    const ModelInputs inputs = prompt_inputs(*model, mary_and_john);
    const ModelRunPtr run = run_of(model->model, inputs);
    const PredictionCauses causes = prediction_causes(*run, inputs.T - 1, 5, Progress());
    const std::int64_t mary = word_token(*model, "Mary"), john = word_token(*model, "John");
    CHECK(causes.question.token == mary);
    CHECK(causes.question.against == john);
    // The parts are those that PyTorch gives, see logit_attribution_test.
    REQUIRE(causes.largest.size() == 3);
    CHECK(causes.largest[0].writer == Writer{.kind = Writer::Kind::head, .layer = 2, .head = 7});
    CHECK(causes.largest[0].value == Approx(4.0126).margin(2e-4));
    CHECK(causes.largest[1].writer == Writer{.kind = Writer::Kind::head, .layer = 2, .head = 4});
    CHECK(causes.largest[1].value == Approx(-3.12111).margin(2e-4));
    CHECK(causes.largest[0].key == 2);
    CHECK(model->tokenizer != nullptr);
    CHECK(inputs.ids[2] == mary);
    // The probabilities at temperature 1 belong to the logit difference.
    CHECK(std::log(static_cast<double>(causes.likeliest[0].probability) /
                   static_cast<double>(causes.likeliest[1].probability)) ==
          Approx(causes.difference).margin(1e-4));
    REQUIRE(causes.without);
    CHECK(causes.without->likeliest.front().id == john);
    CHECK(causes.without->difference == Approx(-2.383).margin(1e-3)); // as effects.md says
}

TEST_CASE("the causes of a prediction add up to the logit difference, and a run without the head is a run "
          "with its gain at 0",
          "[causes]") {
    int with_head = 0;
    for (const char* const name : {"gpt2_tiny", "gemma2_tiny", "gptj_tiny", "bert_tiny", "t5_tiny",
                                   "llama_tiny_tied", "qwen2_tiny", "bloom_tiny"}) {
        CAPTURE(name);
        if (!std::filesystem::exists(test_data(std::string("/models/") + name)))
            continue;
        const auto model =
            std::make_shared<const Model>(Model::open(test_data("/models/") + std::string(name)));
        const ModelInputs inputs = six_tokens(*model);
        const ModelRunPtr run = run_of(model, inputs);
        const std::int64_t position = 4;
        const PredictionCauses causes = prediction_causes(*run, position, 4, Progress());
        double sum = causes.rest;
        for (const PredictionCause& cause : causes.largest)
            sum += cause.value;
        CHECK(sum == Approx(causes.difference).margin(1e-5));
        const TensorPtr logits = run->logits();
        const auto logit = [&](const Tensor& of, std::int64_t id) {
            return static_cast<double>(of.at(0, position, id));
        };
        CHECK(causes.capped ==
              Approx(logit(*logits, causes.question.token) - logit(*logits, causes.question.against))
                  .margin(1e-4));
        CHECK(causes.capped >= 0);
        for (std::size_t n = 1; n + 1 < causes.largest.size(); ++n)
            CHECK(std::abs(causes.largest[n].value) >= std::abs(causes.largest[n + 1].value));
        if (!causes.head)
            continue;
        ++with_head;
        const Writer& head = causes.head->writer;
        const AttentionPlace place{head.stack, head.layer};
        const ModelRunPtr off = run_of(model, inputs, without_head(model->config(), place, head.head));
        const TensorPtr off_logits = off->logits();
        CHECK(causes.without->difference ==
              Approx(logit(*off_logits, causes.question.token) - logit(*off_logits, causes.question.against))
                  .margin(2e-5));
        const auto row =
            off_logits->values().subspan(static_cast<std::size_t>(off_logits->offset(0, position, 0)),
                                         static_cast<std::size_t>(off_logits->shape()[2]));
        const std::vector<TokenChance> listed = likeliest(row, 4);
        REQUIRE(causes.without->likeliest.size() == listed.size());
        CHECK(causes.without->likeliest.front().probability ==
              Approx(listed.front().probability).margin(1e-6));
        // With the head on again, the run is the first one.
        const GainPrediction again =
            prediction_with_gain(*off, place, head.head, 1, position,
                                 {causes.question.token, causes.question.against}, 4, Progress());
        CHECK(again.difference == Approx(causes.capped).margin(2e-5));
        CHECK(again.likeliest.front().id == causes.question.token);
        // The weights are the row of the head at the position.
        const TensorPtr weights = run->weights(attention_number(model->config(), place));
        for (std::size_t j = 0; j < causes.head->weights.size(); ++j)
            CHECK(causes.head->weights[j] ==
                  Approx(weights->at(0, head.head, position, static_cast<std::int64_t>(j))).margin(1e-6));
    }
    CHECK(with_head >= 4);
}

TEST_CASE("the causes of a prediction refuse a position outside the text", "[causes]") {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/gpt2_tiny")));
    const ModelRunPtr run = run_of(model, six_tokens(*model));
    CHECK_THROWS_WITH(prediction_causes(*run, 6, 4, Progress()), Contains("no position 6"));
    CHECK_THROWS_WITH(prediction_with_gain(*run, {Stack::own, 0}, 99, 0, 0, {}, 2, Progress()),
                      Contains("no head 99"));
}
