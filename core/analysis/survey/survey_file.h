#pragma once

#include "core/analysis/survey/pieces.h"
#include "core/analysis/survey/run_table.h"
#include "core/format/database.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::analysis {

/// Writes a finished survey: an SQLite file with the tables runs, timings, scores, examples and pieces, as
/// assets/manual/survey.md lists them. The texts of the examples are read again from the corpus. Throws
/// Error(input) naming the path when it cannot be written; nothing is left then.
void write_survey(const std::string& path, const SurveyPlan& plan, const SurveyState& state,
                  const Corpus& corpus, const PieceCutter& cutter);

/// A piece on which a head scored, and why it was kept.
struct SurveyExample {
    std::optional<int> decile; ///< 1 to 10: a typical piece of it; none: among the largest
    ScoredPiece piece;
};

/// What a survey found of one score of one head.
struct SurveyedScore {
    const HeadScoreInfo* info = nullptr;
    std::int64_t count = 0; ///< pieces that had the score; 0: none, and all that follows is 0
    double mean = 0, spread = 0, smallest = 0, largest = 0;
    double beside = 0; ///< the mean in what remains beside the first token
    std::array<double, 9> deciles{};
    std::int64_t rank = 0;               ///< among all heads by the mean, 1 is the largest
    std::vector<SurveyExample> examples; ///< the largest, largest first, then typical ones by decile
};

struct HeadCard {
    std::int64_t layer = 0, head = 0;
    std::string_view label;            ///< of the means, as `headscope heads` labels; may be empty
    bool beside_first = false;         ///< the label is that of what remains beside the first token
    std::vector<SurveyedScore> scores; ///< one for each of surveyed_scores()
};

/// The tokens of an example.
struct PieceText {
    std::int64_t begin = 0; ///< how many of the text's own tokens come before
    std::vector<std::int64_t> ids;
    std::vector<std::string> tokens; ///< in the vocabulary's spelling
};

/// A finished survey that is open for reading. For one thread at a time.
class SurveyFile {
public:
    /// Throws Error(input) naming the path for what is no survey, or none of this version.
    static SurveyFile open(const std::string& path);

    const SurveyRun& run() const { return run_; }
    /// (layers, H), layer by layer; nothing for a head without a piece that had the score. Throws
    /// Error(input) for a damaged file, as the others do.
    std::vector<std::optional<double>> means(HeadScore score);
    /// The means of that score in what remains beside the first token, likewise; 0 where too little remained,
    /// and in files of earlier versions, which do not hold them.
    std::vector<std::optional<double>> means_beside(HeadScore score);
    /// Throws Error(input) when there is no such head.
    HeadCard card(std::int64_t layer, std::int64_t head);
    /// The piece of an example. Throws Error(input) when it is not there, or has no such cell.
    PieceText piece(const ScoredPiece& example);

private:
    SurveyFile(format::Database file, SurveyRun run);
    std::vector<std::optional<double>> column(HeadScore score, const std::string& name);

    format::Database file_;
    SurveyRun run_;
    bool has_beside_ = false;
};

} // namespace headscope::analysis
