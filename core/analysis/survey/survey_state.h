#pragma once

#include "core/analysis/heads/head_scores.h"
#include "core/analysis/survey/score_summary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::analysis {

class Corpus;

/// What decides the numbers of a survey, and what the corpus turned out to be.
struct SurveyPlan {
    std::string checkpoint;  ///< the path, as it was given
    std::string fingerprint; ///< SHA-256 of config.json and of all files with tensors, in hexadecimal digits
    std::int64_t layers = 0, H = 0;
    std::string texts;        ///< the path, as it was given
    std::string texts_sha256; ///< of the file
    std::int64_t length = 0;  ///< tokens of a piece, at most
    std::int64_t limit = 0;   ///< how many texts count; 0: all
    std::string version;      ///< of the program
    std::int64_t lines = 0, empty_lines = 0, invalid_lines = 0, text_count = 0, blocks = 0;

    void describe(const Corpus& corpus);
};

/// What makes two plans different surveys: "the texts a.txt (SHA-256 0123...), not b.txt (...)". Empty: they
/// are the same, whatever their paths.
std::string difference_of(const SurveyPlan& begun, const SurveyPlan& wanted);

/// Counts of what was read.
struct SurveyCounts {
    std::int64_t texts = 0;    ///< with at least one token
    std::int64_t split = 0;    ///< of those, into several pieces
    std::int64_t no_token = 0; ///< texts of which no token stands for anything
    std::int64_t pieces = 0, tokens = 0;
    double seconds = 0; ///< of work, of all processes together; depends on the machine

    void add(const SurveyCounts& other);
};

/// The scores that a survey measures: those of one run over a text.
const std::vector<const HeadScoreInfo*>& surveyed_scores();

/// What is known of the blocks of a corpus that were computed.
class SurveyState {
public:
    SurveyState(std::int64_t layers, std::int64_t H);

    std::int64_t layers() const { return layers_; }
    std::int64_t H() const { return H_; }
    /// s: the index in surveyed_scores().
    ScoreSummary& summary(std::int64_t layer, std::int64_t head, std::size_t s);
    const ScoreSummary& summary(std::int64_t layer, std::int64_t head, std::size_t s) const;

    /// Adds what was found in other blocks.
    void merge(const SurveyState& other);

    SurveyCounts counts;
    std::vector<std::int64_t> done; ///< numbers of blocks, in the order in which they were computed

private:
    std::int64_t layers_, H_;
    std::vector<ScoreSummary> summaries_; ///< (layer, head, score)
};

} // namespace headscope::analysis
