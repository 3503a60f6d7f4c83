#include "core/checkpoint/checks/self_check.h"

#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/graph/text_graph.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/core/run/watched_backend.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

/// Changes the last number of a stage in every layer, from so many of them on.
struct Spoiler {
    std::string stage{};
    float by = 0;
    int first = 0;
};

std::vector<ReferenceRow> check(const TextModel& model, const Spoiler& spoiler = {}) {
    Progress progress;
    const ModelInputs inputs = self_check_inputs(model);
    const TextGraph text(model.model, inputs, nullptr, 1);
    int layers = 0;
    WatchedBackend backend([&](const std::vector<run::NodeId>& nodes, run::Values& values, Progress&) {
        for (const run::NodeId id : nodes)
            if (text.graph().node(id).local_name() == spoiler.stage && values.out(id) != nullptr &&
                layers++ >= spoiler.first) {
                Tensor& numbers = *values.out(id);
                numbers.data()[numbers.count() - 1] += spoiler.by;
            }
    });
    return check_itself(*model.model, inputs, &backend, progress);
}

std::int64_t count(const std::vector<ReferenceRow>& rows, const std::string& kind) {
    return std::ranges::count_if(rows, [&](const ReferenceRow& row) { return row.kind.ends_with(kind); });
}

bool agrees(const std::vector<ReferenceRow>& rows, const std::string& kind) {
    return std::ranges::all_of(
        rows, [&](const ReferenceRow& row) { return !row.kind.ends_with(kind) || row.agrees(); });
}

} // namespace

TEST_CASE("every golden model agrees with itself") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        const TextModelPtr model = open_text_model(test_data("/models/") + name);
        const std::vector<ReferenceRow> rows = check(*model);
        std::int64_t layers = 0, attentions = 0, states = 0;
        for (const Stack stack : stacks_of(model->model->architecture())) {
            layers += in_stack(model->model->architecture(), stack).layers;
            attentions += std::ssize(attention_layers(in_stack(model->model->architecture(), stack)));
            states += stack == Stack::cross ? 0 : in_stack(model->model->architecture(), stack).layers + 1;
        }
        CHECK(count(rows, "attentions") == attentions);
        CHECK(count(rows, "weight sums") == attentions);
        CHECK(count(rows, "hidden") == states);
        CHECK(count(rows, "logits") == 1);
        CHECK(count(rows, "second run") == 1);
        CHECK(std::ranges::count_if(rows, [](const ReferenceRow& row) { // others: around the layers
                  return row.kind.ends_with("residual sums") && row.layer;
              }) == layers);
        for (const ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1) << ": " << row.difference);
            CHECK(row.agrees());
        }
    }
}

TEST_CASE("a wrong number is found by the check that it breaks") {
    const TextModelPtr model = open_text_model(model_folder("pocket"));
    SECTION("an output of attention") {
        const auto rows = check(*model, {.stage = "output", .by = 0.01F});
        CHECK_FALSE(agrees(rows, "hidden"));
        CHECK_FALSE(agrees(rows, "logits"));
        CHECK(agrees(rows, "weight sums"));
        CHECK(agrees(rows, "second run")); // it has the same error
    }
    SECTION("a weight") {
        const auto rows = check(*model, {.stage = "weights", .by = 0.01F});
        CHECK_FALSE(agrees(rows, "attentions"));
        CHECK_FALSE(agrees(rows, "weight sums"));
        CHECK(agrees(rows, "hidden")); // read by no later stage
    }
    SECTION("a run that differs from the one before it by the last bit") {
        const auto rows =
            check(*model,
                  {.stage = "output", .by = 1e-6F, .first = static_cast<int>(model->model->config().layers)});
        CHECK_FALSE(agrees(rows, "second run"));
        CHECK(agrees(rows, "hidden"));
    }
    SECTION("a number that is not finite") {
        const auto rows = check(*model, {.stage = "weights", .by = NAN});
        CHECK_FALSE(agrees(rows, "attentions"));
        CHECK(std::isinf(std::ranges::find(rows, "attentions", &ReferenceRow::kind)->difference));
    }
}
