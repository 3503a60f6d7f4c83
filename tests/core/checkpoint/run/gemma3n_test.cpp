#include "core/analysis/effects/ablation_sweep.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/logit_lens.h"
#include "core/analysis/effects/patching.h"
#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/model_run.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
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

std::shared_ptr<const Model> gemma3n_model() {
    return std::make_shared<const Model>(Model::open(test_data("/models/gemma3n_text_tiny")));
}

ModelInputs gemma3n_inputs(std::vector<std::int64_t> ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    return inputs;
}

ModelInputs gemma3n_text() {
    return gemma3n_inputs({5, 9, 13, 22, 31, 40, 51, 60, 7, 11, 19, 23});
}

/// The numbers of some nodes of a run of the text.
run::RunPtr gemma3n_nodes(const std::vector<std::string>& names, const ModelEdits& edits = {}) {
    GraphRuns runs(gemma3n_model(), gemma3n_text(), edits);
    std::vector<graph::Part> parts;
    for (const std::string& name : names)
        parts.push_back({name});
    Progress progress;
    return runs.run(parts, {}, nullptr, progress);
}

double gemma3n_number(const TensorPtr& tensor, std::int64_t i, std::int64_t c) {
    return static_cast<double>(tensor->at(0, i, c));
}

/// Edits that double every other number of a weight of a layer: norms of keys and values undo a scale of all.
ModelEdits gemma3n_edits(std::int64_t layer, TensorId weight) {
    const TensorPtr own = gemma3n_model()->layer(layer)[weight];
    auto edited = std::make_shared<Tensor>(own->shape(), own->values());
    for (std::size_t n = 0; n < edited->values().size(); n += 2)
        edited->values()[n] *= 2;
    LayerEdits edits;
    edits.tensors[weight] = std::move(edited);
    return {{layer, edits}};
}

} // namespace

TEST_CASE("all copies of the residual stream of Gemma 3n meet Hugging Face's numbers") {
    const std::shared_ptr<const Model> model = gemma3n_model();
    CHECK(model->report().unknown.empty());
    const auto reference =
        format::Safetensors::open(test_data("/models/gemma3n_text_tiny/expected.safetensors"));
    Progress progress;
    ReferenceGaps gaps;
    const std::vector<ReferenceRow> rows = check_against(*model, reference, nullptr, progress, &gaps);
    CHECK(rows.size() == 5 + 6 + 1); // attentions, residual streams, logits
    for (const ReferenceRow& row : rows) {
        INFO(row.kind << " " << row.layer.value_or(-1) << " " << row.difference);
        CHECK(row.agrees());
    }
    CHECK((gaps.missing_here.empty() && gaps.not_compared.empty()));
}

TEST_CASE("values of Gemma 3n have the root mean square 1, and scores are not divided") {
    const ForwardResult run = run_on_cpu(
        *gemma3n_model(), gemma3n_text(),
        {.stages = StageSet().with(TensorId::v_heads).with(TensorId::scores).with(TensorId::scaled)});
    for (const LayerRun& layer : run.layers) {
        const Trace& trace = layer.trace;
        CHECK(trace.parts.value_norm);
        const Tensor& values = *trace.stage(TensorId::v_heads);
        const std::int64_t width = values.shape().back(0);
        for (std::int64_t row = 0; row < values.count() / width; ++row) {
            double squares = 0;
            for (std::int64_t c = 0; c < width; ++c)
                squares += std::pow(static_cast<double>(values.data()[row * width + c]), 2);
            CHECK(squares / static_cast<double>(width) == Approx(1).margin(1e-3)); // but for eps
        }
        const Tensor &scores = *trace.stage(TensorId::scores), &scaled = *trace.stage(TensorId::scaled);
        for (std::int64_t n = 0; n < scores.count(); ++n)
            CHECK(static_cast<double>(scaled.data()[n]) ==
                  Approx(static_cast<double>(scores.data()[n])).margin(1e-5));
    }
}

TEST_CASE("the last layers of Gemma 3n have the keys and values of an earlier layer") {
    const run::RunPtr run =
        gemma3n_nodes({"layers.1.k_heads", "layers.3.k_heads", "layers.2.v_heads", "layers.4.v_heads",
                       "layers.1.v_heads", "layers.3.v_heads", "layers.2.k_heads"});
    CHECK(std::ranges::equal((*run)["layers.3.k_heads"]->values(), (*run)["layers.1.k_heads"]->values()));
    CHECK(std::ranges::equal((*run)["layers.3.v_heads"]->values(), (*run)["layers.1.v_heads"]->values()));
    CHECK(std::ranges::equal((*run)["layers.4.v_heads"]->values(), (*run)["layers.2.v_heads"]->values()));
    CHECK_FALSE(
        std::ranges::equal((*run)["layers.2.k_heads"]->values(), (*run)["layers.1.k_heads"]->values()));
    const std::shared_ptr<const Model> model = gemma3n_model();
    CHECK(model->layer(3)[TensorId::W_K] == nullptr);
    CHECK(edited_with(model->architecture(), 3, TensorId::W_K) == 1);
    CHECK(edited_with(model->architecture(), 4, TensorId::k_norm) == 2);
    CHECK(edited_with(model->architecture(), 4, TensorId::W_Q) == 4);
}

TEST_CASE("an edit of shared keys or values changes every layer that reads them") {
    const ModelEdits edits = gemma3n_edits(1, TensorId::W_V);
    Progress progress;
    const ModelRunPtr own = ModelRun::compute(gemma3n_model(), gemma3n_text(), edits, nullptr, {}, progress);
    const run::RunPtr edited = gemma3n_nodes({"layers.3.v", "layers.3.x_kv", "layers.1.v"}, edits);
    CHECK(std::ranges::equal((*edited)["layers.3.v"]->values(), (*edited)["layers.1.v"]->values()));
    const run::RunPtr before = gemma3n_nodes({"layers.3.v_heads"}),
                      after = gemma3n_nodes({"layers.3.v_heads"}, edits);
    CHECK_FALSE(
        std::ranges::equal((*before)["layers.3.v_heads"]->values(), (*after)["layers.3.v_heads"]->values()));
    // Attention of the later layer as a problem: the edit belongs to layer 1.
    const Problem problem = with_edits(own->problem(3), own->model().architecture(), edits, 3);
    CHECK(problem.latent);
    CHECK(problem.weights.W_V == edits.at(1).tensors.at(TensorId::W_V));
    const Trace trace = cpu::CpuEngine(1).run(problem);
    CHECK(std::ranges::equal(trace.stage(TensorId::weights)->values(), own->weights(3)->values()));
    ModelEdits wrong;
    wrong[3].tensors[TensorId::W_K] = std::make_shared<const Tensor>(Shape{16, 12}, 1.0F);
    CHECK_THAT(input_error([&] { run_on_cpu(*gemma3n_model(), gemma3n_text(), {.edits = wrong}); }),
               Contains("layer 3") && Contains("W_K"));
}

TEST_CASE("generating with Gemma 3n has the numbers of a run of the whole text") {
    const std::shared_ptr<const Model> model = gemma3n_model();
    const ModelEdits edits = gemma3n_edits(2, TensorId::W_K);
    Generator generator(model, gemma3n_inputs({5, 9, 13}), edits);
    std::vector<std::int64_t> ids{5, 9, 13};
    Progress progress;
    for (const std::int64_t next : {70, 22, 71, 40, 51, 60, 7}) { // 70 and 71 have no embeddings of layers
        generator.append(next);
        ids.push_back(next);
        const std::span<const float> last = generator.logits(progress);
        const ForwardResult whole = run_on_cpu(*model, gemma3n_inputs(ids), {.edits = edits});
        const auto expected = whole.logits->values().last(last.size());
        for (std::size_t n = 0; n < last.size(); ++n)
            CHECK(static_cast<double>(last[n]) == Approx(static_cast<double>(expected[n])).margin(2e-6));
    }
}

TEST_CASE("gates of Gemma 3n's first layers are 0 below the cutoff of their row") {
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(gemma3n_model(), gemma3n_text(), {}, nullptr, {}, progress);
    const RunPartPtr block = run->around(0, progress);
    const TensorPtr &gate = block->find(TensorId::mlp_gate), &sparse = block->find(TensorId::mlp_sparse);
    REQUIRE(sparse != nullptr);
    const double z = 0.8416212335729143; // of 0.8, from a table of the normal distribution
    const std::int64_t width = gate->shape()[2];
    for (std::int64_t i = 0; i < gate->shape()[1]; ++i) {
        double mean = 0, squares = 0;
        for (std::int64_t c = 0; c < width; ++c)
            mean += gemma3n_number(gate, i, c) / static_cast<double>(width);
        for (std::int64_t c = 0; c < width; ++c)
            squares += std::pow(gemma3n_number(gate, i, c) - mean, 2) / static_cast<double>(width);
        for (std::int64_t c = 0; c < width; ++c)
            CHECK(gemma3n_number(sparse, i, c) ==
                  Approx(std::max(0.0, gemma3n_number(gate, i, c) - mean - z * std::sqrt(squares)))
                      .margin(1e-6));
    }
    CHECK(run->around(2, progress)->find(TensorId::mlp_sparse) == nullptr);
    // The activation reads what is left.
    const double x = gemma3n_number(sparse, 3, 5),
                 gelu = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    CHECK(gemma3n_number(block->find(TensorId::mlp_act), 3, 5) ==
          Approx(gelu * gemma3n_number(block->find(TensorId::mlp_pre), 3, 5)).margin(1e-6));
}

TEST_CASE("the stages of a layer of Gemma 3n are what they are said to be made of") {
    using enum TensorId;
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(gemma3n_model(), gemma3n_text(), {}, nullptr, {}, progress);
    const RunPartPtr block = run->around(1, progress);
    const ModelStages& stages = run->model().stages();
    const AttentionPlace place{Stack::own, 1};
    CHECK(stages.in_layer(place) == std::vector{resid_in, predicted, norm1, laurel_out, attn_raw, attn_out,
                                                resid_mid, norm2, mlp_pre, mlp_gate, mlp_sparse, mlp_act,
                                                mlp_raw, mlp_out, activated, corrected, layer_out,
                                                resid_out});
    CHECK(stages.sources(place, predicted) == std::vector{resid_in});
    CHECK(stages.sources(place, resid_mid) == std::vector{predicted, attn_out, laurel_out});
    CHECK(stages.branch_scale(place, resid_mid) == Approx(1 / std::sqrt(2.0)));
    CHECK(stages.sources(place, mlp_act) == std::vector{mlp_sparse, mlp_pre});
    CHECK(stages.sources(place, activated) == std::vector{resid_mid, mlp_out});
    CHECK(stages.sources(place, resid_out) == std::vector{corrected});
    CHECK(stages.after_layers(Stack::own) == std::vector{merged, final_norm, logits, probabilities});
    CHECK(stages.sources({Stack::own, -1}, final_norm) == std::vector{merged});
    for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t c = 0; c < 16; ++c) {
            const auto number = [&](TensorId id) { return gemma3n_number(block->find(id), i, c); };
            CHECK(number(resid_mid) ==
                  Approx((number(predicted) + number(attn_out) + number(laurel_out)) / std::sqrt(2.0))
                      .margin(1e-5));
            CHECK(number(activated) == Approx(number(resid_mid) + number(mlp_out)).margin(1e-5));
            CHECK(number(resid_out) == number(corrected));
        }
}

// The inspector writes this arithmetic after the last layer.
TEST_CASE("the merged copies of Gemma 3n are explained by their operation") {
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(gemma3n_model(), gemma3n_text(), {}, nullptr, {}, progress);
    const RunPartPtr ends = run->ends(Stack::own, 0, progress);
    const graph::NodeId merged = ends->node(TensorId::merged);
    REQUIRE(merged != RunPart::no_node);
    REQUIRE(ends->can_explain(merged));
    const Tensor& numbers = *ends->find(TensorId::merged);
    for (std::int64_t n = 0; n < numbers.count(); n += 5)
        CHECK(ends->explain(merged, numbers.shape().index(n)).total ==
              Approx(static_cast<double>(numbers.data()[n])).margin(1e-5));
}

TEST_CASE("a patch of the active copy changes neither the embedding nor the layer before") {
    ModelEdits edits;
    edits[2].patched.push_back(
        {.at = TensorId::resid_in, .first = 1, .rows = std::make_shared<const Tensor>(Shape{1, 16}, 0.5F)});
    const std::vector<std::string> names{"layers.1.layer_out", "layers.1.resid_out.2", "layers.2.predicted"};
    const run::RunPtr own = gemma3n_nodes(names), patched = gemma3n_nodes(names, edits);
    for (const std::size_t before : {0U, 1U})
        CHECK(std::ranges::equal((*own)[names[before]]->values(), (*patched)[names[before]]->values()));
    CHECK_FALSE(std::ranges::equal((*own)[names[2]]->values(), (*patched)[names[2]]->values()));
}

TEST_CASE("components of one residual stream are refused for several copies, ablation is not") {
    Progress progress;
    const ModelRunPtr run = ModelRun::compute(gemma3n_model(), gemma3n_text(), {}, nullptr, {}, progress);
    const std::vector<std::int64_t> positions{3};
    CHECK_THAT(input_error([&] { analysis::logit_lens(*run, positions, 3, progress); }),
               Contains("4 copies of the residual stream"));
    CHECK_THAT(input_error([&] { analysis::logit_attribution(*run, {.position = 3, .token = 5}, progress); }),
               Contains("4 copies of the residual stream"));
    CHECK_FALSE(analysis::has_direct_circuits(run->model()));
    std::size_t effects = 0;
    analysis::ablation_sweep(
        *run, {.position = 11}, [&](const analysis::HeadEffect&) { ++effects; }, progress);
    CHECK(effects == 20);
}

TEST_CASE("a head of Gemma 3n can be patched, one copy of the residual stream cannot") {
    Progress progress;
    const auto run_of = [&](std::vector<std::int64_t> ids) {
        return ModelRun::compute(gemma3n_model(), gemma3n_inputs(std::move(ids)), {}, nullptr, {}, progress);
    };
    const ModelRunPtr clean = run_of({5, 9, 13, 22}), corrupted = run_of({5, 9, 14, 22});
    analysis::Patching patching(clean, corrupted, {.answer = 3, .against = 4, .position = 3}, progress);
    CHECK_THAT(input_error([&] { patching.patched(analysis::PatchKind::residual, 2, 2, progress); }),
               Contains("4 copies of the residual stream"));
    // A run with the patched head has the same numbers.
    const double patched = patching.patched(analysis::PatchKind::head, 3, 1, progress);
    CHECK(patched != patching.corrupted());
    const ModelEdits edits = patching.edits(analysis::PatchKind::head, 3, 1, progress);
    const TensorPtr all =
        run_on_cpu(*gemma3n_model(), gemma3n_inputs({5, 9, 14, 22}), {.edits = edits}).logits;
    const std::span<const float> logits = all->values().last(72);
    CHECK(static_cast<double>(logits[3] - logits[4]) == Approx(patched).margin(1e-4));
}
