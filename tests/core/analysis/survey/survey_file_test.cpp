#include "core/analysis/heads/model_heads.h"
#include "core/analysis/survey/corpus.h"
#include "core/analysis/survey/part_file.h"
#include "core/analysis/survey/survey_file.h"
#include "core/analysis/survey/surveyor.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/engine/engine.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <algorithm>
#include <numeric>
#include <span>

using namespace headscope;
using namespace headscope::analysis;
using Catch::Contains;

namespace {

std::string write(const test::TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
    write_file_atomically(folder.file(name), bytes);
    return folder.file(name);
}

std::vector<Corpus::Text> all_texts(const Corpus& corpus) {
    std::vector<Corpus::Text> all;
    for (std::int64_t block = 0; block < corpus.blocks(); ++block)
        for (Corpus::Text& text : corpus.read(block)) {
            CHECK(corpus.block_of(text.line) == block);
            all.push_back(std::move(text));
        }
    return all;
}

} // namespace

TEST_CASE("a corpus is read block by block, without what is empty or no UTF-8", "[survey]") {
    const test::TemporaryFolder folder;
    std::string bytes = "\xEF\xBB\xBF"
                        "first\r\n\n \t\nin\xFFvalid\n";
    for (int n = 0; n < 400; ++n)
        bytes += std::string(static_cast<std::size_t>(n), 'a') + "b\n\n";
    bytes += "last";
    const Corpus corpus = Corpus::open(write(folder, "a.txt", bytes), {}, Progress());
    CHECK(corpus.counts().texts == 402);
    CHECK(corpus.counts().empty == 402);
    CHECK(corpus.counts().invalid == 1);
    CHECK(corpus.counts().lines == 805);
    CHECK(corpus.blocks() > 5);
    const std::vector<Corpus::Text> texts = all_texts(corpus);
    REQUIRE(texts.size() == 402);
    CHECK(texts.front().text == "first");
    CHECK(texts[1].text == "b");
    CHECK(texts[1].line == 5);
    CHECK(texts.back().text == "last");
    CHECK(texts.back().line == 805);

    const Corpus limited = Corpus::open(folder.file("a.txt"), 2, Progress());
    CHECK(limited.sha256() == corpus.sha256());
    CHECK(limited.counts().lines == 5);
    CHECK(all_texts(limited).size() == 2);
}

TEST_CASE("a line that is too long for a text is refused by its number", "[survey]") {
    const test::TemporaryFolder folder;
    const std::string path = write(folder, "a.txt", "short\n" + std::string(5 * mebibyte, 'x'));
    CHECK_THROWS_WITH(Corpus::open(path, {}, Progress()), Contains("line 2") && Contains("split it"));
    CHECK_THROWS_WITH(Corpus::open(folder.file("none"), {}, Progress()), Contains("there is no file"));
}

TEST_CASE("pieces that were cut from a text have all its tokens in order", "[survey]") {
    const checkpoint::TextModelPtr pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    const Corpus::Text text{.line = 3, .text = "The storm closed the harbour at noon. Anna called Tom."};
    const std::vector<Piece> whole = PieceCutter(pocket, 256).cut(text);
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].name == PieceName{3, 0});
    for (const std::int64_t length : {2, 3, 7, 14}) {
        const std::vector<Piece> pieces = PieceCutter(pocket, length).cut(text);
        std::vector<std::int64_t> joined{whole[0].ids.front()};
        for (const Piece& piece : pieces) {
            CHECK(std::ssize(piece.ids) <= length);
            CHECK(piece.ids.front() == whole[0].ids.front());
            CHECK(piece.begin == std::ssize(joined) - 1);
            joined.insert(joined.end(), piece.ids.begin() + 1, piece.ids.end());
            CHECK((piece.ids.size() > 2 || length == 2)); // no single token, unless none has more
        }
        // A single token at the end is left out.
        const bool left_over = length > 2 && (std::ssize(whole[0].ids) - 1) % (length - 1) == 1;
        CHECK(std::ssize(joined) == std::ssize(whole[0].ids) - (left_over ? 1 : 0));
        CHECK(std::ranges::equal(joined, std::span(whole[0].ids).first(joined.size())));
    }
    const auto own = std::ssize(whole[0].ids) - 1; // without the token that begins every piece
    CHECK(PieceCutter(pocket, own).cut(text).size() == 1);
    CHECK(PieceCutter(pocket, own - 1).cut(text).size() == 2);
    // A text that is one token is whole.
    CHECK(PieceCutter(pocket, 8).cut({.line = 4, .text = "A"}).size() == 1);
    CHECK_THROWS_WITH(PieceCutter(pocket, 1), Contains("needs at least 2"));
}

TEST_CASE("a survey does not depend on how its blocks were divided, and its file says what it found",
          "[survey]") {
    const test::TemporaryFolder folder;
    std::string bytes;
    for (int n = 0; n < 12; ++n)
        bytes +=
            "Anna called Tom, and John gave a book to Mary" + std::string(n % 3 == 0 ? " again" : "") + ".\n";
    const Corpus corpus = Corpus::open(write(folder, "a.txt", bytes), {}, Progress());
    const checkpoint::TextModelPtr pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    const PieceCutter cutter(pocket, 8);
    std::vector<Piece> pieces;
    for (const Corpus::Text& text : corpus.read(0))
        std::ranges::move(cutter.cut(text), std::back_inserter(pieces));
    SurveyPlan plan;
    plan.layers = pocket->model->config().layers;
    plan.H = pocket->model->config().H;
    plan.describe(corpus);
    Progress progress;
    const auto survey = [&](std::span<const Piece> some, int threads) {
        SurveyState state(plan.layers, plan.H);
        Surveyor(pocket, threads).add(some, cutter, state, progress);
        return state;
    };
    const SurveyState whole = survey(pieces, 2);
    SurveyState parts = survey(std::span(pieces).subspan(5), 1);
    write_part(folder.file("part"), plan, survey(std::span(pieces).first(5), 2));
    parts.merge(read_part(folder.file("part")).state);
    write_survey(folder.file("whole.db"), plan, whole, corpus, cutter);
    write_survey(folder.file("parts.db"), plan, parts, corpus, cutter);
    CHECK(read_file(folder.file("whole.db")) == read_file(folder.file("parts.db")));

    SurveyFile file = SurveyFile::open(folder.file("whole.db"));
    // Labels are those that `headscope heads` gives to the means over the same pieces.
    std::vector<std::vector<MeasuredHead>> measured;
    for (const Piece& piece : pieces)
        measured.push_back(text_heads(*pocket, checkpoint::token_inputs(*pocket, piece.ids), 0,
                                      {.stages = StageSet().with(TensorId::weights)}, nullptr, progress,
                                      false));
    int beside = 0; // nonzero scores outside the first token
    for (const MeasuredHead& head : mean_heads(measured)) {
        const HeadCard found = file.card(head.layer, head.head);
        INFO("L" << head.layer << " H" << head.head);
        CHECK(found.label == head.metrics.label());
        CHECK(found.beside_first == head.metrics.beside_first);
        const auto at = static_cast<std::size_t>(head.layer * plan.H + head.head);
        for (const HeadScore score : {HeadScore::previous, HeadScore::self, HeadScore::induction_text}) {
            const float wanted = head.metrics.beside[static_cast<std::size_t>(score)];
            CHECK(file.means_beside(score)[at].value() == Approx(wanted).margin(1e-6));
            beside += wanted > 0 ? 1 : 0;
        }
    }
    CHECK(beside > 20);
    CHECK(file.run().counts.pieces == std::ssize(pieces));
    const std::vector<std::optional<double>> means = file.means(HeadScore::previous);
    REQUIRE(std::ssize(means) == plan.layers * plan.H);
    const HeadCard card = file.card(1, 2);
    const SurveyedScore& previous = card.scores[static_cast<std::size_t>(HeadScore::previous)];
    CHECK(previous.mean == means[static_cast<std::size_t>(plan.H + 2)]);
    REQUIRE(previous.examples.size() == 20);
    const PieceText text = file.piece(previous.examples.front().piece);
    CHECK(text.ids.size() == text.tokens.size());
    CHECK_THROWS_WITH(file.card(1, plan.H), Contains("there is no head"));
    ScoredPiece wrong = previous.examples.front().piece;
    wrong.key = 8;
    CHECK_THROWS_WITH(file.piece(wrong), Contains("an example names others"));
    wrong.name = {99, 0};
    CHECK_THROWS_WITH(file.piece(wrong), Contains("piece 0 of line 99 is missing"));
    CHECK_THROWS_WITH(SurveyFile::open(folder.file("part")), Contains("not finished"));
    CHECK_THROWS_WITH(SurveyFile::open(folder.file("a.txt")), Contains("not an SQLite database"));
}

TEST_CASE("a survey's file that is cut short is refused, not read", "[survey]") {
    const test::TemporaryFolder folder;
    SurveyPlan plan;
    plan.layers = 1;
    plan.H = 2;
    write_part(folder.file("part"), plan, SurveyState(1, 2));
    const std::string bytes = read_file(folder.file("part"));
    for (const std::size_t share : {1U, 3U, 6U, 7U})
        CHECK_THROWS_AS(read_part(write(folder, "cut", bytes.substr(0, bytes.size() * share / 8))), Error);
}
