#include "core/analysis/heads/retrieval.h"

#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>

// Scores are compared with NumPy by tests/app/cli/check_heads.py.

namespace headscope::test {

using namespace headscope::analysis;
using Catch::Contains;

namespace {

const checkpoint::TextModel& pocket() {
    static const checkpoint::TextModelPtr model =
        checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    return *model;
}

std::string text_of(const std::vector<std::int64_t>& ids, std::int64_t from, std::int64_t end) {
    const std::vector<text::TokenId> part(ids.begin() + from, ids.begin() + end);
    return pocket().tokenizer->decode(part, true);
}

NeedleOptions kitchen() {
    return {.haystack = "It was warm. \"Come in!\" said Mary. She made tea. Tom ate a cake. The dog slept.",
            .needle = "Ben hid the red spoon in the barn.",
            .question = "Ben hid the",
            .lengths = {24}, // all
            .depths = 3};
}

std::string fault(const NeedleOptions& options) {
    return input_error([&] { needle_texts(pocket(), options); });
}

} // namespace

TEST_CASE("a needle stands behind sentences of its haystack, and the question at the end", "[heads]") {
    const std::vector<NeedleText> texts = needle_texts(pocket(), kitchen());
    REQUIRE(texts.size() == 3);
    const std::vector<double> depths{0, 0.5, 1};
    for (std::size_t n = 0; n < 3; ++n) {
        const NeedleText& text = texts[n];
        CHECK(text.depth == depths[n]);
        CHECK_THAT(text_of(text.ids, text.first, text.end), Contains("Ben hid the red spoon in the barn."));
        CHECK(std::ranges::count(text.ids, text.ids.back()) >= 2); // "the", in the needle too
        CHECK(text_of(text.ids, 0, std::ssize(text.ids)).ends_with("Ben hid the"));
    }
    const auto all = [&](std::size_t n) { return text_of(texts[n].ids, 0, std::ssize(texts[n].ids)); };
    CHECK_THAT(all(0), Contains("Ben hid the red spoon in the barn. It was warm."));
    CHECK_THAT(all(1), Contains("said Mary. Ben hid the red spoon in the barn. She made tea."));
    CHECK_THAT(all(2), Contains("The dog slept. Ben hid the red spoon in the barn. Ben hid the"));
}

TEST_CASE("a haystack is cut to the tokens asked for, behind a sentence", "[heads]") {
    NeedleOptions options = kitchen();
    options.lengths = {8, 20};
    options.depths = 1;
    const std::vector<NeedleText> texts = needle_texts(pocket(), options);
    REQUIRE(texts.size() == 2);
    CHECK(texts[0].length <= 8);
    CHECK(texts[0].length < texts[1].length);
    CHECK(texts[1].length <= 20);
    CHECK(texts[0].depth == 0.5);
    for (const NeedleText& text : needle_texts(pocket(), usual_needle()))
        CHECK(std::ssize(text.ids) + text.end - text.first <= 256); // room for the answer
}

TEST_CASE("heads of pocket copy a needle that it finds, and none does where nothing is written", "[heads]") {
    Progress progress;
    std::vector<std::int64_t> put;
    const Retrieval found = retrieval(
        pocket(), {}, needle_texts(pocket(), usual_needle()),
        [&](const Retrieval& so_far) { put.push_back(so_far.texts); }, progress);
    CHECK(found.texts == 30);
    CHECK(put.size() == 30);
    CHECK(found.written > 0.25);
    for (const std::vector<double>& layer : found.scores)
        for (const double score : layer) {
            CHECK(score >= 0);
            CHECK(score <= found.written + 1e-12);
        }
    // The manual's evidence for pocket: these are its induction heads.
    for (const auto& [l, h] : {std::pair(1, 2), {2, 0}, {2, 7}})
        CHECK(found.scores[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)] > 0.1);
    CHECK(found.scores[0][0] < 0.02);
    progress.cancel();
    CHECK_THROWS_AS(retrieval(
                        pocket(), {}, needle_texts(pocket(), kitchen()), [](const Retrieval&) {}, progress),
                    Error);
}

TEST_CASE("what cannot be a needle in a haystack is refused with a sentence", "[heads]") {
    NeedleOptions options = kitchen();
    options.needle = " ";
    CHECK_THAT(fault(options), Contains("the needle is empty"));
    options = kitchen();
    options.depths = 0;
    CHECK_THAT(fault(options), Contains("at least 1 position, not 0"));
    options = kitchen();
    options.lengths = {1000};
    CHECK_THAT(fault(options), Contains("the haystack should have 1000 tokens"));
    options = kitchen();
    for (int n = 0; n < 5; ++n)
        options.needle += options.needle;
    CHECK_THAT(fault(options), Contains("give a shorter needle"));
    const checkpoint::TextModelPtr bert = checkpoint::open_text_model(test_data("/models/bert_tiny")),
                                   gpt2 = checkpoint::open_text_model(test_data("/models/gpt2_tiny"));
    CHECK_THAT(input_error([&] { needle_texts(*bert, kitchen()); }), Contains("does not continue a text"));
    CHECK_THAT(input_error([&] { needle_texts(*gpt2, kitchen()); }), Contains("are texts"));
}

} // namespace headscope::test
