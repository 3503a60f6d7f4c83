#include "app/shell/files/exports.h"

#include "core/engine/engine.h"
#include "tests/catch.h"

#include <algorithm>

namespace headscope::test {

using namespace headscope::app;
namespace {

ScreenSnapshot weights_of(const std::string& sentence) {
    project::Recipe recipe;
    recipe.sentence = sentence;
    const DocumentPtr document = make_document(recipe, 1);
    auto trace = std::make_shared<const Trace>(
        static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(document->problem));
    return {{document, std::move(trace), {}}, {}};
}

} // namespace

TEST_CASE("a stage is copied as one matrix below the other", "[files]") {
    ScreenSnapshot screen = weights_of("cats sleep");
    const Copied copied = copy_stage(screen);
    CHECK(copied.message == "Copied weights, 1 × 2 × 2 × 2, one matrix below the other");
    // Two heads of two rows, an empty line between them.
    const auto gap = copied.text.find("\n\n");
    REQUIRE(gap != std::string::npos);
    CHECK(std::ranges::count(copied.text.substr(0, gap), '\t') == 2);
    CHECK(copied.text.find("\n\n", gap + 1) == std::string::npos);
    // The copy of only the second head equals the lower part of the copy of both.
    screen.view.selected = CellAddress{TensorId::weights, {0, 1, 1, 0}};
    const Copied second = copy_matrix(screen);
    CHECK(second.message == "Copied weights[1], 2 × 2");
    CHECK(copied.text.ends_with("\n\n" + second.text));
    screen.view.hover = CellAddress{TensorId::W_Q, {3, 2, 0, 0}}; // takes precedence over the selection
    CHECK(copy_matrix(screen).message == "Copied W_Q, 8 × 8");
    screen.view.hover.reset();
    screen.view.selected.reset();
    CHECK(copy_matrix(screen).message.starts_with("Copied weights[0]")); // the matrix that the inspector
                                                                         // shows by default
}

TEST_CASE("files are named after sentences", "[files]") {
    CHECK(file_stem("The cat sat down") == "the-cat-sat-down");
    CHECK(file_stem("  What?! -- Yes/No.. ") == "what-yes-no");
    CHECK(file_stem("Größe") == "größe");
    CHECK(file_stem("...") == "untitled");
    CHECK(file_stem("") == "untitled");
    CHECK(file_stem(std::string(100, 'a')).size() == 40);
    std::string umlauts = "x";
    for (int i = 0; i < 40; ++i)
        umlauts += "ü";
    CHECK(file_stem(umlauts).size() == 39); // not half of a character
}

} // namespace headscope::test
