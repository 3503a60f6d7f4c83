#include "app/shell/layout.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Weights that do not fit on a page: a map of them all, fields that lead to a row or column, and pages.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// The queries of a layer of pocket: W_Q has 192 x 192 numbers.
struct WeightsUser : User {
    explicit WeightsUser(float width = 1600, float height = 1000) : User("first-lesson", "", width, height) {
        open(checkpoint::model_folder("pocket"), "The cat sat on the mat because it was tired");
        act(GoTo{StageGroup::qkv});
    }
    const MatrixGrid& grid(TensorId id) const {
        for (const MatrixGrid& grid : program.canvas().grids)
            if (grid.tensor == id)
                return grid;
        FAIL("no " << tensor_info(id).name);
        throw;
    }
    std::int64_t first(TensorId id, int axis) const {
        return grid(id).origin[static_cast<std::size_t>(axis)];
    }
    const DragArea& overview() const {
        const auto& drags = program.canvas().drags;
        const auto found = std::ranges::find(drags, "all of W_Q", &DragArea::label);
        REQUIRE(found != drags.end());
        return *found;
    }
    void click_overview(float x, float y) {
        const figure::Rect area = overview().area;
        driver.click(area.x + area.w * x, area.y + area.h * y);
        settle();
    }
    std::string field_text(const std::string& label) const {
        for (const TextField& field : program.canvas().fields)
            if (field.label == label)
                return field.text;
        return "";
    }
};

bool holds(const MatrixGrid& grid, const Index& at) {
    return grid.find(at).has_value();
}

} // namespace

TEST_CASE("a click into the map of all weights shows the numbers there", "[gui]") {
    for (const auto& [width, height] : {std::pair{1600.0F, 1000.0F}, {1280.0F, 720.0F}}) {
        WeightsUser user(width, height);
        INFO(width);
        REQUIRE_FALSE(holds(user.grid(TensorId::W_Q), {96, 144, 0, 0}));
        user.click_overview(0.75F, 0.5F);
        const CellAddress clicked = user.view().selected.value_or(CellAddress{});
        CHECK(clicked.tensor == TensorId::W_Q);
        const float pixel = 192 / user.overview().area.w; // numbers that share one
        CHECK(static_cast<float>(clicked.at[0]) == Approx(96).margin(pixel));
        CHECK(static_cast<float>(clicked.at[1]) == Approx(144).margin(pixel));
        CHECK(holds(user.grid(TensorId::W_Q), clicked.at));
        user.click_overview(0.999F, 0.999F);
        CHECK(holds(user.grid(TensorId::W_Q), {191, 191, 0, 0}));
        // Left factor, right factor and result stay one product.
        CHECK(user.grid(TensorId::x).cols == user.grid(TensorId::W_Q).rows);
        CHECK(user.first(TensorId::x, 2) == user.first(TensorId::W_Q, 0));
    }
}

TEST_CASE("a part of large weights has at least 16 columns, in cells as small as the window asks", "[gui]") {
    for (const auto& [width, height] : {std::pair{1920.0F, 1080.0F}, {1600.0F, 1000.0F}, {1280.0F, 720.0F}}) {
        WeightsUser user(width, height);
        INFO(width);
        const float edge = compute_layout(user.program.state(), width, height).canvas.right();
        for (const TensorId id : {TensorId::x, TensorId::W_Q, TensorId::q}) {
            INFO(tensor_info(id).name);
            const MatrixGrid& grid = user.grid(id);
            CHECK(grid.cols >= 16);
            CHECK(grid.pitch_x >= 10);
            CHECK(grid.area.right() <= edge);
        }
        user.act(GoTo{StageGroup::output});
        CHECK(user.grid(TensorId::concat).cols >= 16);
        CHECK(user.grid(TensorId::output).cols >= 16);
    }
}

TEST_CASE("rows and columns are reached by number, rows by their token too", "[gui]") {
    WeightsUser user;
    user.type_over("##go to column", "100");
    CHECK(holds(user.grid(TensorId::W_Q), {user.first(TensorId::W_Q, 0), 100, 0, 0}));
    CHECK(user.field_text("go to column") == std::to_string(user.first(TensorId::W_Q, 1)));
    user.type_over("##go to factor row", "57");
    CHECK(holds(user.grid(TensorId::W_Q), {57, 100, 0, 0}));
    user.type_over("##go to column", "192");
    CHECK(user.program.state().field.error.find("a number from 0 to 191") != std::string::npos);
    CHECK(holds(user.grid(TensorId::W_Q), {57, 100, 0, 0}));
}

TEST_CASE("a row of a long text is found by its token", "[gui]") {
    User user("first-lesson", "", 1280, 620);
    user.open(
        checkpoint::model_folder("pocket"),
        "The cat sat on the mat because it was tired. The dog ran to the door and saw a bird in the garden.");
    user.act(GoTo{StageGroup::qkv});
    const auto rows = [&] {
        for (const MatrixGrid& grid : user.program.canvas().grids)
            if (grid.tensor == TensorId::q)
                return std::pair{grid.origin[1], grid.rows};
        return std::pair<std::int64_t, std::int64_t>{};
    };
    const auto& tokens = user.problem().tokens;
    const std::int64_t cat =
        std::ranges::find_if(tokens, [](const std::string& token) { return token.ends_with("cat"); }) -
        tokens.begin();
    REQUIRE(cat < std::ssize(tokens));
    REQUIRE(rows().first > cat);
    user.type_over("##go to row", "CAT");
    CHECK(rows().first <= cat);
    CHECK(rows().first + rows().second > cat);
    user.type_over("##go to row", "elephant");
    CHECK(user.program.state().field.error.find("is not in any token") != std::string::npos);
}

TEST_CASE("the last page of rows is as full as the others", "[gui]") {
    WeightsUser user;
    user.act(TypePrompt{"The cat sat down and Tom called Anna. Mary said it again: "
                        "The cat sat down and Tom called Anna"});
    const std::int64_t last = user.problem().dims.Tq - 1;
    REQUIRE(last == 22); // 23 rows: no page of several rows divides them
    user.act(Select{CellAddress{TensorId::q, {0, 0, 0, 0}}});
    const std::int64_t rows = user.grid(TensorId::q).rows;
    REQUIRE(rows < last + 1);
    user.press("rows ▶");
    while (!holds(user.grid(TensorId::q), {0, last, user.first(TensorId::q, 2), 0}))
        user.press("rows ▶");
    CHECK(user.grid(TensorId::q).rows == rows);
    // Back again no row is left out.
    while (user.first(TensorId::q, 1) > 0) {
        const std::int64_t first = user.first(TensorId::q, 1);
        user.press("◀ rows");
        CHECK(user.first(TensorId::q, 1) < first);
        CHECK(user.first(TensorId::q, 1) + user.grid(TensorId::q).rows >= first);
    }
}

} // namespace headscope::test
