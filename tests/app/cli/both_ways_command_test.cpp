#include "app/draw/panels/predictions_panel.h"
#include "app/session/workspace.h"
#include "core/checkpoint/model/text_model.h"
#include "tests/app/cli/run_program.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

// Decoders that read both ways have no mask token to guess and no next token to predict. Their numbers are
// compared with Hugging Face's in reference_check_test, check_map.py, check_pytorch.py and vulkan_model_test.

namespace {

const std::vector<std::string> both_ways{"/files/phi3_not_causal", "/files/bidirectional_gemma3"};

ProgramRun run_on(const std::string& model, const std::string& command, std::vector<std::string> more) {
    more.insert(more.begin(), {command, "--model", model});
    return run_program(more);
}

std::string panel_text(const std::string& folder) {
    app::SessionState state;
    app::Workspace workspace(state, {},
                             {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}});
    Progress progress;
    workspace.open(app::open_model(folder, {"3 1 4 1 5"}, 0, progress));
    workspace.settle();
    workspace.take_results();
    CHECK_FALSE(state.model.next_distribution);
    const figure::TextMeasure measure = approximate_measure();
    std::string text =
        all_text(draw_predictions({state.shown, state.view, theme(false), measure, 312, 848}, state.model));
    std::ranges::replace(text, '\n', ' ');
    return text;
}

} // namespace

TEST_CASE("a decoder that reads both ways is no masked model, and its panel predicts no next token",
          "[cli][both_ways]") {
    for (const std::string& name : both_ways) {
        INFO(name);
        CHECK_FALSE(checkpoint::open_text_model(test_data(name))->masked());
        const std::string text = panel_text(test_data(name));
        CHECK_THAT(text, Contains("At this token") && Contains("do not predict the next token"));
        CHECK_THAT(text, !Contains("in place of") && !Contains("Next token"));
    }
    CHECK(checkpoint::open_text_model(test_data("/models/bert_tiny"))->masked());
    CHECK_THAT(panel_text(test_data("/models/bert_tiny")), Contains("in place of"));
}

TEST_CASE("commands about what comes next refuse a decoder that reads both ways", "[cli][both_ways]") {
    for (const std::string& name : both_ways) {
        const std::string model = test_data(name);
        for (const auto& [command, more, words] :
             std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
                 {"generate", {"--ids", "3,1,4", "--tokens", "2"}, "reads each text as a whole"},
                 {"patch",
                  {"--clean-ids", "3,1,4", "--corrupted-ids", "3,2,4", "--what", "head", "--answer-id", "1",
                   "--against-id", "2"},
                  "needs a model that predicts the next token"}}) {
            const ProgramRun run = run_on(model, command, more);
            INFO(name << " " << command << ": " << run.err);
            CHECK(run.code != 0);
            CHECK_THAT(run.err, Contains(words));
        }
    }
}

TEST_CASE("heads of a decoder that reads both ways look ahead in scores and explanations",
          "[cli][both_ways]") {
    for (const std::string& name : both_ways) {
        INFO(name);
        const std::string model = test_data(name), ids = "3,1,4,1,5,9";
        const ProgramRun heads = run_on(model, "heads", {"--ids", ids, "--effect", "--json"});
        INFO(heads.err);
        REQUIRE(heads.code == 0);
        const json found = json::parse(heads.out);
        double next = 0;
        for (const json& head : found.is_array() ? found : found.at("heads")) {
            next = std::max(next, head.at("next").get<double>());
            CHECK(head.at("effect").is_number());
        }
        CHECK(next > 0.02); // a causal mask leaves 0
        const ProgramRun score = run_on(
            model, "explain",
            {"--ids", ids, "--what", "score", "--layer", "1", "--head", "0", "--query", "1", "--key", "4"});
        INFO(score.err);
        REQUIRE(score.code == 0);
        const json explained = json::parse(score.out);
        double sum = 0;
        for (const json& row : explained.at("terms"))
            for (const json& term : row)
                sum += term.get<double>();
        CHECK(sum == Approx(explained.at("scaled").get<double>()).margin(1e-4));
        const ProgramRun logits =
            run_on(model, "explain", {"--ids", ids, "--what", "logits", "--position", "1"});
        REQUIRE(logits.code == 0);
        double ahead = 0;
        const json by_source = json::parse(logits.out).at("by_source");
        for (const auto& [head, sources] : by_source.items()) {
            REQUIRE(sources.size() == 6);
            for (std::size_t j = 2; j < sources.size(); ++j)
                ahead = std::max(ahead, std::abs(sources.at(j).get<double>()));
        }
        CHECK(ahead > 1e-4);
    }
}
