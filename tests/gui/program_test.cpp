#include "app/draw/kit/frame_counter.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/support.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>

// Typing, stepping and playing, as a user does it with the keyboard.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Every grid begins inside the canvas, or the canvas scrolls to it; its numbers are the trace's.
void check_canvas(Desk& desk, const Trace& trace) {
    const Picture& canvas = desk.program.canvas();
    INFO(group_info(desk.view().group).label);
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
    CHECK(check_printed_numbers(canvas, trace, desk.problem()) > 0);
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
    Desk desk;
    const std::uint64_t before = desk.program.state().document->revision;
    desk.type_sentence("The bank by the river");
    CHECK_FALSE(ImGui::GetIO().WantTextInput);
    CHECK(desk.program.state().document->revision > before);
    CHECK(desk.program.state().sentence == "The bank by the river");
    CHECK(desk.problem().tokens == std::vector<std::string>{"The", "bank", "by", "the", "river"});
    CHECK(desk.program.title() == "• The bank by the river · Headscope");

    const Trace trace = computed(text::build_preset("first-lesson", "The bank by the river").problem);
    check_same(*desk.shown().trace, trace);
    CHECK(desk.shown().document == desk.program.state().document);

    const auto rows = std::ranges::count_if(desk.program.canvas().grids, [](const MatrixGrid& grid) {
        return grid.tensor == TensorId::weights && grid.rows == 5 && grid.cols == 5;
    });
    CHECK(rows >= 2);
    for (const char* word : {"The", "bank", "by", "the", "river"})
        CHECK(screen_shows(word));
    CHECK_FALSE(screen_shows("down"));

    desk.driver.key(GLFW_KEY_HOME);
    for (int group = 0; group < group_count; ++group) {
        desk.settle();
        REQUIRE(desk.view().group == static_cast<StageGroup>(group));
        CHECK(desk.view().row == -1);
        check_canvas(desk, trace);
        desk.driver.key(GLFW_KEY_RIGHT);
    }
    CHECK(desk.view().group == StageGroup::output);
    for (int group = group_count - 1; group >= 0; --group) {
        desk.settle();
        REQUIRE(desk.view().group == static_cast<StageGroup>(group));
        check_canvas(desk, trace);
        desk.driver.key(GLFW_KEY_LEFT);
    }
    CHECK(desk.view().group == StageGroup::x);
    desk.driver.key(GLFW_KEY_END);
    CHECK(desk.view().group == StageGroup::output);
}

TEST_CASE("rows are stepped through with Down and Up, in every stage", "[gui][program]") {
    Desk desk;
    const std::int64_t rows = desk.problem().dims.Tq;
    for (int group = 0; group < group_count; ++group) {
        desk.act(GoTo{static_cast<StageGroup>(group)});
        for (std::int64_t row = 0; row < rows; ++row) {
            desk.driver.key(GLFW_KEY_DOWN);
            CHECK(desk.view().row == row);
            CHECK(current_cell(desk.shown(), desk.view()).has_value());
        }
        desk.driver.key(GLFW_KEY_DOWN);
        CHECK(desk.view().row == -1);
        desk.driver.key(GLFW_KEY_UP);
        CHECK(desk.view().row == rows - 1);
        for (std::int64_t row = rows - 2; row >= -1; --row) {
            desk.driver.key(GLFW_KEY_UP);
            CHECK(desk.view().row == row);
        }
        CHECK(desk.view().group == static_cast<StageGroup>(group));
    }
}

TEST_CASE("rows that are still to come keep their numbers", "[gui][program]") {
    Desk desk;
    const int all = check_printed_numbers(desk.program.canvas(), *desk.shown().trace, desk.problem());
    desk.driver.key(GLFW_KEY_DOWN);
    desk.driver.wait(2);
    const int one = check_printed_numbers(desk.program.canvas(), *desk.shown().trace, desk.problem());
    CHECK(all > 0);
    CHECK(one == all);
}

TEST_CASE("space plays every stage and row up to the output and stops there", "[gui][program]") {
    Desk desk;
    desk.driver.key(GLFW_KEY_HOME);
    desk.act(SetSpeed{4});
    desk.driver.key(GLFW_KEY_SPACE);
    REQUIRE(desk.view().playing);
    std::vector<std::pair<int, std::int64_t>> seen;
    const bool stopped = desk.driver.wait_until(
        [&] {
            const std::pair<int, std::int64_t> place(static_cast<int>(desk.view().group), desk.view().row);
            if (seen.empty() || seen.back() != place)
                seen.push_back(place);
            return !desk.view().playing;
        },
        60 * 60);
    REQUIRE(stopped);
    CHECK(desk.view().group == StageGroup::output);
    CHECK(desk.view().row == -1);
    CHECK(std::ranges::is_sorted(seen, {}, [](const auto& place) { return place.first; }));
    for (int group = 0; group < group_count; ++group) {
        INFO(group);
        CHECK(std::ranges::count(seen, std::pair<int, std::int64_t>(group, -1)) == 1);
        for (std::int64_t row = 0; row < desk.problem().dims.Tq; ++row)
            CHECK(std::ranges::count(seen, std::pair<int, std::int64_t>(group, row)) ==
                  (group >= static_cast<int>(StageGroup::scores) ? 1 : 0));
    }
    desk.driver.key(GLFW_KEY_SPACE);
    CHECK(desk.view().playing);
    CHECK(desk.view().group == StageGroup::x);
    desk.driver.key(GLFW_KEY_SPACE);
    CHECK_FALSE(desk.view().playing);
    // Another document begins at rest.
    desk.act(TogglePlay{});
    REQUIRE(desk.view().playing);
    desk.act(NewProject{});
    CHECK_FALSE(desk.view().playing);
}

TEST_CASE("what Dear ImGui keeps for a window goes soon after the window", "[gui][program]") {
    Desk desk;
    desk.press_key(GLFW_KEY_F1);
    desk.press_key(GLFW_KEY_F1);
    const ImGuiWindow* const keys = ImGui::FindWindowByName("keyboard");
    REQUIRE(keys != nullptr);
    REQUIRE_FALSE(keys->MemoryCompacted);
    desk.press_key(GLFW_KEY_ESCAPE);
    desk.driver.wait(static_cast<int>(FrameCounter::kept_frames) + 2);
    CHECK(keys->MemoryCompacted);
}

TEST_CASE("digits put heads in focus", "[gui][program]") {
    Desk desk("eight-experts");
    for (int digit = 9; digit >= 0; --digit) {
        desk.driver.key(GLFW_KEY_0 + digit);
        CHECK(desk.view().head == std::min(digit, 7));
        CHECK(desk.problem().gains.empty()); // all head gains are 1
        CHECK(desk.view().compared_head != desk.view().head);
    }
}

TEST_CASE("letters choose what is shown and how", "[gui][program]") {
    Desk desk;
    desk.driver.key(GLFW_KEY_HOME);
    const std::pair<int, WeightsView> ways[] = {{GLFW_KEY_A, WeightsView::arcs},
                                                {GLFW_KEY_T, WeightsView::text},
                                                {GLFW_KEY_G, WeightsView::graph},
                                                {GLFW_KEY_W, WeightsView::heatmap}};
    for (const auto& [key, way] : ways) {
        desk.driver.key(key);
        CHECK(desk.view().group == StageGroup::weights);
        CHECK(desk.view().weights_view == way);
    }
    const std::pair<int, HeadsView> heads[] = {
        {GLFW_KEY_D, HeadsView::difference}, {GLFW_KEY_M, HeadsView::mean}, {GLFW_KEY_E, HeadsView::each}};
    for (const auto& [key, what] : heads) {
        desk.driver.key(key);
        CHECK(desk.view().heads_view == what);
    }
    const std::pair<int, Projection> projections[] = {
        {GLFW_KEY_K, Projection::k}, {GLFW_KEY_V, Projection::v}, {GLFW_KEY_Q, Projection::q}};
    for (const auto& [key, projection] : projections) {
        desk.driver.key(key);
        CHECK(desk.view().group == StageGroup::qkv);
        CHECK(desk.view().projection == projection);
    }
    desk.act(GoTo{StageGroup::split});
    desk.driver.key(GLFW_KEY_S);
    CHECK(desk.view().apart_target == 0);
    desk.settle();
    CHECK(desk.view().apart == 0);
    desk.driver.key(GLFW_KEY_S);
    desk.settle();
    CHECK(desk.view().apart == 1);
    desk.act(GoTo{StageGroup::concat});
    desk.driver.key(GLFW_KEY_S);
    desk.settle();
    CHECK(desk.view().joined == 0);
    desk.driver.key(GLFW_KEY_O);
    CHECK_FALSE(desk.view().same_scale);
    for (int map = 1; map <= 5; ++map) {
        desk.driver.key(GLFW_KEY_C);
        CHECK(static_cast<int>(desk.view().colour_map) == map % 5);
    }
    desk.act(GoTo{StageGroup::weights});
    CHECK(check_printed_numbers(desk.program.canvas(), *desk.shown().trace, desk.problem()) > 0);
    desk.driver.key(GLFW_KEY_N);
    desk.driver.wait(2);
    CHECK(check_printed_numbers(desk.program.canvas(), *desk.shown().trace, desk.problem()) == 0);
}

TEST_CASE("keys that type into the sentence do nothing else", "[gui][program]") {
    Desk desk;
    desk.driver.key(GLFW_KEY_SLASH);
    desk.driver.wait(3);
    REQUIRE(ImGui::GetIO().WantTextInput);
    const std::string before = signature(desk.view());
    for (const int key : {GLFW_KEY_SPACE, GLFW_KEY_RIGHT, GLFW_KEY_A, GLFW_KEY_L, GLFW_KEY_N, GLFW_KEY_2,
                          GLFW_KEY_HOME, GLFW_KEY_LEFT_BRACKET, GLFW_KEY_TAB})
        desk.driver.key(key);
    CHECK(signature(desk.view()) == before);
}

TEST_CASE("bad input is answered with a sentence and leaves the last good trace", "[gui][program]") {
    Desk desk;
    const auto trace = desk.shown().trace;
    const auto refused = [&](const std::string& part) {
        INFO(desk.program.state().error);
        CHECK_FALSE(desk.program.state().error.empty());
        CHECK(desk.program.state().error.find(part) != std::string::npos);
        CHECK(desk.shown().trace == trace);
        CHECK(desk.program.state().document->recipe.sentence == "The cat sat down");
        // The first words of the message are over the canvas.
        const std::string& error = desk.program.state().error;
        CHECK(screen_shows(error.substr(0, error.find(' ', 8))));
    };
    SECTION("an empty sentence") {
        desk.type_sentence("");
        refused("at least one word");
        CHECK(desk.program.state().sentence.empty());
        desk.type_sentence("A cat");
        CHECK(desk.program.state().error.empty());
        CHECK(desk.problem().tokens == std::vector<std::string>{"A", "cat"});
    }
    SECTION("ten thousand words, pasted") {
        desk.driver.clipboard = words(10000);
        REQUIRE(desk.driver.click_item("##sentence"));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        desk.settle();
        refused("4096");
    }
    SECTION("sixty-five words where sixty-four fit") {
        desk.driver.clipboard = words(65);
        REQUIRE(desk.driver.click_item("##sentence"));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        desk.settle();
        refused("65");
    }
    SECTION("malformed text, pasted") {
        // ImGui decodes what is pasted: what is not UTF-8 arrives as replacement characters.
        desk.driver.clipboard = "a \xff\xfe\xc0 b \xed\xa0\x80";
        REQUIRE(desk.driver.click_item("##sentence"));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        desk.driver.key(GLFW_KEY_V, GLFW_MOD_CONTROL);
        desk.settle();
        if (desk.program.state().error.empty())
            CHECK(desk.problem().tokens.front() == "a");
        else
            refused("");
    }
    SECTION("malformed text, given to the document") {
        desk.act(SetSentence{"a \xff b"});
        refused("UTF-8");
    }
}

TEST_CASE("a view that is ahead of what is computed is drawn within what is on screen", "[gui][program]") {
    Desk desk;
    AppState& state = desk.program.state();
    const Shown two_heads = state.shown;
    REQUIRE(two_heads.dims().H == 2);
    desk.act(SetPreset{"eight-experts"});
    desk.act(GoTo{StageGroup::weights});
    desk.act(PickHead{7});
    desk.act(CompareWith{6});
    state.shown = two_heads; // as when the run of eight heads is not done yet
    desk.driver.wait();
    CHECK(state.drawn_view().head == 1);
    CHECK(state.drawn_view().compared_head == 0);
    CHECK(desk.view().head == 7);
    CHECK(desk.view().compared_head == 6);
}

TEST_CASE("the picture that shows an edit has the edit's numbers, where they are computed at once",
          "[gui][program]") {
    Desk desk;
    constexpr std::chrono::minutes patience(1);
    CHECK_FALSE(desk.program.wait_for_results(patience)); // nothing was asked for
    desk.program.act(EditCell{{TensorId::W_O, {0, 0, 0, 0}}, 5});
    REQUIRE(desk.program.wait_for_results(patience));
    CHECK(desk.shown().document != desk.program.state().document);
    desk.driver.wait();
    CHECK(desk.shown().document == desk.program.state().document);
    CHECK_FALSE(desk.program.wait_for_results(patience));
}

} // namespace headscope::test
