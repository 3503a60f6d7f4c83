#include "core/analysis/survey/survey_file.h"

#include "core/analysis/heads/head_metrics.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace headscope::analysis {

namespace {

constexpr int decile_count = 10;

/// Writes one row of `scores` and its examples, whose pieces are noted in `wanted`.
class SummaryWriter {
public:
    explicit SummaryWriter(format::Database& file)
        : score_(file, "INSERT INTO scores VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          example_(file, "INSERT INTO examples VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

    void write(std::int64_t layer, std::int64_t head, std::string_view id, const ScoreSummary& summary) {
        if (summary.count() == 0)
            return;
        score_ << layer << head << id << summary.count() << summary.mean() << summary.spread()
               << static_cast<double>(summary.smallest());
        for (int d = 1; d < decile_count; ++d)
            score_ << summary.quantile(static_cast<double>(d) / decile_count);
        score_ << static_cast<double>(summary.largest().front().score) << summary.mean_beside();
        score_.run();
        std::int64_t place = 0;
        for (const ScoredPiece& piece : summary.largest())
            example(layer, head, id, "largest", ++place, piece);
        for (int d = 1; d <= decile_count; ++d)
            example(layer, head, id, "decile", d, summary.typical((d - 0.5) / decile_count));
    }

    std::set<PieceName> wanted;

private:
    void example(std::int64_t layer, std::int64_t head, std::string_view id, std::string_view kind,
                 std::int64_t place, const ScoredPiece& piece) {
        example_ << layer << head << id << kind << place << piece.name.line << piece.name.piece
                 << static_cast<double>(piece.score) << static_cast<std::int64_t>(piece.query)
                 << static_cast<std::int64_t>(piece.key) << static_cast<double>(piece.weight);
        example_.run();
        wanted.insert(piece.name);
    }

    format::Statement score_, example_;
};

void write_pieces(format::Database& file, const std::set<PieceName>& wanted, const Corpus& corpus,
                  const PieceCutter& cutter) {
    format::Statement row(file, "INSERT INTO pieces VALUES (1, ?, ?, ?, ?, ?)");
    for (auto at = wanted.begin(); at != wanted.end();) {
        const std::int64_t block = corpus.block_of(at->line);
        for (const Corpus::Text& text : corpus.read(block)) {
            if (wanted.lower_bound({text.line, 0}) == wanted.lower_bound({text.line + 1, 0}))
                continue;
            for (const Piece& piece : cutter.cut(text))
                if (wanted.contains(piece.name)) {
                    row << piece.name.line << piece.name.piece << piece.begin
                        << nlohmann::json(piece.ids).dump()
                        << dump_json(nlohmann::json(cutter.tokens_of(piece)));
                    row.run();
                }
        }
        while (at != wanted.end() && corpus.block_of(at->line) == block)
            ++at;
    }
}

void read_examples(format::Database& file, std::int64_t layer, std::int64_t head, SurveyedScore& of) {
    format::Statement row(file,
                          "SELECT kind, place, line, piece, value, query, key, weight FROM examples WHERE "
                          "layer = ? AND head = ? AND score = ? ORDER BY kind = 'decile', place");
    row << layer << head << of.info->id;
    while (row.next()) {
        SurveyExample& example = of.examples.emplace_back();
        if (row.text(0) == "decile")
            example.decile = static_cast<int>(row.integer(1));
        example.piece = {.name = {row.integer(2), row.integer(3)},
                         .query = static_cast<std::int32_t>(row.integer(5)),
                         .key = static_cast<std::int32_t>(row.integer(6)),
                         .score = static_cast<float>(row.real(4)),
                         .weight = static_cast<float>(row.real(7))};
    }
}

SurveyedScore read_score(format::Database& file, std::int64_t layer, std::int64_t head,
                         const HeadScoreInfo& info, bool has_beside) {
    SurveyedScore of;
    of.info = &info;
    format::Statement row(file, "SELECT pieces, mean, spread, smallest, largest, d1, d2, d3, d4, d5, d6, d7, "
                                "d8, d9, " +
                                    std::string(has_beside ? "beside" : "0") +
                                    " FROM scores WHERE layer = ? AND head = ? AND score = ?");
    row << layer << head << info.id;
    if (!row.next())
        return of;
    of.count = row.integer(0);
    of.mean = row.real(1);
    of.spread = row.real(2);
    of.smallest = row.real(3);
    of.largest = row.real(4);
    for (std::size_t d = 0; d < of.deciles.size(); ++d)
        of.deciles[d] = row.real(5 + static_cast<int>(d));
    of.beside = row.real(14);
    format::Statement above(file, "SELECT count(*) FROM scores WHERE score = ? AND mean > ?");
    above << info.id << of.mean;
    above.next();
    of.rank = 1 + above.integer(0);
    read_examples(file, layer, head, of);
    return of;
}

} // namespace

void write_survey(const std::string& path, const SurveyPlan& plan, const SurveyState& state,
                  const Corpus& corpus, const PieceCutter& cutter) {
    format::Database::write(path, [&](format::Database& file) {
        write_run(file, plan, state.counts, true);
        file.run("CREATE TABLE scores (run INTEGER, layer INTEGER, head INTEGER, score TEXT, pieces INTEGER, "
                 "mean REAL, spread REAL, smallest REAL, d1 REAL, d2 REAL, d3 REAL, d4 REAL, d5 REAL, "
                 "d6 REAL, d7 REAL, d8 REAL, d9 REAL, largest REAL, beside REAL, "
                 "PRIMARY KEY (run, layer, head, score)) WITHOUT ROWID;"
                 "CREATE TABLE examples (run INTEGER, layer INTEGER, head INTEGER, score TEXT, kind TEXT, "
                 "place INTEGER, line INTEGER, piece INTEGER, value REAL, query INTEGER, key INTEGER, "
                 "weight REAL, PRIMARY KEY (run, layer, head, score, kind, place)) WITHOUT ROWID;"
                 "CREATE TABLE pieces (run INTEGER, line INTEGER, piece INTEGER, first_token INTEGER, "
                 "ids TEXT, tokens TEXT, PRIMARY KEY (run, line, piece)) WITHOUT ROWID");
        SummaryWriter writer(file);
        for (std::int64_t l = 0; l < state.layers(); ++l)
            for (std::int64_t h = 0; h < state.H(); ++h)
                for (std::size_t s = 0; s < surveyed_scores().size(); ++s)
                    writer.write(l, h, surveyed_scores()[s]->id, state.summary(l, h, s));
        write_pieces(file, writer.wanted, corpus, cutter);
    });
}

SurveyFile::SurveyFile(format::Database file, SurveyRun run) : file_(std::move(file)), run_(std::move(run)) {
    format::Statement row(file_, "SELECT count(*) FROM pragma_table_info('scores') WHERE name = 'beside'");
    has_beside_ = row.next() && row.integer(0) > 0;
}

SurveyFile SurveyFile::open(const std::string& path) {
    format::Database file = format::Database::open(path);
    SurveyRun run = read_run(file);
    if (!run.done)
        fail_input(tr("survey_file.part_survey_not_finished",
                      "{} is part of a survey that is not finished; start that survey again and wait for it",
                      path));
    return {std::move(file), std::move(run)};
}

std::vector<std::optional<double>> SurveyFile::means(HeadScore score) {
    return column(score, "mean");
}

std::vector<std::optional<double>> SurveyFile::means_beside(HeadScore score) {
    return column(score, has_beside_ ? "beside" : "0");
}

std::vector<std::optional<double>> SurveyFile::column(HeadScore score, const std::string& name) {
    std::vector<std::optional<double>> means(static_cast<std::size_t>(run_.plan.layers * run_.plan.H));
    format::Statement row(file_, "SELECT layer, head, " + name + " FROM scores WHERE score = ?");
    row << info_of(score).id;
    while (row.next()) {
        const std::int64_t head = row.integer(0) * run_.plan.H + row.integer(1);
        if (head < 0 || head >= std::ssize(means))
            fail_input(tr("survey_file.damaged_head_not_write",
                          "{} is damaged: it names a head that does not exist; write the survey again",
                          file_.path()));
        means[static_cast<std::size_t>(head)] = row.real(2);
    }
    return means;
}

HeadCard SurveyFile::card(std::int64_t layer, std::int64_t head) {
    if (layer < 0 || head < 0 || layer >= run_.plan.layers || head >= run_.plan.H)
        fail_input(tr("survey_file.no_head_layer_layers",
                      "there is no head {} of layer {} in {}; layers are numbered 0 to {}, heads 0 to {}",
                      head, layer, file_.path(), run_.plan.layers - 1, run_.plan.H - 1));
    HeadCard card{.layer = layer, .head = head, .label = {}, .beside_first = false, .scores = {}};
    HeadMetrics means;
    for (const HeadScoreInfo* const info : surveyed_scores()) {
        const SurveyedScore& score =
            card.scores.emplace_back(read_score(file_, layer, head, *info, has_beside_));
        if (score.count > 0)
            means.set(info->score, static_cast<float>(score.mean));
        means.beside[static_cast<std::size_t>(info->score)] = static_cast<float>(score.beside);
    }
    const HeadMetrics labelled = mean_of(std::span(&means, 1));
    card.label = labelled.label();
    card.beside_first = labelled.beside_first;
    return card;
}

PieceText SurveyFile::piece(const ScoredPiece& example) {
    format::Statement row(file_, "SELECT first_token, ids, tokens FROM pieces WHERE line = ? AND piece = ?");
    row << example.name.line << example.name.piece;
    const std::string place = tr("survey_file.piece_line", "{}: piece {} of line {}", file_.path(),
                                 example.name.piece, example.name.line);
    if (!row.next())
        fail_input(tr("survey_file.not_write_survey_again", "{} is missing; write the survey again", place));
    PieceText text;
    try {
        text = {.begin = row.integer(0),
                .ids = parse_json(row.text(1), place).get<std::vector<std::int64_t>>(),
                .tokens = parse_json_with_bytes(row.text(2), place).get<std::vector<std::string>>()};
    } catch (const nlohmann::json::exception&) {
        fail_input(
            tr("survey_file.damaged_write_survey_again", "{} is damaged; write the survey again", place));
    }
    const auto holds = [&](std::int64_t token) { return token >= 0 && token < std::ssize(text.tokens); };
    if (!holds(example.query) || !holds(example.key) || text.ids.size() != text.tokens.size())
        fail_input(tr("survey_file.tokens_example_names_others",
                      "{} has {} tokens, and an example names others; write the survey again", place,
                      text.tokens.size()));
    return text;
}

} // namespace headscope::analysis
