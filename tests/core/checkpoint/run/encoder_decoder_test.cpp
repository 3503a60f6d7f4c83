#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/run/model_run.h"
#include "core/graph/builder.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/reference.h"
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

using Ids = std::vector<std::int64_t>;

ModelPtr golden(const std::string& name) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name));
}

ModelInputs one_text(Ids ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    return inputs;
}

ModelInputs pair_of(Ids source, Ids target) {
    ModelInputs inputs = one_text(std::move(target));
    inputs.source = {one_text(std::move(source))};
    return inputs;
}

const Ids source_ids{5, 17, 32, 29, 3, 8}, translated_ids{0, 7, 30, 12};

ModelRunPtr run_pair(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits = {},
                     const ModelRunPtr& before = nullptr, std::size_t kept = std::size_t{1} << 20U) {
    Progress progress;
    return ModelRun::compute(model, inputs, edits, before, {kept}, progress);
}

void check_same_pass(const ModelRun& a, const ModelRun& b) {
    for (std::int64_t n = 0; n < attention_count(a.model().architecture()); ++n) {
        INFO("attention " << n);
        CHECK(std::ranges::equal(a.weights(n)->values(), b.weights(n)->values()));
    }
    CHECK(std::ranges::equal(a.logits()->values(), b.logits()->values()));
}

} // namespace

TEST_CASE("every golden encoder-decoder meets the numbers of Hugging Face, or of PyTorch's layers") {
    const auto names = model_case_names(true);
    REQUIRE(names.size() == 4);
    for (const std::string& name : names) {
        INFO(name);
        const ModelPtr model = golden(name);
        const CheckpointReport& report = model->report();
        CHECK(report.missing.empty());
        CHECK(report.head_missing.empty());
        CHECK(report.wrong_shape.empty());
        CHECK(report.unknown.empty());
        CHECK(report.unused.empty());
        Progress progress;
        const auto rows = check_against(
            *model, format::Safetensors::open(model->path() + "/expected.safetensors"), nullptr, progress);
        const std::int64_t encoder = model->architecture().encoder->layers,
                           decoder = model->architecture().layers;
        // Attentions of each layer, a hidden state more than layers, logits.
        CHECK(std::ssize(rows) == encoder + 2 * decoder + encoder + 1 + decoder + 1 + 1);
        for (const ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1));
            CHECK(row.difference < (row.kind == "logits"                           ? 1e-4
                                    : row.kind.find("hidden") != std::string::npos ? 2e-5
                                                                                   : 1e-5));
        }
    }
}

TEST_CASE("kept problems of all three kinds of attention recompute it, all stages") {
    for (const std::string& name : model_case_names(true)) {
        const ModelPtr model = golden(name);
        const ForwardResult result =
            run_on_cpu(*model, pair_of(source_ids, translated_ids),
                       {.stages = StageSet::all(), .layer = 0, .keep_problems = true});
        INFO(name);
        REQUIRE(result.layers.size() == 3);
        for (const LayerRun& layer : result.layers) {
            CHECK(layer.place.layer == 0);
            CHECK(difference(layer.trace, reference_trace(*layer.problem)) == "");
            CHECK(layer.problem->cross() == (layer.place.stack == Stack::cross));
        }
        CHECK(result.layers[2].problem->dims.Tk == 6);
    }
}

TEST_CASE("the branches of a decoder's layer add up from stream to stream") {
    StageSet stages;
    for (const TensorInfo& stage : block_table())
        stages = stages.with(stage.id);
    for (const std::string& name : model_case_names(true)) {
        INFO(name);
        const ModelPtr model = golden(name);
        const ForwardResult result =
            run_on_cpu(*model, pair_of(source_ids, translated_ids), {.stages = stages});
        const auto of = [&](Stack stack, TensorId id) -> const Tensor& {
            for (const BlockRun& block : result.blocks)
                if (block.place == AttentionPlace{stack, 0} && block.id == id)
                    return *block.tensor;
            FAIL("no " << tensor_info(id).name);
            throw 0;
        };
        const auto adds_up = [](const Tensor& a, const Tensor& b, const Tensor& sum) {
            for (std::int64_t i = 0; i < sum.count(); ++i)
                CHECK(sum.data()[i] == Approx(a.data()[i] + b.data()[i]).margin(1e-6));
        };
        using enum TensorId;
        const bool before = model->architecture().norms.before;
        adds_up(of(Stack::own, resid_in), of(Stack::own, attn_out), of(Stack::own, resid_mid));
        adds_up(of(Stack::cross, resid_in), of(Stack::cross, attn_out), of(Stack::cross, resid_mid));
        adds_up(of(Stack::cross, before ? resid_mid : norm1), of(Stack::cross, mlp_out),
                of(Stack::cross, resid_out));
        CHECK(of(Stack::cross, resid_in).values()[0] ==
              of(Stack::own, before ? resid_mid : norm1).values()[0]);
    }
}

TEST_CASE("a run of an encoder-decoder starts where its edits or its texts begin to differ") {
    for (const std::string& name : model_case_names(true)) {
        INFO(name);
        const ModelPtr model = golden(name);
        const ModelInputs inputs = pair_of(source_ids, translated_ids);
        const ModelRunPtr plain = run_pair(model, inputs);
        CHECK(plain->info(Stack::cross).Tq == 4);
        CHECK(plain->info(Stack::cross).Tk == 6);
        const Architecture& a = model->architecture();
        const std::int64_t first_own = attention_number(a, {Stack::own, 0});
        for (std::int64_t n = 0; n < attention_count(a); ++n) {
            INFO("attention " << n);
            ModelEdits edits;
            edits[n].gains.assign(static_cast<std::size_t>(in_stack(a, attention_place(a, n).stack).H), 1.0F);
            edits[n].gains[1] = 0.0F;
            const ModelRunPtr alone = run_pair(model, inputs, edits),
                              shared = run_pair(model, inputs, edits, plain);
            CHECK(shared->computed_from() == n);
            check_same_pass(*alone, *shared);
            check_same_pass(*alone, *run_pair(model, inputs, edits, plain, 0));
            CHECK_FALSE(std::ranges::equal(alone->logits()->values(), plain->logits()->values()));
            for (std::int64_t m = 0; m < attention_count(a); ++m) {
                const Problem changed = alone->problem(m), same = plain->problem(m);
                const bool same_source =
                    same.x_kv == nullptr || std::ranges::equal(changed.x_kv->values(), same.x_kv->values());
                const bool reads_target_alone = m == first_own && n < first_own;
                CHECK((std::ranges::equal(changed.x->values(), same.x->values()) && same_source) ==
                      (m <= n || reads_target_alone));
            }
        }
        const ModelInputs longer = pair_of(source_ids, {0, 7, 30, 12, 9});
        const ModelRunPtr on = run_pair(model, longer, {}, plain);
        CHECK(on->computed_from() == first_own);
        check_same_pass(*run_pair(model, longer), *on);
        CHECK(run_pair(model, pair_of({5, 17, 32, 29, 3}, translated_ids), {}, plain)->computed_from() == 0);
    }
}

TEST_CASE("an encoder-decoder goes on with its decoder's text as runs of the whole text do") {
    for (const std::string& name : model_case_names(true)) {
        INFO(name);
        const ModelPtr model = golden(name);
        ModelEdits edits;
        edits[3].gains = {1, 0, 2, 1};
        for (const ModelEdits& changed : {ModelEdits(), edits}) {
            const std::int64_t start = model->architecture().start_id;
            Generator generator(model, pair_of(source_ids, {start}), changed);
            Progress progress;
            for (int step = 0; step < 10; ++step) {
                INFO("step " << step);
                const TensorPtr whole =
                    run_on_cpu(*model, pair_of(source_ids, generator.ids()), {.edits = changed}).logits;
                const auto vocab = static_cast<std::size_t>(model->architecture().vocab);
                CHECK(std::ranges::equal(generator.logits(progress), whole->values().last(vocab)));
                const Distribution next = generator.next({}, 1, progress);
                generator.append(next.candidates[next.taken].id);
                if (step == 6)
                    generator.take_back(2);
            }
            // Keys and values of each layer, of the decoder's tokens and of the encoder's six.
            const Architecture& a = model->architecture();
            CHECK(generator.cache_bytes() == 2 * a.layers * a.D * 4 * (generator.cached() + 6));
        }
    }
}

TEST_CASE("distances fall into the buckets of T5's table") {
    // Computed with torch as in Hugging Face's T5: distances -130 .. 130 at 32 buckets up to 128.
    constexpr std::int64_t T = 131;
    graph::Builder builder;
    const graph::Value table = builder.parameter({"table", {}, "b"}, {{"buckets", 32}, {"H", 1}});
    const auto bias = [&](const char* name, bool both_sides) {
        return builder.make(
            {name, {}, "b"}, graph::Op::distance_bias,
            graph::DistanceBias{.queries = T, .keys = T, .furthest = 128, .both_sides = both_sides}, {table});
    };
    bias("encoder", true);
    bias("decoder", false);
    const graph::Graph graph = builder.finish();
    const auto bucket_of = [&](const char* node, std::int64_t distance) {
        const std::int64_t query = std::max<std::int64_t>(0, -distance);
        return graph.reads(graph.find(node), {0, query, query + distance}).front().first[0];
    };
    for (const auto& [distance, both, back] : {std::tuple(-130, 15, 31),
                                               {-91, 15, 29},
                                               {-90, 14, 29},
                                               {-64, 14, 26},
                                               {-46, 13, 24},
                                               {-16, 10, 16},
                                               {-12, 9, 12},
                                               {-8, 8, 8},
                                               {-7, 7, 7},
                                               {-1, 1, 1},
                                               {0, 0, 0},
                                               {1, 17, 0},
                                               {7, 23, 0},
                                               {8, 24, 0},
                                               {32, 28, 0},
                                               {64, 30, 0},
                                               {130, 31, 0}}) {
        INFO(distance);
        CHECK(bucket_of("encoder", distance) == both);
        CHECK(bucket_of("decoder", distance) == back);
    }
}

TEST_CASE("inputs of an encoder-decoder that do not fit it are named") {
    const ModelPtr t5 = golden("t5_tiny"), gpt2 = golden("gpt2_tiny");
    const auto fault = [](const ModelPtr& model, const ModelInputs& inputs) {
        return input_error([&] { run_on_cpu(*model, inputs, {}); });
    };
    CHECK_THAT(fault(t5, one_text({1, 2})), Contains("encoder and its decoder"));
    CHECK_THAT(fault(gpt2, pair_of({1}, {2})), Contains("one stack"));
    CHECK_THAT(fault(t5, pair_of({1, 160}, {2})), Contains("input_ids[0, 1] is 160"));
    CHECK_THAT(fault(t5, pair_of({1}, {200})), Contains("decoder_input_ids[0, 0] is 200"));
    CHECK_THAT(fault(golden("bart_tiny"), pair_of({1}, Ids(65, 3))), Contains("positions for 64"));
}
