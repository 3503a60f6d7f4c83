#include "app/cli/survey/survey_show.h"

#include "app/draw/kit/format.h"
#include "core/analysis/survey/survey_file.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/plain_text.h"
#include "core/text/readable_tokens.h"
#include "core/text/word_pieces.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace headscope::cli {

namespace {

using Json = nlohmann::ordered_json;
using analysis::HeadCard;
using analysis::SurveyedScore;
using analysis::SurveyExample;
using analysis::SurveyFile;

std::string at(const std::vector<std::string>& tokens, std::int64_t place) {
    return text::plain_text(tokens[static_cast<std::size_t>(place)]) + "@" + std::to_string(place);
}

/// Returns the tokens around the query, which is enclosed in > and <, and around the key, in [ and ].
std::string words_around(const std::vector<std::string>& pieces, const std::vector<std::string>& tokens,
                         std::int64_t query, std::int64_t key) {
    constexpr std::int64_t around_query = 6, around_key = 3;
    std::set<std::int64_t> begins; // indices of the first tokens of words
    for (const text::TokenRun& run : text::group_pieces_into_words(pieces))
        begins.insert(run.first);
    std::string words;
    std::int64_t last = -1;
    for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
        if (std::abs(i - query) > around_query && std::abs(i - key) > around_key)
            continue;
        words += last + 1 < i                           ? (words.empty() ? "... " : " ... ")
                 : !words.empty() && begins.contains(i) ? " "
                                                        : "";
        const std::string token = text::plain_text(tokens[static_cast<std::size_t>(i)]);
        const std::string marked = i == key ? "[" + token + "]" : token;
        words += i == query ? ">" + marked + "<" : marked;
        last = i;
    }
    return words + (last + 1 < std::ssize(tokens) ? " ..." : "");
}

/// "cat@5 reads The@4 0.94  line 12: [The] >cat< sat ..."
std::string example_text(SurveyFile& file, const SurveyExample& example) {
    const analysis::ScoredPiece& piece = example.piece;
    const std::vector<std::string> pieces = file.piece(piece).tokens, tokens = text::readable_tokens(pieces);
    return at(tokens, piece.query) + " reads " + at(tokens, piece.key) + " " + app::number(piece.weight, 2) +
           "  line " + std::to_string(piece.name.line) +
           (piece.name.piece > 0 ? ", piece " + std::to_string(piece.name.piece) : "") + ": " +
           words_around(pieces, tokens, piece.query, piece.key);
}

std::string score_text(SurveyFile& file, const SurveyedScore& score) {
    const analysis::ScoreUnit& unit = score.info->unit;
    const auto digits = [&](double number) { return app::number(number * unit.factor, unit.decimals + 1); };
    const auto value = [&](double number) { return digits(number) + std::string(unit.suffix.english); };
    const std::int64_t heads = file.run().plan.layers * file.run().plan.H;
    std::string out = "\n" + std::string(score.info->id) + "  mean " + value(score.mean) + ", spread " +
                      value(score.spread) + ", rank " + app::grouped(score.rank) + " of " +
                      app::grouped(heads) + ", " + app::counted(score.count, "piece") + "\n  deciles " +
                      digits(score.smallest);
    for (const double decile : score.deciles)
        out += " | " + digits(decile);
    out += " | " + digits(score.largest) + "\n";
    if (score.largest <= 0)
        return out; // no piece has this behavior
    constexpr int shown = 3;
    int left = shown;
    for (const SurveyExample& example : score.examples)
        if (!example.decile && left-- > 0)
            out += "  " + value(static_cast<double>(example.piece.score)) + "  " +
                   example_text(file, example) + "\n";
    for (const SurveyExample& example : score.examples)
        if (example.decile == 5)
            out += "  typical, " + value(static_cast<double>(example.piece.score)) + "  " +
                   example_text(file, example) + "\n";
    return out;
}

std::string card_text(SurveyFile& file, const HeadCard& card) {
    const analysis::SurveyPlan& plan = file.run().plan;
    std::string out = "head " + std::to_string(card.head) + " of layer " + std::to_string(card.layer) +
                      (card.label.empty() ? "" : ": " + std::string(card.label)) +
                      (card.beside_first ? " (apart from the first token)" : "") + "\n" + plan.checkpoint +
                      " over " + app::counted(file.run().counts.texts, "text") + " of " + plan.texts + ", " +
                      app::counted(file.run().counts.tokens, "token") + "\n";
    for (const SurveyedScore& score : card.scores)
        if (score.count > 0)
            out += score_text(file, score);
    return out;
}

Json example_json(SurveyFile& file, const SurveyExample& example) {
    const analysis::ScoredPiece& piece = example.piece;
    const analysis::PieceText text = file.piece(piece);
    return {{"decile", example.decile ? Json(*example.decile) : Json()},
            {"value", piece.score},
            {"line", piece.name.line},
            {"piece", piece.name.piece},
            {"first_token", text.begin},
            {"query", piece.query},
            {"key", piece.key},
            {"weight", piece.weight},
            {"tokens", text.tokens}};
}

std::string card_json(SurveyFile& file, const HeadCard& card) {
    Json scores = Json::object();
    for (const SurveyedScore& score : card.scores) {
        if (score.count == 0)
            continue;
        Json examples = Json::array();
        for (const SurveyExample& example : score.examples)
            examples.push_back(example_json(file, example));
        scores[std::string(score.info->id)] = {
            {"pieces", score.count},      {"mean", score.mean},
            {"spread", score.spread},     {"rank", score.rank},
            {"smallest", score.smallest}, {"deciles", score.deciles},
            {"largest", score.largest},   {"examples", std::move(examples)}};
    }
    Json all{{"layer", card.layer},
             {"head", card.head},
             {"label", card.label.empty() ? Json() : Json(std::string(card.label))}};
    if (card.beside_first)
        all["beside_first_token"] = true;
    all["checkpoint"] = file.run().plan.checkpoint;
    all["texts"] = file.run().plan.texts;
    all["scores"] = std::move(scores);
    return dump_json(all, 1) + "\n";
}

} // namespace

void show_survey(const SurveyShowOptions& options) {
    SurveyFile file = SurveyFile::open(options.path);
    const HeadCard card = file.card(options.layer, options.head);
    write_file_atomically("-", options.json ? card_json(file, card) : card_text(file, card));
}

} // namespace headscope::cli
