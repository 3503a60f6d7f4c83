#include "app/draw/kit/format.h"
#include "core/analysis/survey/surveyor.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/from_rows.h"
#include "tests/bench/clock.h"
#include "tests/bench/rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

/// Returns texts with different tokens from the whole vocabulary.
std::vector<analysis::Piece> made_pieces(const checkpoint::ModelConfig& config, std::int64_t T) {
    constexpr std::int64_t texts = 16;
    std::vector<analysis::Piece> pieces(static_cast<std::size_t>(texts));
    for (std::int64_t n = 0; n < texts; ++n) {
        analysis::Piece& piece = pieces[static_cast<std::size_t>(n)];
        piece.name = {n + 1, 0};
        for (std::int64_t i = 0; i < T; ++i)
            piece.ids.push_back((7919 * (i + 131 * n) + 13) % config.vocab);
    }
    return pieces;
}

/// Runs the texts one after the other through all layers, as every other command does; without logits.
void run_forward(const std::shared_ptr<const checkpoint::Model>& model,
                 const std::vector<analysis::Piece>& pieces,
                 const std::shared_ptr<checkpoint::Workshop>& workshop) {
    Progress progress;
    for (const analysis::Piece& piece : pieces) {
        checkpoint::ModelInputs inputs;
        inputs.T = std::ssize(piece.ids);
        inputs.ids = piece.ids;
        const auto text = std::make_shared<const checkpoint::TextGraph>(model, inputs);
        checkpoint::GraphRuns(text, {}, workshop)
            .run({{checkpoint::last_hidden_node(*text)}}, {}, nullptr, progress);
    }
}

BenchRow speed_row(const std::string& name, double tokens, const Spread& time, const std::string& detail) {
    const double speed = tokens / time.median;
    return {name, app::number(speed, 0) + " tokens/s", detail,
            nlohmann::json{{"name", name}, {"seconds", time.median}, {"tokens_per_second", speed}}.dump()};
}

} // namespace

void add_survey_rows(std::vector<BenchRow>& rows, const std::string& folder) {
    constexpr std::int64_t common = 128;
    constexpr int rounds = 7;
    const checkpoint::TextModelPtr text = checkpoint::open_text_model(folder);
    const checkpoint::Model& model = analysis::surveyed_model(*text);
    const checkpoint::ModelConfig& config = model.config();
    const std::int64_t T = std::min(common, config.longest_text);
    const std::vector<analysis::Piece> pieces = made_pieces(config, T);
    const analysis::PieceCutter cutter(text, T);
    const auto workshop = std::make_shared<checkpoint::Workshop>();
    const std::shared_ptr<const checkpoint::Model> surveyed(text, &model);
    analysis::Surveyor surveyor(text, 0);
    analysis::SurveyState state(config.layers, config.H);
    std::vector<double> forward, survey, share;
    Progress progress;
    // The two alternate, so that other load of the machine affects both. The first round reads the
    // parameters.
    for (int round = 0; round <= rounds; ++round) {
        auto start = BenchClock::now();
        run_forward(surveyed, pieces, workshop);
        const double alone = since(start);
        start = BenchClock::now();
        surveyor.add(pieces, cutter, state, progress);
        const double measured = since(start);
        if (round == 0)
            continue;
        forward.push_back(alone);
        survey.push_back(measured);
        share.push_back(alone / measured);
    }
    const auto tokens = static_cast<double>(T * std::ssize(pieces));
    const std::string at = ", texts of " + app::counted(T, "token");
    rows.push_back(speed_row("forward pass alone" + at, tokens, spread_of(forward), ""));
    rows.push_back(
        speed_row("survey" + at, tokens, spread_of(survey),
                  app::number(100 * spread_of(share).median, 0) + " % of the forward pass; wanted: 85 %"));
}

} // namespace headscope::bench
