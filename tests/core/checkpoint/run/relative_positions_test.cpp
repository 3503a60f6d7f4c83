#include "core/analysis/effects/score_terms.h"
#include "core/checkpoint/run/model_run.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/long_map.h"
#include "core/engine/cpu/row_parts.h"
#include "core/engine/vulkan/attention_nodes.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/catch.h"
#include "tests/conformance/cases.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/core/project/built.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

// Scores with terms by relative position (He et al. 2021, "DeBERTa"). tests/conformance compares them with a
// reference, and forward_test with Hugging Face's numbers.

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

ModelRunPtr run_of(const std::string& name, const ModelEdits& edits = {}) {
    const auto model = std::make_shared<const Model>(Model::open(test_data("/models/") + name));
    Progress progress;
    return ModelRun::compute(model, first_text(name), edits, nullptr, {}, progress);
}

float largest_difference(const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    float largest = 0;
    for (std::int64_t at = 0; at < a.count(); ++at)
        largest = std::max(largest, std::abs(a.data()[at] - b.data()[at]));
    return largest;
}

} // namespace

TEST_CASE("a layer taken out of a model has the model's weights, and its terms follow edits", "[relative]") {
    for (const std::string name : {"deberta_v2_tiny", "deberta_v2_own_tiny", "deberta_v2_narrow_tiny"}) {
        INFO(name);
        const ModelRunPtr run = run_of(name);
        cpu::CpuEngine engine;
        Problem layer = run->problem(1);
        REQUIRE(layer.relative);
        const Trace trace = engine.run(layer);
        CHECK(largest_difference(*trace.stage(TensorId::weights), *run->weights(1)) < 1e-6F);

        // The same edit of the layer alone, and of the model.
        const TensorId changed = name == "deberta_v2_own_tiny" ? TensorId::W_KR : TensorId::W_Q;
        auto edited =
            std::make_shared<Tensor>(layer.input_ptr(changed)->shape(), layer.input_ptr(changed)->values());
        edited->at(3, 5) += 0.5F;
        ModelEdits edits;
        edits[1].tensors[changed] = edited;
        *layer.input_slot(changed) = edited;
        const Trace after = engine.rerun(layer, run->problem(1), trace, *std::make_unique<Progress>());
        CHECK(largest_difference(*after.stage(TensorId::weights), *run_of(name, edits)->weights(1)) < 1e-6F);
        CHECK(largest_difference(*after.stage(TensorId::weights), *trace.stage(TensorId::weights)) > 1e-3F);
        CHECK(same_bits(*after.stage(TensorId::scores), *engine.run(layer).stage(TensorId::scores)));
    }
}

TEST_CASE("an edited vector of a relative position changes the scores at that distance alone", "[relative]") {
    cpu::CpuEngine engine;
    for (const ConformanceCase& one : relative_cases()) {
        Problem problem = one.problem;
        INFO(one.parameters);
        const RelativeRows& rows = problem.relative->rows;
        const Trace before = engine.run(problem);
        auto edited =
            std::make_shared<Tensor>(problem.rel_positions->shape(), problem.rel_positions->values());
        const std::int64_t row = rows.row_of(2);
        edited->at(row, 0) += 0.5F;
        problem.rel_positions = edited;
        Progress progress;
        const Trace after = engine.rerun(problem, one.problem, before, progress);
        const Tensor &from = *before.stage(TensorId::scores), &to = *after.stage(TensorId::scores);
        bool as_expected = true;
        for (std::int64_t h = 0; h < problem.dims.H; ++h)
            for (std::int64_t i = 0; i < problem.dims.Tq; ++i)
                for (std::int64_t j = 0; j < problem.dims.Tk; ++j)
                    as_expected = as_expected &&
                                  (from.at(0, h, i, j) != to.at(0, h, i, j)) == (rows.row_of(i - j) == row);
        CHECK(as_expected);
    }
}

TEST_CASE("maps and stages that are computed in parts have terms by relative position", "[relative]") {
    for (const ConformanceCase& one : relative_cases()) {
        INFO(one.parameters);
        const Dims& d = one.problem.dims;
        cpu::CpuEngine engine(1);
        Progress progress;
        const Trace trace = engine.run(one.problem);
        const Tensor& weights = *trace.stage(TensorId::weights);
        const std::int64_t b = d.B - 1, h = d.H - 1, half = d.Tq / 2;
        const cpu::LongMap map(one.problem, b, h, engine, cpu::make_cpu_machine(2), progress);
        const Tensor part =
            map.rectangle({.row = half, .col = 1, .rows = d.Tq - half, .cols = d.Tk - 1}, progress);
        float largest = 0;
        for (std::int64_t r = 0; r < part.shape()[0]; ++r)
            for (std::int64_t c = 0; c < part.shape()[1]; ++c)
                largest = std::max(largest, std::abs(part.at(r, c) - weights.at(b, h, half + r, 1 + c)));
        CHECK(largest < 1e-6F);

        cpu::RowParts parts(one.problem, cpu::make_cpu_machine(2), progress);
        const TensorPtr rows =
            parts.make(TensorId::scores, {.b = b, .h = h, .row = half, .rows = d.Tq - half});
        const Tensor& scores = *trace.stage(TensorId::scores);
        bool same = true;
        for (std::int64_t r = 0; r < d.Tq - half; ++r)
            for (std::int64_t j = 0; j < d.Tk; ++j)
                same = same && rows->at(0, 0, r, j) == scores.at(b, h, half + r, j);
        CHECK(same);
    }
}

TEST_CASE("a project keeps terms by relative position", "[relative]") {
    for (const ConformanceCase& one : relative_cases()) {
        if (one.problem.dims.Tq > 5)
            continue;
        project::Recipe recipe;
        Problem base = one.problem;
        recipe.gains = std::exchange(base.gains, {});
        recipe.temperature = std::exchange(base.temperature, 1.0F);
        recipe.base = std::make_shared<const Problem>(base);
        CHECK(same_bits(built(recipe), one.problem));
        const project::OpenedProject opened =
            project::parse_project(project::project_bytes(recipe, one.problem), "a project");
        CHECK(opened.notes.empty());
        CHECK(same_bits(built(opened.recipe), one.problem));
    }
}

TEST_CASE("problems whose terms by relative position do not fit are refused", "[relative]") {
    const Problem fine = relative_cases().front().problem;
    validate(fine);
    const auto fault = [&](const auto& change) {
        Problem problem = fine;
        change(problem);
        return input_error([&] { validate(problem); });
    };
    CHECK_THAT(fault([](Problem& p) { p.rel_positions = nullptr; }), Contains("rel_positions is missing"));
    CHECK_THAT(fault([](Problem& p) { p.relative.reset(); }), Contains("without the terms that read them"));
    CHECK_THAT(fault([](Problem& p) { p.relative->rows.span = 2; }), Contains("twice the span of 2"));
    CHECK_THAT(fault([](Problem& p) { p.relative->c2p = p.relative->p2c = false; }), Contains("neither"));
    CHECK_THAT(fault([](Problem& p) { p.relative->rows = {.span = 3, .buckets = 3, .furthest = 2}; }),
               Contains("furthest distance of 2"));
    CHECK_THAT(fault([](Problem& p) { p.x_kv = p.x; }), Contains("only with self-attention"));
}

TEST_CASE("devices and analyses that leave terms by relative position out say so", "[relative]") {
    CHECK_FALSE(vulkan::has_score_kernels(relative_cases().front().problem));
    const ModelRunPtr run = run_of("deberta_v2_tiny");
    CHECK_THAT(input_error([&] {
                   analysis::score_terms(*run, {.attention = 1, .head = 0, .query = 2, .key = 1}, Progress());
               }),
               Contains("terms by relative position") && Contains("c2p and p2c"));
}
