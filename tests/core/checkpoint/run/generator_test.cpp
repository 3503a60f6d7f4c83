#include "core/checkpoint/generation/generator.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

using Ids = std::vector<std::int64_t>;
using ModelPtr = std::shared_ptr<const Model>;

ModelPtr model_in(const std::string& folder) {
    return std::make_shared<const Model>(Model::open(folder));
}

ModelPtr golden_model(const std::string& name) {
    return model_in(test_data("/models/") + name);
}

std::vector<std::string> causal_models() {
    std::vector<std::string> names = model_case_names();
    std::erase_if(names, [](const std::string& name) { return !golden_model(name)->architecture().causal; });
    return names;
}

ModelInputs text_of(Ids ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    return inputs;
}

std::vector<float> logits_of(Generator& generator) {
    Progress progress;
    const std::span<const float> logits = generator.logits(progress);
    return {logits.begin(), logits.end()};
}

/// The logits of the last token when the whole text is run at once.
std::vector<float> whole_logits(const Model& model, const Ids& ids, const ModelEdits& edits = {}) {
    const TensorPtr all = run_on_cpu(model, text_of(ids), {.edits = edits}).logits;
    const auto vocab = static_cast<std::size_t>(model.architecture().vocab);
    const auto last = all->values().last(vocab);
    return {last.begin(), last.end()};
}

/// Adds the likeliest token `count` times.
void go_on(Generator& generator, int count) {
    Progress progress;
    for (int n = 0; n < count; ++n) {
        const Distribution next = generator.next({}, 1, progress);
        generator.append(next.candidates[next.taken].id);
    }
}

} // namespace

TEST_CASE("every causal golden model goes on with a text as runs of the whole text do") {
    REQUIRE(causal_models().size() >= 14);
    for (const std::string& name : causal_models()) {
        INFO(name);
        const ModelPtr model = golden_model(name);
        Generator generator(model, text_of({5, 7, 11, 3}));
        Progress progress;
        for (int step = 0; step < 12; ++step) {
            INFO("step " << step);
            const std::vector<float> whole = whole_logits(*model, generator.ids());
            CHECK(logits_of(generator) == whole);
            const Distribution next = generator.next({}, 0, progress);
            const Candidate& taken = next.candidates[next.taken];
            CHECK(taken.id == std::ranges::max_element(whole) - whole.begin());
            double sum = 0;
            for (const float logit : whole)
                sum += std::exp(static_cast<double>(logit) - static_cast<double>(taken.logit));
            CHECK(std::abs(taken.probability - 1 / sum) < 1e-5);
            CHECK(generator.cached() == generator.length());
            generator.append(taken.id);
        }
    }
}

TEST_CASE("a text that is put in token by token has Hugging Face's logits") {
    for (const std::string& name : causal_models()) {
        INFO(name);
        const ModelCase one = load_model_case(name);
        Generator generator(golden_model(name), text_of({one.inputs.ids[0], one.inputs.ids[1]}));
        double worst = 0;
        for (std::int64_t i = 1; i < one.T; ++i) {
            if (i > 1)
                generator.append(one.inputs.ids[static_cast<std::size_t>(i)]);
            const std::vector<float> logits = logits_of(generator);
            for (std::int64_t c = 0; c < one.vocab; ++c)
                worst = std::max(worst, std::abs(static_cast<double>(
                                            logits[static_cast<std::size_t>(c)] -
                                            one.logits[static_cast<std::size_t>(i * one.vocab + c)])));
        }
        CHECK(worst < 1e-4);
    }
}

TEST_CASE("the cache holds the keys and values of a run of the whole text, and the newest row its weights") {
    for (const std::string& name : causal_models()) {
        INFO(name);
        const ModelPtr model = golden_model(name);
        const Architecture& a = model->architecture();
        Generator generator(model, text_of({9, 8, 7, 6, 5, 4}));
        generator.keep_weights(true);
        go_on(generator, 4);
        Progress progress;
        const TensorPtr weights = generator.last_weights(progress);
        const StageSet stages =
            StageSet().with(TensorId::k_heads).with(TensorId::v_heads).with(TensorId::weights);
        const ForwardResult whole = run_on_cpu(*model, text_of(generator.ids()), {.stages = stages});
        REQUIRE(weights->shape() == Shape{a.layers, a.H, 10});
        REQUIRE(generator.cached() == 10);
        int different = 0;
        std::vector<float> key(static_cast<std::size_t>(a.dk)), value(static_cast<std::size_t>(a.dv()));
        const std::vector<std::int64_t> layers = attention_layers(a);
        REQUIRE(whole.layers.size() == layers.size());
        for (const LayerRun& layer : whole.layers) {
            const std::int64_t l = layer.place.layer;
            const Trace& trace = layer.trace;
            for (std::int64_t g = 0; g < a.Hkv; ++g)
                for (std::int64_t i = 0; i < 10; ++i) {
                    generator.read_cache(l, g, i, key, value);
                    for (std::size_t c = 0; c < key.size(); ++c)
                        different += trace.stage(TensorId::k_heads)->at(0, g, i, c) == key[c] ? 0 : 1;
                    for (std::size_t c = 0; c < value.size(); ++c)
                        different += trace.stage(TensorId::v_heads)->at(0, g, i, c) == value[c] ? 0 : 1;
                }
            for (std::int64_t h = 0; h < a.H; ++h)
                for (std::int64_t j = 0; j < 10; ++j)
                    different +=
                        trace.stage(TensorId::weights)->at(0, h, 9, j) == weights->at(l, h, j) ? 0 : 1;
        }
        CHECK(different == 0);
        CHECK(generator.cache_bytes() == 4 * std::ssize(layers) * a.Hkv * (a.dk + a.dv()) * 10);
    }
}

TEST_CASE("a window and grouped heads make what a step reads smaller") {
    Generator grouped(golden_model("mistral_tiny"), text_of({1, 2, 3, 4, 5, 6}));
    logits_of(grouped);
    // 2 layers, 2 of 8 heads, dk 8, 6 tokens, of which the window has 4.
    CHECK(grouped.cache_bytes() == 2 * 2 * 2 * 8 * 6 * 4);
    CHECK(grouped.read_bytes() == 2 * 2 * 2 * 8 * 4 * 4);
}

TEST_CASE("a text goes on to the last position, and the cache grows with it") {
    const ModelPtr model = golden_model("gpt2_tiny");
    Generator generator(model, text_of({5, 7, 11}));
    go_on(generator, 61);
    CHECK(generator.length() == 64);
    CHECK(generator.full());
    CHECK(logits_of(generator) == whole_logits(*model, generator.ids()));
    CHECK_THAT(input_error([&] { generator.append(1); }), Contains("64 tokens") && Contains("no more"));
    CHECK(logits_of(generator) == whole_logits(*model, generator.ids()));
}

TEST_CASE("tokens are taken back and drawn again, and branches do not disturb each other") {
    const ModelPtr model = golden_model("llama_tiny_tied");
    const SamplingSettings settings{.temperature = 1.5, .top_k = 40, .top_p = {}, .seed = 3};
    Generator generator(model, text_of({5, 7, 11}));
    Progress progress;
    const auto draw = [&](Generator& one, int count) {
        for (int n = 0; n < count; ++n) {
            const Distribution next = one.next(settings, 0, progress);
            one.append(next.candidates[next.taken].id);
        }
    };
    draw(generator, 9);
    const Ids drawn = generator.ids();
    generator.take_back(6);
    CHECK(generator.ids() == Ids(drawn.begin(), drawn.begin() + 6));
    draw(generator, 6);
    CHECK(generator.ids() == drawn);
    // A branch, another token, and further; the first text then continues unchanged.
    generator.take_back(4);
    Generator branch = generator;
    branch.append((drawn[8] + 1) % 128);
    draw(branch, 5);
    CHECK(logits_of(branch) == whole_logits(*model, branch.ids()));
    draw(generator, 4);
    CHECK(generator.ids() == drawn);
    CHECK(logits_of(generator) == whole_logits(*model, drawn));
    // Back into the prompt.
    generator.take_back(11);
    CHECK(logits_of(generator) == whole_logits(*model, {5}));
    CHECK_THAT(input_error([&] { generator.take_back(1); }), Contains("of a text of 1"));
    CHECK_THAT(input_error([&] { generator.take_back(-1); }), Contains("-1 tokens"));
}

TEST_CASE("a step that is cancelled leaves the text as it was") {
    const ModelPtr model = golden_model("gpt2_tiny");
    Generator generator(model, text_of({5, 7, 11}));
    go_on(generator, 2);
    Progress stopped;
    stopped.cancel();
    CHECK(error_kind([&] { generator.logits(stopped); }) == ErrorKind::cancelled);
    CHECK(generator.length() == 5);
    CHECK(logits_of(generator) == whole_logits(*model, generator.ids()));
}

TEST_CASE("edits of heads reach every step") {
    const ModelPtr model = golden_model("gpt2_tiny");
    ModelEdits edits;
    edits[1].gains = {0, 1, 1, 2};
    Generator generator(model, text_of({5, 7, 11}), edits);
    go_on(generator, 5);
    CHECK(logits_of(generator) == whole_logits(*model, generator.ids(), edits));
    CHECK(logits_of(generator) != whole_logits(*model, generator.ids()));
    edits[1].gains = {1};
    CHECK_THAT(input_error([&] { Generator(model, text_of({5}), edits); }), Contains("gains"));
}

TEST_CASE("angles that change with the length of the text are computed again for all of it") {
    const TemporaryFolder folder;
    const std::string from = test_data("/models/phi3_tiny/");
    auto config = nlohmann::json::parse(read_file(from + "config.json"));
    config["original_max_position_embeddings"] = 6;
    config["rope_scaling"] = {
        {"type", "longrope"}, {"short_factor", {1.0, 1.0, 1.0, 1.0}}, {"long_factor", {2.0, 3.0, 4.0, 5.0}}};
    write_file_atomically(folder.file("config.json"), config.dump());
    write_file_atomically(folder.file("model.safetensors"), read_file(from + "model.safetensors"));
    const ModelPtr model = model_in(folder.file(""));
    Generator generator(model, text_of({5, 7, 11}));
    for (int n = 0; n < 6; ++n) {
        go_on(generator, 1);
        CHECK(logits_of(generator) == whole_logits(*model, generator.ids()));
    }
    generator.take_back(4);
    CHECK(logits_of(generator) == whole_logits(*model, generator.ids()));
    Generator longer(model, text_of({5, 7, 11, 13, 2, 3, 4}));
    Progress progress;
    CHECK(longer.last_weights(progress)->shape() == Shape{2, 4, 7});
    CHECK(logits_of(longer) == whole_logits(*model, longer.ids()));
}

TEST_CASE("a prompt or a model that cannot be gone on with is named") {
    const ModelPtr gpt2 = golden_model("gpt2_tiny");
    const auto fault = [](const ModelPtr& model, const ModelInputs& prompt) {
        return input_error([&] { Generator(model, prompt); });
    };
    CHECK_THAT(fault(gpt2, text_of({})), Contains("no token ids"));
    CHECK_THAT(fault(gpt2, text_of({5, 200})), Contains("input_ids[0, 1] is 200") && Contains("0 to 199"));
    CHECK_THAT(fault(gpt2, text_of(Ids(65, 1))), Contains("65 tokens") && Contains("positions for 64"));
    CHECK_THAT(fault(golden_model("llama_tiny_tied"), text_of(Ids(65, 1))), Contains("positions for 64"));
    CHECK_THAT(fault(golden_model("bert_tiny"), text_of({5})), Contains("bert model reads each text"));
    ModelInputs padded = text_of({5, 6});
    padded.attention_mask = {1, 0};
    CHECK_THAT(fault(gpt2, padded), Contains("padding"));
    Generator generator(gpt2, text_of({5}));
    CHECK_THAT(input_error([&] { generator.append(200); }), Contains("is 200") && Contains("0 to 199"));
    Progress progress;
    CHECK_THAT(
        input_error([&] { generator.next({.temperature = -1, .top_k = {}, .top_p = {}}, 0, progress); }),
        Contains("temperature"));
}
