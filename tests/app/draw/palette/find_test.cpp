#include "app/draw/palette/find.h"

#include "app/draw/kit/format.h"
#include "app/draw/pages/pages.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <cmath>

namespace headscope::test {

using namespace headscope::app;
namespace {

/// The canvas as the window draws it.
Picture canvas_of(const Shown& shown, const ViewState& view) {
    const figure::TextMeasure measure = approximate_measure();
    return draw_canvas({shown, view, theme(false), measure, 960, 848});
}

} // namespace

TEST_CASE("tokens are found by their letters, in the order of the text", "[find]") {
    const Shown shown = make_shown({.Tq = 5, .Tk = 5, .tokens = {"The", "cat", "and", "the", "Äther"}});
    const auto found = [&](const char* typed) { return find_in_view(shown, {}, typed); };
    CHECK(found("the") == std::vector<FindMatch>{std::int64_t{0}, std::int64_t{3}, std::int64_t{4}});
    CHECK(found("AT") == std::vector<FindMatch>{std::int64_t{1}});
    CHECK(found("äth") == std::vector<FindMatch>{std::int64_t{4}});
    CHECK(found("dog").empty());
    CHECK(found("").empty());
}

TEST_CASE("numbers are found as they are printed, in every matrix on screen", "[find]") {
    const Shown shown = make_shown({});
    for (const StageGroup stage :
         {StageGroup::x, StageGroup::scores, StageGroup::weights, StageGroup::output}) {
        ViewState view;
        view.group = stage;
        const Picture canvas = canvas_of(shown, view);
        std::size_t printed = 0, negative = 0;
        for (const MatrixGrid& grid : canvas.grids)
            for (std::int64_t row = 0; row < grid.rows; ++row)
                for (std::int64_t col = 0; col < grid.cols; ++col) {
                    // Factors beside it may be printed with fewer decimals.
                    if (grid.tensor != group_info(stage).main)
                        continue;
                    const CellAddress cell{grid.tensor, grid.index(row, col)};
                    const auto value = static_cast<double>(shown.value(cell));
                    // As a reader types it: two decimals, a hyphen for the minus sign.
                    std::string text = number(value, 2);
                    if (text.starts_with("−"))
                        text.replace(0, std::string_view("−").size(), "-");
                    const std::vector<FindMatch> found = find_in_view(shown, canvas, text);
                    printed += found.empty() ? 0 : 1;
                    negative += !found.empty() && text.starts_with('-') ? 1 : 0;
                    for (const FindMatch& one : found) {
                        const CellAddress& at = std::get<CellAddress>(one);
                        CHECK(std::abs(static_cast<double>(shown.value(at)) - value) < 0.0101);
                    }
                    if (!found.empty())
                        CHECK(std::ranges::find(found, FindMatch(cell)) != found.end());
                }
        INFO(group_info(stage).label);
        CHECK(printed > 8);
        if (stage == StageGroup::x)
            CHECK(negative > 8);
    }
}

TEST_CASE("a found token is selected where the inspector speaks of its row", "[find]") {
    const Shown shown = make_shown({});
    ViewState view;
    const auto selected = [&](std::int64_t token) {
        const Actions sent = select_token(shown, view, token);
        REQUIRE(sent.size() == (view.row < 0 ? 1 : 2));
        return *std::get<Select>(std::get<ViewChange>(sent.back())).cell;
    };
    view.group = StageGroup::weights;
    view.head = 1;
    const CellAddress weight = selected(2);
    CHECK(weight.tensor == TensorId::weights);
    CHECK(weight.at[1] == 1);
    CHECK(weight.at[2] == 2);
    for (std::int64_t key = 0; key < 4; ++key) // the largest of the row
        CHECK(shown.value({TensorId::weights, {0, 1, 2, key}}) <= shown.value(weight));
    view.group = StageGroup::output;
    view.row = 0;
    const CellAddress output = selected(3);
    CHECK(output.tensor == TensorId::output);
    CHECK(output.at[1] == 3);
    const Actions sent = select_token(shown, view, 3);
    CHECK(std::get<GoTo>(std::get<ViewChange>(sent.front())).row == 3);
}

} // namespace headscope::test
