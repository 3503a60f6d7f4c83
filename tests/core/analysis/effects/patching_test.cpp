#include "core/analysis/effects/patching.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/catch.h"
#include "tests/test_data.h"

using namespace headscope;
using namespace headscope::analysis;
using Catch::Contains;

namespace {

checkpoint::ModelRunPtr run_ids(const std::shared_ptr<const checkpoint::Model>& model,
                                std::vector<std::int64_t> ids) {
    checkpoint::ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = std::move(ids);
    Progress progress;
    return checkpoint::ModelRun::compute(model, inputs, {}, nullptr, {}, progress);
}

std::shared_ptr<const checkpoint::Model> open(const std::string& name) {
    return std::make_shared<const checkpoint::Model>(checkpoint::Model::open(test_data("/models/") + name));
}

double difference(const checkpoint::ModelRun& run, std::int64_t position) {
    const TensorPtr logits = run.logits();
    return static_cast<double>(logits->at(0, position, 4)) - static_cast<double>(logits->at(0, position, 8));
}

} // namespace

TEST_CASE("patching both ends of the residual stream brings the whole answer back, in every causal family",
          "[patching]") {
    for (const char* name : {"gpt2_tiny", "gpt_neox_tiny", "llama_tiny_tied", "gemma2_tiny", "olmo2_tiny",
                             "bloom_tiny", "phi_tiny", "opt_tiny", "gpt_oss_tiny", "qwen3_tiny"}) {
        CAPTURE(name);
        const auto model = open(name);
        const auto clean = run_ids(model, {3, 7, 5, 11, 2, 9}),
                   corrupted = run_ids(model, {3, 7, 6, 11, 2, 9});
        Progress progress;
        Patching patching(clean, corrupted, {.answer = 4, .against = 8, .position = 5}, progress);
        CHECK(patching.clean() == Approx(difference(*clean, 5)).margin(1e-4));
        CHECK(patching.corrupted() == Approx(difference(*corrupted, 5)).margin(1e-4));
        const auto recovered = [&](PatchKind kind, std::int64_t row, std::int64_t column) {
            return patching.recovered(patching.patched(kind, row, column, progress));
        };
        const std::int64_t layers = model->config().layers;
        CHECK(patching.rows(PatchKind::residual) == layers + 1);
        CHECK(recovered(PatchKind::residual, 0, 2) == Approx(1.0).margin(1e-4));
        CHECK(recovered(PatchKind::residual, layers, 5) == Approx(1.0).margin(1e-6));
        CHECK(recovered(PatchKind::residual, layers, 4) == 0.0);
        CHECK(patching.same(PatchKind::residual, 0, 1));
        CHECK(recovered(PatchKind::residual, 0, 1) == 0.0);
        // Queries, keys and values of a head all together are its output.
        CHECK(patching.rows(PatchKind::head) == layers);
        CHECK(patching.columns(PatchKind::head) == model->config().H);
    }
}

TEST_CASE("the run that a patch makes gives the difference that the patch was measured with", "[patching]") {
    for (const char* name : {"gpt2_tiny", "gpt_neox_tiny", "llama_tiny_tied", "gemma2_tiny", "olmo2_tiny",
                             "bloom_tiny", "phi_tiny", "qwen3_tiny"}) {
        CAPTURE(name);
        const auto model = open(name);
        const auto clean = run_ids(model, {3, 7, 5, 11, 2, 9}),
                   corrupted = run_ids(model, {3, 7, 6, 11, 2, 9});
        Progress progress;
        Patching patching(clean, corrupted, {.answer = 4, .against = 8, .position = 5}, progress);
        const auto run_with = [&](const checkpoint::ModelEdits& edits) {
            // From the corrupted run, as the window computes it, and from another patched one.
            const auto whole =
                checkpoint::ModelRun::compute(model, corrupted->inputs(), edits, nullptr, {}, progress);
            const auto shared =
                checkpoint::ModelRun::compute(model, corrupted->inputs(), edits, corrupted, {}, progress);
            CHECK(shared->logits()->values()[0] == whole->logits()->values()[0]);
            CHECK(difference(*shared, 5) == difference(*whole, 5));
            const auto back =
                checkpoint::ModelRun::compute(model, corrupted->inputs(), {}, shared, {}, progress);
            CHECK(difference(*back, 5) == difference(*corrupted, 5));
            return difference(*whole, 5);
        };
        for (const PatchKindInfo& info : patch_kinds())
            for (std::int64_t row = 0; row < model->config().layers; ++row) {
                const std::int64_t column = info.by_head ? 1 : 2 + row;
                CAPTURE(info.id, row, column);
                CHECK(run_with(patching.edits(info.kind, row, column, progress)) ==
                      Approx(patching.patched(info.kind, row, column, progress)).margin(1e-5));
            }
        if (!model->stages().is_stream({checkpoint::Stack::own, 0}, TensorId::norm1)) {
            const analysis::HeadPlace from{0, 1}, to{1, 0};
            CHECK(run_with(patching.path_edits(from, to, {}, progress)) ==
                  Approx(patching.path(from, to, {}, progress)).margin(1e-5));
        }
        // Where nothing differs, and after the last layer, there is no other run.
        CHECK(patching.edits(PatchKind::residual, 0, 1, progress).empty());
        CHECK_THROWS_WITH(patching.edits(PatchKind::residual, model->config().layers, 5, progress),
                          Contains("no layer reads"));
    }
}

TEST_CASE("what a patched run shows around attention is what it computed with", "[patching]") {
    const auto model = open("gpt2_tiny");
    const auto clean = run_ids(model, {3, 7, 5, 11}), corrupted = run_ids(model, {3, 7, 6, 11});
    Progress progress;
    Patching patching(clean, corrupted, {.answer = 4, .against = 8, .position = 3}, progress);
    const auto row_of = [](const Tensor& x, std::int64_t t) {
        const auto D = static_cast<std::size_t>(x.shape().back(0));
        const auto row = x.values().subspan(static_cast<std::size_t>(t) * D, D);
        return std::vector<float>(row.begin(), row.end());
    };
    const auto patched = [&](PatchKind kind) {
        return checkpoint::ModelRun::compute(model, corrupted->inputs(), patching.edits(kind, 1, 2, progress),
                                             corrupted, {}, progress);
    };
    for (const auto& [kind, at] : {std::pair(PatchKind::residual, TensorId::resid_in),
                                   {PatchKind::attention, TensorId::attn_out},
                                   {PatchKind::mlp, TensorId::mlp_out}}) {
        const checkpoint::ModelRunPtr run = patched(kind);
        const checkpoint::RunPartPtr now = run->around(1, progress), of_clean = clean->around(1, progress),
                                     own = corrupted->around(1, progress);
        CHECK(row_of(*now->find(at), 2) == row_of(*of_clean->find(at), 2));
        CHECK(row_of(*now->find(at), 2) != row_of(*own->find(at), 2));
        CHECK(row_of(*now->find(at), 1) == row_of(*own->find(at), 1));
        // The attention reads what was patched before it.
        const Problem problem = run->problem(1);
        CHECK(row_of(*problem.x, 2) == row_of(*now->find(TensorId::norm1), 2));
        // The residual stream before the layer is unpatched: no earlier layer added the patch.
        CHECK(run->lengths(checkpoint::Stack::own, progress).layers[0] ==
              corrupted->lengths(checkpoint::Stack::own, progress).layers[0]);
    }
    CHECK_THROWS_WITH(Patching(clean, patched(PatchKind::mlp), {4, 8, 3}, progress),
                      Contains("return to the prompt's own run"));
}

TEST_CASE("what cannot be patched is said in a sentence", "[patching]") {
    Progress progress;
    const auto gpt2 = open("gpt2_tiny");
    const auto clean = run_ids(gpt2, {3, 7, 5});
    CHECK_THROWS_WITH(
        Patching(clean, run_ids(gpt2, {3, 7, 6, 1}), {4, 8, 2}, progress),
        Contains("the clean prompt has 3 tokens and the corrupted prompt 4; they differ from token 2 on"));
    CHECK_THROWS_WITH(Patching(clean, clean, {4, 8, 2}, progress), Contains("nothing to recover"));
    CHECK_THROWS_WITH(Patching(clean, run_ids(gpt2, {3, 7, 6}), {4, 8, 3}, progress),
                      Contains("there is no position 3"));
    const auto bert = open("bert_tiny");
    CHECK_THROWS_WITH(Patching(run_ids(bert, {3, 7}), run_ids(bert, {3, 8}), {4, 8, 1}, progress),
                      Contains("needs a model that predicts the next token"));
    Patching patching(clean, run_ids(gpt2, {3, 7, 6}), {4, 8, 2}, progress);
    CHECK_THROWS_WITH(patching.path({1, 0}, {1, 0}, {}, progress), Contains("must be in an earlier layer"));
}
