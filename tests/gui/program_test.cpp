#include "app/draw/kit/frame_counter.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/support.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>

// Typing, stepping and playing, as a user does it with the keyboard.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Every grid begins inside the canvas, or the canvas scrolls to it; its numbers are the trace's.
void check_canvas(User& user, const Trace& trace) {
    const Picture& canvas = user.program.canvas();
    INFO(group_info(user.view().group).label);
    REQUIRE_FALSE(canvas.scene.items.empty());
    REQUIRE_FALSE(canvas.grids.empty());
    for (const MatrixGrid& grid : canvas.grids) {
        const figure::Rect first = grid.cell(0, 0);
        CHECK(first.w > 0);
        CHECK(first.h > 0);
        // Without scrolling, the canvas begins below the strip.
        CHECK(first.y >= toolbar_height + strip_height);
        CHECK(first.x >= 0);
        // Beyond the window only where the canvas scrolls that far.
        CHECK((first.x < 1600 || canvas.scene.width > first.x - rail_width));
        CHECK((first.y < 1000 - bottom_height ||
               canvas.scene.height > first.y - toolbar_height - strip_height));
    }
    CHECK(check_printed_numbers(canvas, trace, user.problem()) > 0);
}

void check_same(const Trace& a, const Trace& b) {
    for (const TensorInfo& info : stages_of()) {
        INFO(info.name);
        REQUIRE(a.stage(info.id)->shape() == b.stage(info.id)->shape());
        CHECK(std::ranges::equal(a.stage(info.id)->values(), b.stage(info.id)->values()));
    }
}

} // namespace

TEST_CASE("a typed sentence is computed and walked through, stage by stage and back", "[gui][program]") {
    User user;
    const std::uint64_t before = user.program.state().document->revision;
    user.type_sentence("The bank by the river");
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
    CHECK(user.program.state().document->revision > before);
    CHECK(user.program.state().sentence == "The bank by the river");
    CHECK(user.problem().tokens == std::vector<std::string>{"The", "bank", "by", "the", "river"});
    CHECK(user.program.title() == "• The bank by the river · Headscope");

    const Trace trace = computed(text::build_preset("first-lesson", "The bank by the river").problem);
    check_same(*user.shown().trace, trace);
    CHECK(user.shown().document == user.program.state().document);

    const auto rows = std::ranges::count_if(user.program.canvas().grids, [](const MatrixGrid& grid) {
        return grid.tensor == TensorId::weights && grid.rows == 5 && grid.cols == 5;
    });
    CHECK(rows >= 2);
    for (const char* word : {"The", "bank", "by", "the", "river"})
        CHECK(screen_shows(word));
    CHECK_FALSE(screen_shows("down"));

    user.driver.key(GLFW_KEY_HOME);
    for (int group = 0; group < group_count; ++group) {
        user.settle();
        REQUIRE(user.view().group == static_cast<StageGroup>(group));
        CHECK(user.view().row == -1);
        check_canvas(user, trace);
        user.driver.key(GLFW_KEY_RIGHT);
    }
    CHECK(user.view().group == StageGroup::output);
    for (int group = group_count - 1; group >= 0; --group) {
        user.settle();
        REQUIRE(user.view().group == static_cast<StageGroup>(group));
        check_canvas(user, trace);
        user.driver.key(GLFW_KEY_LEFT);
    }
    CHECK(user.view().group == StageGroup::x);
    user.driver.key(GLFW_KEY_END);
    CHECK(user.view().group == StageGroup::output);
}

TEST_CASE("rows are stepped through with Down and Up, in every stage", "[gui][program]") {
    User user;
    const std::int64_t rows = user.problem().dims.Tq;
    for (int group = 0; group < group_count; ++group) {
        user.act(GoTo{static_cast<StageGroup>(group)});
        for (std::int64_t row = 0; row < rows; ++row) {
            user.driver.key(GLFW_KEY_DOWN);
            CHECK(user.view().row == row);
            CHECK(current_cell(user.shown(), user.view()).has_value());
        }
        user.driver.key(GLFW_KEY_DOWN);
        CHECK(user.view().row == -1);
        user.driver.key(GLFW_KEY_UP);
        CHECK(user.view().row == rows - 1);
        for (std::int64_t row = rows - 2; row >= -1; --row) {
            user.driver.key(GLFW_KEY_UP);
            CHECK(user.view().row == row);
        }
        CHECK(user.view().group == static_cast<StageGroup>(group));
    }
}

TEST_CASE("rows that are still to come keep their numbers", "[gui][program]") {
    User user;
    const int all = check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem());
    user.driver.key(GLFW_KEY_DOWN);
    user.driver.wait(2);
    const int one = check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem());
    CHECK(all > 0);
    CHECK(one == all);
}

TEST_CASE("space plays every stage and row up to the output and stops there", "[gui][program]") {
    User user;
    user.driver.key(GLFW_KEY_HOME);
    user.act(SetSpeed{4});
    user.driver.key(GLFW_KEY_SPACE);
    REQUIRE(user.view().playing);
    std::vector<std::pair<int, std::int64_t>> seen;
    const bool stopped = user.driver.wait_until(
        [&] {
            const std::pair<int, std::int64_t> place(static_cast<int>(user.view().group), user.view().row);
            if (seen.empty() || seen.back() != place)
                seen.push_back(place);
            return !user.view().playing;
        },
        60 * 60);
    REQUIRE(stopped);
    CHECK(user.view().group == StageGroup::output);
    CHECK(user.view().row == -1);
    CHECK(std::ranges::is_sorted(seen, {}, [](const auto& place) { return place.first; }));
    for (int group = 0; group < group_count; ++group) {
        INFO(group);
        CHECK(std::ranges::count(seen, std::pair<int, std::int64_t>(group, -1)) == 1);
        for (std::int64_t row = 0; row < user.problem().dims.Tq; ++row)
            CHECK(std::ranges::count(seen, std::pair<int, std::int64_t>(group, row)) ==
                  (group >= static_cast<int>(StageGroup::scores) ? 1 : 0));
    }
    user.driver.key(GLFW_KEY_SPACE);
    CHECK(user.view().playing);
    CHECK(user.view().group == StageGroup::x);
    user.driver.key(GLFW_KEY_SPACE);
    CHECK_FALSE(user.view().playing);
    // Another document begins at rest.
    user.act(TogglePlay{});
    REQUIRE(user.view().playing);
    user.act(NewProject{});
    CHECK_FALSE(user.view().playing);
}

TEST_CASE("what Dear ImGui keeps for a window goes soon after the window", "[gui][program]") {
    User user;
    user.press_key(GLFW_KEY_F1);
    user.press_key(GLFW_KEY_F1);
    const ImGuiWindow* const keys = ImGui::FindWindowByName("keyboard");
    REQUIRE(keys != nullptr);
    REQUIRE_FALSE(keys->MemoryCompacted);
    user.press_key(GLFW_KEY_ESCAPE);
    user.driver.wait(static_cast<int>(FrameCounter::kept_frames) + 2);
    CHECK(keys->MemoryCompacted);
}

TEST_CASE("digits put heads in focus", "[gui][program]") {
    User user("eight-experts");
    for (int digit = 9; digit >= 0; --digit) {
        user.driver.key(GLFW_KEY_0 + digit);
        CHECK(user.view().head == std::min(digit, 7));
        CHECK(user.problem().gains.empty()); // all head gains are 1
        CHECK(user.view().compared_head != user.view().head);
    }
}

TEST_CASE("letters choose what is shown and how", "[gui][program]") {
    User user;
    user.driver.key(GLFW_KEY_HOME);
    const std::pair<int, WeightsView> ways[] = {{GLFW_KEY_A, WeightsView::arcs},
                                                {GLFW_KEY_T, WeightsView::text},
                                                {GLFW_KEY_G, WeightsView::graph},
                                                {GLFW_KEY_W, WeightsView::heatmap}};
    for (const auto& [key, way] : ways) {
        user.driver.key(key);
        CHECK(user.view().group == StageGroup::weights);
        CHECK(user.view().weights_view == way);
    }
    const std::pair<int, HeadsView> heads[] = {
        {GLFW_KEY_D, HeadsView::difference}, {GLFW_KEY_M, HeadsView::mean}, {GLFW_KEY_E, HeadsView::each}};
    for (const auto& [key, what] : heads) {
        user.driver.key(key);
        CHECK(user.view().heads_view == what);
    }
    const std::pair<int, Projection> projections[] = {
        {GLFW_KEY_K, Projection::k}, {GLFW_KEY_V, Projection::v}, {GLFW_KEY_Q, Projection::q}};
    for (const auto& [key, projection] : projections) {
        user.driver.key(key);
        CHECK(user.view().group == StageGroup::qkv);
        CHECK(user.view().projection == projection);
    }
    user.act(GoTo{StageGroup::split});
    user.driver.key(GLFW_KEY_S);
    CHECK(user.view().apart_target == 0);
    user.settle();
    CHECK(user.view().apart == 0);
    user.driver.key(GLFW_KEY_S);
    user.settle();
    CHECK(user.view().apart == 1);
    user.act(GoTo{StageGroup::concat});
    user.driver.key(GLFW_KEY_S);
    user.settle();
    CHECK(user.view().joined == 0);
    user.driver.key(GLFW_KEY_O);
    CHECK_FALSE(user.view().same_scale);
    for (int map = 1; map <= 5; ++map) {
        user.driver.key(GLFW_KEY_C);
        CHECK(static_cast<int>(user.view().colour_map) == map % 5);
    }
    user.act(GoTo{StageGroup::weights});
    CHECK(check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem()) > 0);
    user.driver.key(GLFW_KEY_N);
    user.driver.wait(2);
    CHECK(check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem()) == 0);
}

TEST_CASE("keys that type into the sentence do nothing else", "[gui][program]") {
    User user;
    user.driver.key(GLFW_KEY_SLASH);
    user.driver.wait(3);
    REQUIRE(ImGui::GetIO().WantTextInput);
    const std::string before = signature(user.view());
    for (const int key : {GLFW_KEY_SPACE, GLFW_KEY_RIGHT, GLFW_KEY_A, GLFW_KEY_L, GLFW_KEY_N, GLFW_KEY_2,
                          GLFW_KEY_HOME, GLFW_KEY_LEFT_BRACKET, GLFW_KEY_TAB})
        user.driver.key(key);
    CHECK(signature(user.view()) == before);
}

TEST_CASE("bad input is answered with a sentence and leaves the last good trace", "[gui][program]") {
    User user;
    const auto trace = user.shown().trace;
    const auto refused = [&](const std::string& part) {
        INFO(user.program.state().error);
        CHECK_FALSE(user.program.state().error.empty());
        CHECK(user.program.state().error.find(part) != std::string::npos);
        CHECK(user.shown().trace == trace);
        CHECK(user.program.state().document->recipe.sentence == "The cat sat down");
        // The first words of the message are over the canvas.
        const std::string& error = user.program.state().error;
        CHECK(screen_shows(error.substr(0, error.find(' ', 8))));
    };
    SECTION("an empty sentence") {
        user.type_sentence("");
        refused("at least one word");
        CHECK(user.program.state().sentence.empty());
        user.type_sentence("A cat");
        CHECK(user.program.state().error.empty());
        CHECK(user.problem().tokens == std::vector<std::string>{"A", "cat"});
    }
    SECTION("ten thousand words, pasted") {
        user.driver.clipboard = words(10000);
        REQUIRE(user.driver.click_item("##sentence"));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        user.settle();
        refused("4096");
    }
    SECTION("sixty-five words where sixty-four fit") {
        user.driver.clipboard = words(65);
        REQUIRE(user.driver.click_item("##sentence"));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        user.settle();
        refused("65");
    }
    SECTION("malformed text, pasted") {
        // ImGui decodes what is pasted: what is not UTF-8 arrives as replacement characters.
        user.driver.clipboard = "a \xff\xfe\xc0 b \xed\xa0\x80";
        REQUIRE(user.driver.click_item("##sentence"));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        user.settle();
        if (user.program.state().error.empty())
            CHECK(user.problem().tokens.front() == "a");
        else
            refused("");
    }
    SECTION("malformed text, given to the document") {
        user.act(SetSentence{"a \xff b"});
        refused("UTF-8");
    }
}

TEST_CASE("a view that is ahead of what is computed is drawn within what is on screen", "[gui][program]") {
    User user;
    AppState& state = user.program.state();
    const Shown two_heads = state.shown;
    REQUIRE(two_heads.dims().H == 2);
    user.act(SetPreset{"eight-experts"});
    user.act(GoTo{StageGroup::weights});
    user.act(PickHead{7});
    user.act(CompareWith{6});
    state.shown = two_heads; // as when the run of eight heads is not done yet
    user.driver.wait();
    CHECK(state.drawn_view().head == 1);
    CHECK(state.drawn_view().compared_head == 0);
    CHECK(user.view().head == 7);
    CHECK(user.view().compared_head == 6);
}

TEST_CASE("the picture that shows an edit has the edit's numbers, where they are computed at once",
          "[gui][program]") {
    User user;
    constexpr std::chrono::minutes patience(1);
    CHECK_FALSE(user.program.wait_for_results(patience)); // nothing was asked for
    user.program.act(EditCell{{TensorId::W_O, {0, 0, 0, 0}}, 5});
    REQUIRE(user.program.wait_for_results(patience));
    CHECK(user.shown().document != user.program.state().document);
    user.driver.wait();
    CHECK(user.shown().document == user.program.state().document);
    CHECK_FALSE(user.program.wait_for_results(patience));
}

} // namespace headscope::test
