#include "core/base/error.h"
#include "core/lesson/target.h"
#include "core/project/recipe.h"
#include "tests/catch.h"

#include <utility>
#include <vector>

using namespace headscope;
using namespace headscope::lesson;

namespace {

Problem problem_of(const std::string& sentence) {
    return project::build_recipe({.preset = "first-lesson", .sentence = sentence}).problem;
}

std::string fault(const std::string& text, const Problem& problem) {
    try {
        resolve(parse_target(text), problem);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("targets find their cells") {
    const Problem problem = problem_of("The cat sat on the cat");
    struct Found {
        std::string text;
        Index first, count;
    };
    const std::vector<Found> all{{"weights[0][sat, The]", {0, 0, 2, 0}, {1, 1, 1, 1}},
                                 {"weights[1]", {0, 1, 0, 0}, {1, 1, 6, 6}},
                                 {"weights", {0, 0, 0, 0}, {1, 2, 6, 6}},
                                 {" weights [ 1 ] [ sat , : ] ", {0, 1, 2, 0}, {1, 1, 1, 6}},
                                 {"weights[1, sat, 2:4]", {0, 1, 2, 2}, {1, 1, 1, 2}},
                                 {"q[cat@5, 4:8]", {0, 5, 4, 0}, {1, 1, 4, 0}},
                                 {"q[\"sat\"]", {0, 2, 0, 0}, {1, 1, 8, 0}},
                                 {"W_O[0:4, :]", {0, 0, 0, 0}, {4, 8, 0, 0}},
                                 {"q_heads[1][the, 3]", {0, 1, 4, 3}, {1, 1, 1, 1}}};
    for (const Found& found : all) {
        CAPTURE(found.text);
        const CellRange cells = resolve(parse_target(found.text), problem);
        CHECK(cells.first == found.first);
        CHECK(cells.count == found.count);
    }
    const CellRange block = resolve(parse_target("W_O[1:3, 6:8]"), problem);
    CHECK(block.size() == 4);
    CHECK(offsets_of(block, problem.weights.W_O->shape()) == std::vector<std::int64_t>{14, 15, 22, 23});
}

TEST_CASE("targets that are not there say what there is") {
    const Problem problem = problem_of("The cat sat on the cat");
    const std::vector<std::pair<std::string, std::string>> all{
        {"wings[0]", "there is no tensor \"wings\""},
        {"weights[0", "a bracket that is not closed"},
        {"weights[0]x", "a bracket that is not closed"},
        {"weights[]", "an index is missing"},
        {"weights[2]", "has only 0 to 1 there"},
        {"weights[0][6, 0]", "has only 0 to 5 there"},
        {"weights[0][-1, 0]", "has only 0 to 5 there"},
        {"weights[0][0, 0][0]", "(the batch is not counted)"},
        {"weights[0][dog, 0]", "there is no token \"dog\""},
        {"weights[0][cat, 0]", "write cat@1"},
        {"weights[0][cat@2, 0]", "there is no token \"cat@2\""},
        {"q[sat, cat]", "\"cat\" is a word"}};
    for (const auto& [text, words] : all) {
        CAPTURE(text, fault(text, problem));
        CHECK(fault(text, problem).find(words) != std::string::npos);
    }
}

TEST_CASE("a target is written as it was read") {
    for (const char* text : {"weights[0][sat, cat]", "W_O[0:4, :]", "x[2, 1]", "contributions[1]", "concat"})
        CHECK(target_text(parse_target(text)) == text);
}

TEST_CASE("with two sentences, rows are words of the first and columns words of the second") {
    const Problem problem = project::build_recipe({.preset = "translation",
                                                   .sentence = "The cat drinks water",
                                                   .kv_sentence = "Le chat boit de l'eau"})
                                .problem;
    const CellRange cells = resolve(parse_target("weights[0][water, l'eau]"), problem);
    CHECK(cells.first == Index{0, 0, 3, 4});
    CHECK(resolve(parse_target("k[chat, 2]"), problem).first == Index{0, 1, 2, 0});
    CHECK(resolve(parse_target("x_kv[de, :]"), problem).count == Index{1, 1, 16, 0});
    CHECK(resolve(parse_target("q[cat]"), problem).first == Index{0, 1, 0, 0});
    CHECK(fault("weights[0][chat, :]", problem).find("there is no token \"chat\"") != std::string::npos);
    CHECK(fault("k[cat]", problem).find("there is no token \"cat\"") != std::string::npos);
}
