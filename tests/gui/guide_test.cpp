#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <set>

// Steps through the Guide next to the canvas, from its first stage to its last.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Numbers with decimals in visible texts that begin between two edges.
std::set<std::string> numbers_shown(float from, float to) {
    static const std::regex decimal(R"((^|[^0-9.])([0-9]+\.[0-9]{1,4}|[0-9]{3,})(?![0-9.]))");
    std::set<std::string> found;
    for (const ScreenText& text : screen_texts())
        if (text.visible && text.x >= from && text.x < to)
            for (std::sregex_iterator at(text.text.begin(), text.text.end(), decimal), end; at != end; ++at)
                found.insert((*at)[2]);
    return found;
}

/// Returns true if one of the numbers equals this one in the digits that it has, or is 1 less in the last
/// digit.
bool readable(const std::string& quoted, const std::set<std::string>& shown) {
    const double value = std::strtod(quoted.c_str(), nullptr);
    return std::ranges::any_of(shown, [&](const std::string& one) {
        const double there = std::strtod(one.c_str(), nullptr);
        const auto point = one.find('.');
        const auto decimals = point == std::string::npos ? 0.0 : static_cast<double>(one.size() - point - 1);
        const double off = 0.00501 + 0.5 * std::pow(10, -decimals);
        return std::abs(there - value) < off || std::abs(1 - there - value) < off;
    });
}

} // namespace

TEST_CASE("the Guide is walked to its end by Next, and every number it quotes is on the same screen",
          "[gui][guide][layout]") {
    const auto [width, height] = GENERATE(std::pair(1600.0F, 1000.0F), std::pair(1280.0F, 720.0F));
    const std::string sentence = GENERATE("", "The old man reads the paper");
    INFO(width << " x " << height << ", " << sentence);
    User user("first-lesson", sentence, width, height);
    user.act(GoTo{StageGroup::x});
    int quoted = 0;
    for (int stage = 0; stage < group_count; ++stage) {
        INFO("stage " << stage + 1);
        REQUIRE(static_cast<int>(user.view().group) == stage);
        CHECK(screen_shows("Stage " + std::to_string(stage + 1) + " of 11"));
        const std::set<std::string> beside = numbers_shown(user.view().left_width, width);
        for (const std::string& number : numbers_shown(0, user.view().left_width)) {
            INFO(number);
            CHECK(readable(number, beside));
            ++quoted;
        }
        if (stage + 1 < group_count)
            user.press("Next");
    }
    CHECK(quoted > 12);
    user.press("Take the course");
    CHECK(user.view().tab == LeftTab::course);
    CHECK(screen_shows("What attention is"));
}

TEST_CASE("at 1280 x 720 the inspector stands open, and the factors of a product keep their numbers",
          "[gui][guide][layout]") {
    User user("first-lesson", "", 1280, 720);
    CHECK(user.driver.find("Headscope/fold inspector"));
    CHECK(user.driver.find("Headscope/fold left"));
    for (const StageGroup stage :
         {StageGroup::x, StageGroup::qkv, StageGroup::split, StageGroup::scores, StageGroup::head_out,
          StageGroup::concat, StageGroup::contributions, StageGroup::output}) {
        user.act(GoTo{stage});
        INFO(group_info(stage).label);
        for (const MatrixGrid& grid : user.program.canvas().grids) {
            INFO(tensor_info(grid.tensor).name);
            CHECK(std::min(grid.pitch_x, grid.pitch_y) >= 18);
        }
        const int printed = check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem());
        int cells = 0;
        for (const MatrixGrid& grid : user.program.canvas().grids)
            cells += static_cast<int>(grid.rows * grid.cols);
        CHECK(printed == cells);
    }
    // The part of a wide product that holds the selected number.
    user.act(Select{CellAddress{TensorId::W_O, {5, 7, 0, 0}}});
    const auto& grids = user.program.canvas().grids;
    CHECK(std::ranges::any_of(grids, [](const MatrixGrid& grid) {
        return grid.tensor == TensorId::W_O && grid.find({5, 7, 0, 0});
    }));
}

TEST_CASE("a word that no list knows is marked, said in one line, and given a class by a click",
          "[gui][guide]") {
    User user;
    user.type_sentence("The blorp sat down");
    CHECK(screen_shows("“blorp” is not in a word list"));
    user.act(GoTo{StageGroup::x});
    CHECK(screen_shows("?"));
    CHECK(screen_shows("“blorp” is not in a word list: taken as noun-like 0.80"));
    CHECK(user.problem().x->at(0, 1, 0) == 0.8F);
    user.press("verb");
    CHECK(user.problem().x->at(0, 1, 0) == 0.0F);
    CHECK(user.problem().x->at(0, 1, 1) == 1.0F);
    CHECK_FALSE(screen_shows("not in a word list")); // its class is given now
    user.type_sentence("The cat sat down");
    CHECK_FALSE(screen_shows("not in a word list"));
}

TEST_CASE("the guide speaks of the column that a selected weight has its say in", "[gui][guide]") {
    User user;
    user.act(GoTo{StageGroup::qkv});
    user.act(ShowTab{LeftTab::guide});
    user.act(Select{CellAddress{TensorId::W_Q, {1, 0, 0, 0}}});
    CHECK(screen_shows("For “sat”, column 0 of q is 3.80"));
}

TEST_CASE("Ctrl Home and Ctrl End predict after the first and last token, and a new prompt after its last",
          "[gui][guide][model]") {
    User user;
    user.open("pocket", "The storm closed the harbour");
    REQUIRE(user.view().tab == LeftTab::predictions);
    const auto position = [&] { return user.program.state().model.predictions->position; };
    const std::int64_t last = user.program.state().document->part()->inputs->T - 1;
    CHECK(position() == last);
    user.driver.key(GLFW_KEY_HOME, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(position() == 0);
    user.act(TypePrompt{"The storm closed the harbour at noon and Anna called Tom"});
    user.settle();
    CHECK(position() == user.program.state().document->part()->inputs->T - 1);
    user.driver.key(GLFW_KEY_HOME, GLFW_MOD_CONTROL);
    user.settle();
    user.driver.key(GLFW_KEY_END, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(position() > last);
}

} // namespace headscope::test
