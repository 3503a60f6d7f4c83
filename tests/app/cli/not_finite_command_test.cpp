#include "app/draw/panels/predictions_panel.h"
#include "app/session/workspace.h"
#include "app/state/screens/effects.h"
#include "app/state/screens/patching_map.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/generation/predictions.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;

namespace {

const std::string not_finite_words =
    "the logits after token 4 leave float32's range; check the weights and head gains";

/// GPT-2's tiny model whose final norm is so large that hidden states are finite and logits are not.
std::string write_overflowing(const TemporaryFolder& folder) {
    const std::string base = test_data("/models/gpt2_tiny");
    const format::Safetensors file = format::Safetensors::open(base + "/model.safetensors");
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries()) {
        const TensorPtr tensor = file.tensor(entry.name);
        auto scaled = std::make_shared<Tensor>(tensor->shape(), tensor->values());
        for (float& number : scaled->values())
            if (entry.name.ends_with("ln_f.weight"))
                number = 7e37F;
        writer.add(entry.name, scaled);
    }
    write_file_atomically(folder.file("model.safetensors"), writer.bytes());
    write_file_atomically(folder.file("config.json"), read_file(base + "/config.json"));
    return folder.file("");
}

} // namespace

TEST_CASE("logits that are not finite are refused in the same words by every command", "[cli][not_finite]") {
    const TemporaryFolder folder;
    const std::string model = write_overflowing(folder);
    const std::string ids = "3,1,4,1,5";
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"generate", "--model", model, "--ids", ids, "--tokens", "2"},
             {"explain", "--model", model, "--ids", ids, "--what", "logits"},
             {"explain", "--model", model, "--ids", ids, "--what", "logits", "--token-id", "3"},
             {"explain", "--model", model, "--ids", ids, "--what", "lens", "--position", "4"},
             {"heads", "--model", model, "--ids", ids, "--effect"},
             {"patch", "--model", model, "--clean-ids", ids, "--corrupted-ids", "3,2,4,1,5", "--answer-id",
              "1", "--against-id", "2", "--what", "head"}}) {
        const ProgramRun run = run_program(command);
        INFO(command.front() << " " << command.back() << ": " << run.err);
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(not_finite_words));
    }
    // A trace holds the numbers themselves.
    const std::string out = folder.file("trace.safetensors");
    const ProgramRun trace = run_program({"trace", "--model", model, "--ids", ids, "-o", out});
    CHECK(trace.code == 0);
    CHECK_THAT(trace.err, Contains("the logits after token 0 leave float32's range"));
    CHECK_FALSE(format::Safetensors::open(out).tensor("logits")->all_finite());
    CHECK(format::Safetensors::open(out).tensor("layers.1.weights")->all_finite());
    // So do scores and heads, which no logit enters.
    CHECK(run_program({"heads", "--model", model, "--ids", ids}).code == 0);
    const std::string other = test_data("/models/gpt2_tiny");
    CHECK(run_program({"trace", "--model", other, "--ids", ids, "-o", out}).err.empty());
}

TEST_CASE("the window refuses logits that are not finite in the words of the command line",
          "[cli][not_finite]") {
    using namespace headscope::app;
    const TemporaryFolder folder;
    SessionState state;
    Workspace workspace(state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}});
    Progress progress;
    workspace.open(open_model(write_overflowing(folder), {"3 1 4 1 5"}, 0, progress));
    workspace.settle();
    workspace.take_results();
    CHECK_FALSE(state.model.predictions);
    CHECK_FALSE(state.model.next_distribution);
    const figure::TextMeasure measure = approximate_measure();
    std::string text =
        all_text(draw_predictions({state.shown, state.view, theme(false), measure, 312, 848}, state.model));
    std::ranges::replace(text, '\n', ' ');
    CHECK_THAT(text, Contains(not_finite_words) && !Contains("has no language-model head"));
    CHECK(input_error([&] { workspace.session().act(SetGenerating{true}); }) == not_finite_words);
    CHECK(input_error([&] { workspace.session().act(GenerateToken{}); }) == not_finite_words);
    const checkpoint::TextModelPtr model = state.document->part()->model;
    CHECK(input_error([&] {
              effects_of(*model, *state.model.run, *state.model.unedited, {}, 4, checkpoint::Stack::own,
                         progress);
          }) == not_finite_words);
    CHECK(input_error([&] {
              patching_pair(model, state.model.run, {.first = "3 2 4 1 5", .second = {}}, std::nullopt,
                            std::nullopt, progress);
          }) == not_finite_words);
}

TEST_CASE("probabilities of logits that are not finite are refused wherever they are asked for",
          "[cli][not_finite]") {
    using namespace headscope::checkpoint;
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
        const std::vector<float> logits{1.0F, bad, 2.0F}, usual{1.0F, 0.5F, 2.0F};
        const std::string words = "the logits leave float32's range";
        const std::vector<std::int64_t> ids{0};
        CHECK_THAT(input_error([&] { likeliest(logits, 2); }), Contains(words));
        CHECK_THAT(input_error([&] { chances_of(logits, ids); }), Contains(words));
        CHECK_THAT(input_error([&] { compare_predictions(logits, usual, 1); }), Contains(words));
        CHECK_THAT(input_error([&] { compare_predictions(usual, logits, 1); }), Contains(words));
        CHECK(input_error([&] { require_finite_logits(logits, 4); }) == not_finite_words);
    }
}
