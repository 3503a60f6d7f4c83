#include "app/state/screens/surveyed.h"

#include "core/analysis/survey/survey_file.h"
#include "core/analysis/survey/surveyor.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/text/readable_tokens.h"

namespace headscope::app {

namespace {

constexpr std::size_t most_examples = 3;

SurveyedHead::Example example_of(const checkpoint::TextModel& model, analysis::SurveyFile& file,
                                 const analysis::ScoredPiece& scored) {
    const analysis::PieceText piece = file.piece(scored);
    SurveyedHead::Example example{.line = scored.name.line,
                                  .score = scored.score,
                                  .weight = scored.weight,
                                  .query = scored.query,
                                  .key = scored.key,
                                  .tokens = text::readable_tokens(piece.tokens)};
    if (model.tokenizer != nullptr) {
        const std::vector<text::TokenId> ids(piece.ids.begin(), piece.ids.end());
        example.text = model.tokenizer->decode(ids, true);
        // Some tokenizers prepend a space to a text.
        if (example.text.starts_with(' ') && model.tokenizer->encode(example.text.substr(1)).ids == ids)
            example.text.erase(0, 1);
    }
    return example;
}

} // namespace

SurveyedHeads surveyed_heads(const checkpoint::TextModel& model, const std::string& path,
                             const Progress& cancel) {
    analysis::SurveyFile file = analysis::SurveyFile::open(path);
    const analysis::SurveyRun& run = file.run();
    if (!run.done)
        fail_input(tr("surveyed.survey_not_finished_start",
                      "{} is an unfinished survey; run headscope survey again to continue it", path));
    if (analysis::fingerprint_of(analysis::surveyed_model(model), cancel) != run.plan.fingerprint)
        fail_input(tr("surveyed.survey_open_whose_files",
                      "{} is a survey of {}, but the open checkpoint {} has different files; open the "
                      "surveyed checkpoint first",
                      path, run.plan.checkpoint, model.name()));
    SurveyedHeads out{.path = path,
                      .texts = run.counts.texts,
                      .pieces = run.counts.pieces,
                      .tokens = run.counts.tokens,
                      .heads = {static_cast<std::size_t>(run.plan.layers),
                                std::vector<analysis::HeadMetrics>(static_cast<std::size_t>(run.plan.H))}};
    for (const analysis::HeadScoreInfo* const info : analysis::surveyed_scores()) {
        const auto means = file.means(info->score), beside = file.means_beside(info->score);
        for (std::size_t n = 0; n < means.size(); ++n)
            if (means[n]) {
                analysis::HeadMetrics& head = out.heads[n / static_cast<std::size_t>(run.plan.H)]
                                                       [n % static_cast<std::size_t>(run.plan.H)];
                head.set(info->score, static_cast<float>(*means[n]));
                head.beside[static_cast<std::size_t>(info->score)] =
                    static_cast<float>(beside[n].value_or(0));
            }
    }
    return out;
}

SurveyedHead surveyed_head(const checkpoint::TextModel& model, const std::string& path, std::int64_t layer,
                           std::int64_t head) {
    analysis::SurveyFile file = analysis::SurveyFile::open(path);
    SurveyedHead out{.layer = layer, .head = head};
    for (const analysis::SurveyedScore& found : file.card(layer, head).scores) {
        SurveyedHead::Score score{found.info->score, found.mean, found.spread, {}};
        for (const analysis::SurveyExample& example : found.examples)
            if (!example.decile && score.largest.size() < most_examples)
                score.largest.push_back(example_of(model, file, example.piece));
        out.scores.push_back(std::move(score));
    }
    return out;
}

} // namespace headscope::app
