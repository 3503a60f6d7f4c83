#include "core/analysis/survey/survey_state.h"

#include "core/analysis/survey/corpus.h"
#include "core/base/message.h"

#include <utility>

namespace headscope::analysis {

void SurveyPlan::describe(const Corpus& corpus) {
    texts_sha256 = corpus.sha256();
    lines = corpus.counts().lines;
    empty_lines = corpus.counts().empty;
    invalid_lines = corpus.counts().invalid;
    text_count = corpus.counts().texts;
    blocks = corpus.blocks();
}

std::string difference_of(const SurveyPlan& begun, const SurveyPlan& wanted) {
    const auto file = [](const std::string& path, const std::string& digest) {
        constexpr std::size_t digits = 12;
        return path + " (SHA-256 " + digest.substr(0, digits) + "...)";
    };
    const auto limit = [](std::int64_t texts) {
        return texts == 0 ? tr("survey_state.all_texts", "all texts")
                          : tr("survey_state.first_texts", "the first {} texts", texts);
    };
    if (begun.fingerprint != wanted.fingerprint)
        return tr("survey_state.checkpoint_not", "the checkpoint {}, not {}",
                  file(begun.checkpoint, begun.fingerprint), file(wanted.checkpoint, wanted.fingerprint));
    if (begun.texts_sha256 != wanted.texts_sha256)
        return tr("survey_state.texts_not", "the texts of {}, not {}", file(begun.texts, begun.texts_sha256),
                  file(wanted.texts, wanted.texts_sha256));
    if (begun.length != wanted.length)
        return tr("survey_state.pieces_not_tokens", "pieces of {}, not {}, tokens", begun.length,
                  wanted.length);
    if (begun.limit != wanted.limit)
        // Translators: {} are "all texts" or "the first 9 texts"
        return tr("survey_state.not", "{}, not {}", limit(begun.limit), limit(wanted.limit));
    // The same bytes are other texts under a name that ends in .jsonl.
    if (begun.text_count != wanted.text_count || begun.blocks != wanted.blocks)
        return tr("survey_state.texts_not", "the texts of {}, not {}", begun.texts, wanted.texts);
    if (begun.version != wanted.version)
        return tr("survey_state.version_not_program", "version {}, not {}, of the program", begun.version,
                  wanted.version);
    return "";
}

void SurveyCounts::add(const SurveyCounts& other) {
    texts += other.texts;
    split += other.split;
    no_token += other.no_token;
    pieces += other.pieces;
    tokens += other.tokens;
    seconds += other.seconds;
}

const std::vector<const HeadScoreInfo*>& surveyed_scores() {
    static const auto all = [] {
        std::vector<const HeadScoreInfo*> scores;
        for (const HeadScoreInfo& info : head_scores())
            if (is_of_one_run(info))
                scores.push_back(&info);
        return scores;
    }();
    return all;
}

SurveyState::SurveyState(std::int64_t layers, std::int64_t H)
    : layers_(layers), H_(H), summaries_(static_cast<std::size_t>(layers * H) * surveyed_scores().size()) {}

const ScoreSummary& SurveyState::summary(std::int64_t layer, std::int64_t head, std::size_t s) const {
    return summaries_[static_cast<std::size_t>(layer * H_ + head) * surveyed_scores().size() + s];
}

ScoreSummary& SurveyState::summary(std::int64_t layer, std::int64_t head, std::size_t s) {
    return const_cast<ScoreSummary&>(std::as_const(*this).summary(layer, head, s));
}

void SurveyState::merge(const SurveyState& other) {
    counts.add(other.counts);
    done.insert(done.end(), other.done.begin(), other.done.end());
    for (std::size_t i = 0; i < summaries_.size(); ++i)
        summaries_[i].merge(other.summaries_[i]);
}

} // namespace headscope::analysis
