#include "app/draw/kit/format.h"
#include "app/shell/layout.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <map>

// Panels, window sizes, and everything that a problem can be.

namespace headscope::test {

using namespace headscope::app;
namespace {

bool finite(const figure::Rect& area) {
    return std::isfinite(area.x) && std::isfinite(area.y) && std::isfinite(area.w) && std::isfinite(area.h) &&
           area.w >= 0 && area.h >= 0;
}

/// Checks that the picture exists, belongs to the document, and is where the canvas can show it.
void check_picture(User& user, float logical_width, float logical_height) {
    const Picture& canvas = user.program.canvas();
    REQUIRE(user.shown().document == user.program.state().document);
    REQUIRE_FALSE(canvas.scene.items.empty());
    REQUIRE_FALSE(canvas.grids.empty());
    int outside = 0;
    for (const MatrixGrid& grid : canvas.grids) {
        INFO(tensor_info(grid.tensor).name << " " << grid.rows << " x " << grid.cols << " at " << grid.area.x
                                           << ", " << grid.area.y);
        CHECK(finite(grid.area));
        CHECK(grid.rows > 0);
        CHECK(grid.cols > 0);
        const Tensor* tensor = user.shown().tensor(grid.tensor);
        REQUIRE(tensor != nullptr);
        const Index last = grid.index(grid.rows - 1, grid.cols - 1);
        for (int axis = 0; axis < tensor->shape().rank(); ++axis)
            REQUIRE(last[static_cast<std::size_t>(axis)] < tensor->shape()[axis]);
        // Items outside the window must be inside a scrolling region.
        outside += grid.area.x < 0 || grid.area.y < toolbar_height;
        outside += grid.area.right() > logical_width && canvas.scene.width < grid.area.w;
        outside += grid.area.bottom() > logical_height && canvas.scene.height < grid.area.h;
    }
    CHECK(outside == 0);
    for (const Hotspot& spot : canvas.hotspots)
        CHECK(finite(spot.area));
}

void step_through_stages(User& user, float width, float height) {
    for (int group = 0; group < group_count; ++group) {
        user.program.act(GoTo{static_cast<StageGroup>(group)});
        user.driver.wait(3);
        INFO(group_info(static_cast<StageGroup>(group)).label);
        check_picture(user, width, height);
    }
}

} // namespace

TEST_CASE(
    "in a small window at 150 and 200 % every stage prints its numbers, and the strip shows where one is",
    "[gui][layout]") {
    User user("first-lesson", "The cat sat down", 1280, 720, GENERATE(1.5F, 2.0F));
    user.driver.key(GLFW_KEY_LEFT_BRACKET); // opens the left panel beside a canvas of 490 or 280 pixels
    user.settle();
    REQUIRE(user.driver.find("Headscope/fold left"));
    begin_recording();
    for (int group = 0; group < group_count; ++group) {
        const auto stage = static_cast<StageGroup>(group);
        user.act(GoTo{stage});
        const Picture& canvas = user.program.canvas();
        const std::string label(group_info(stage).label);
        const auto& items = screen_items();
        const auto name = std::ranges::find(items, "stage " + label, &ScreenItem::label);
        INFO(label);
        CHECK(check_printed_numbers(canvas, computed(user.problem()), user.problem()) >= 16);
        constexpr float smallest_title = 15;
        for (const figure::SceneItem& item : canvas.scene.items)
            if (const auto* const text = std::get_if<figure::TextItem>(&item);
                text != nullptr && text->size >= smallest_title)
                CHECK(text->text.find("…") == std::string::npos);
        REQUIRE(name != items.end());
        CHECK(name->reachable());
        // A click on a chevron is a step that way, and no click on the name below it.
        const auto next = std::ranges::find(items, "next stage in the strip", &ScreenItem::label);
        if (next != items.end()) {
            user.driver.click(next->middle_x(), next->middle_y());
            user.settle();
            CHECK(user.view().group == static_cast<StageGroup>(group + 1));
        }
    }
    end_recording();
}

TEST_CASE("in a window of 1280 inside its frame both panels are open at first", "[gui][layout]") {
    const User user("first-lesson", "", 1264, 690);
    const ProgramLayout places = compute_layout(user.program.state(), 1264, 690);
    CHECK(places.left_open);
    CHECK(places.inspector_open);
    CHECK(check_printed_numbers(user.program.canvas(), computed(user.problem()), user.problem()) >= 16);
}

TEST_CASE("another stage begins at its top", "[gui][layout]") {
    User user("first-lesson", "The cat sat down", 1280, 720, 1.5F);
    user.act(GoTo{StageGroup::split});
    const auto top = [&] { return user.program.canvas().grids.front().area.y; };
    const float before = top();
    user.driver.move(640, 360);
    user.driver.scroll(-3);
    user.settle();
    REQUIRE(top() < before);
    user.driver.key(GLFW_KEY_RIGHT);
    user.driver.key(GLFW_KEY_LEFT);
    user.settle();
    CHECK(top() == before);
}

TEST_CASE("brackets and rails fold and open the panels", "[gui][layout]") {
    User user;
    CHECK(user.driver.find("Headscope/fold left"));
    CHECK(user.driver.find("Headscope/fold inspector"));
    user.driver.key(GLFW_KEY_LEFT_BRACKET);
    user.driver.wait(2);
    CHECK_FALSE(user.driver.find("Headscope/fold left"));
    CHECK(user.driver.find("Headscope/open Guide"));
    user.driver.key(GLFW_KEY_RIGHT_BRACKET);
    user.driver.wait(2);
    CHECK(user.driver.find("Headscope/open Inspector"));
    REQUIRE(user.click("open Inspector"));
    REQUIRE(user.click("open Guide"));
    user.driver.wait(2);
    CHECK(user.driver.find("Headscope/fold left"));
    CHECK(user.driver.find("Headscope/fold inspector"));
}

TEST_CASE("the edges of the panels are dragged, within bounds", "[gui][layout]") {
    User user;
    const auto drag = [&](const char* edge, float by) {
        const figure::Rect area = *user.driver.find(edge);
        const float x = area.x + area.w / 2, y = area.y + area.h / 2;
        user.driver.drag(x, y, x + by, y);
    };
    drag("left edge", 60);
    CHECK(user.view().left_width == Approx(372).margin(1));
    drag("left edge", 500);
    CHECK(user.view().left_width == 480);
    drag("left edge", -500);
    CHECK(user.view().left_width == 280);
    drag("inspector edge", -40);
    CHECK(user.view().inspector_width == Approx(368).margin(1));
    drag("inspector edge", -500);
    CHECK(user.view().inspector_width == 420);
    drag("inspector edge", 500);
    CHECK(user.view().inspector_width == 280);
    CHECK(user.driver.find("inspector edge")->x == Approx(1600 - 280 - 3));
}

TEST_CASE("dragging the scrubber goes to the stage and row under the mouse", "[gui][layout]") {
    User user;
    const Dims& dims = user.problem().dims;
    const figure::Rect bar = *user.driver.find("Headscope/scrubber");
    const float left = bar.x + 8, width = bar.w - 16, y = bar.y + bar.h / 2;
    for (int group = 0; group < group_count; ++group) {
        const float x = left + width * static_cast<float>(group) / static_cast<float>(group_count - 1);
        user.driver.drag(left + width / 2, y, x, y, 3);
        CHECK(user.view().group == static_cast<StageGroup>(group));
        CHECK(user.view().row == -1);
    }
    // Between two steps are the rows of the second, equally wide. Close to a step it is the whole stage.
    REQUIRE(dims.Tq == 4);
    struct ScrubberPoint {
        float share; ///< position on the way from the previous step
        int on;      ///< 1: in the stage itself, 0: still in the previous one
        int row;     ///< -1: all of it
    };
    const ScrubberPoint points[] = {{0.06F, 0, -1}, {0.16F, 1, 0}, {0.22F, 1, 0}, {0.28F, 1, 1},
                                    {0.47F, 1, 1},  {0.53F, 1, 2}, {0.72F, 1, 2}, {0.78F, 1, 3},
                                    {0.86F, 1, 3},  {0.94F, 1, -1}};
    REQUIRE(width > 300); // a pixel is less than 0.04 of the way
    for (const int stage : {4, 7, 10})
        for (const ScrubberPoint& point : points) {
            const float x = left + width * (static_cast<float>(stage - 1) + point.share) / 10;
            user.driver.drag(left, y, std::round(x), y, 2);
            INFO(point.share << " of the way to stage " << stage);
            CHECK(static_cast<int>(user.view().group) == stage - 1 + point.on);
            CHECK(user.view().row == point.row);
        }
    user.driver.drag(left + width / 2, y, left - 3000, y, 3);
    CHECK(user.view().group == StageGroup::x);
    user.driver.drag(left + width / 2, y, left + 9000, y, 3);
    CHECK(user.view().group == StageGroup::output);
}

TEST_CASE("the scrubber's handle stands between the stops, as far as rows were gone through",
          "[gui][layout]") {
    const Dims dims{.B = 1, .Tq = 4, .Tk = 4, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    ViewState view;
    for (int stage = 1; stage < group_count; ++stage) {
        view.group = static_cast<StageGroup>(stage);
        const float before = static_cast<float>(stage - 1);
        // Four rows are five parts of the way to the next step.
        const std::pair<int, float> places[] = {{0, 0.2F}, {1, 0.4F}, {2, 0.6F}, {3, 0.8F}, {-1, 1.0F}};
        for (const auto& [row, share] : places) {
            view.row = row;
            INFO("stage " << stage << " row " << row);
            CHECK(scrubber_position(view, dims) == Approx(before + share));
            const GoTo back = scrubber_target(view, before + share, dims);
            CHECK(static_cast<int>(back.group) == stage);
            CHECK(back.row == row);
        }
    }
    view.group = StageGroup::x;
    CHECK(scrubber_position(view, dims) == 0);
}

TEST_CASE("every preset and stage at every size of the window", "[gui][layout]") {
    struct Size {
        float width, height, scale;
    };
    const Size size = GENERATE(Size{800, 500, 1}, Size{1280, 720, 1}, Size{1600, 1000, 1},
                               Size{1920, 1080, 1.5F}, Size{3840, 2160, 2}, Size{3840, 2160, 1});
    INFO(size.width << " x " << size.height << " at " << size.scale);
    for (const text::PresetInfo& preset : text::presets()) {
        User user(std::string(preset.id), "", size.width, size.height, size.scale);
        INFO(preset.id);
        step_through_stages(user, size.width / size.scale, size.height / size.scale);
    }
}

TEST_CASE("every preset and stage with 1 to 64 tokens", "[gui][layout]") {
    const std::string preset = GENERATE("first-lesson", "eight-experts", "random");
    User user(preset);
    for (const int count : {1, 2, 3, 7, 16, 33, 64}) {
        user.act(SetSentence{words(count)});
        INFO(preset << ", " << count << " tokens: " << user.program.state().error);
        REQUIRE(user.problem().dims.Tq == count);
        step_through_stages(user, 1600, 1000);
        for (const WeightsView way : {WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
            user.program.act(GoTo{StageGroup::weights});
            user.program.act(ShowWeightsAs{way});
            user.driver.wait(3);
            CHECK_FALSE(user.program.canvas().scene.items.empty());
        }
        user.program.act(ShowWeightsAs{WeightsView::heatmap});
    }
}

TEST_CASE("every stage with fewer key/value heads and with masks", "[gui][layout]") {
    User user("eight-experts", "The cat sat on the mat .");
    for (const std::int64_t kv_heads : {8, 4, 2, 1})
        for (const project::MaskChoice mask :
             {project::MaskChoice::none, project::MaskChoice::causal, project::MaskChoice::causal_window,
              project::MaskChoice::symmetric_window}) {
            user.act(SetKvHeads{kv_heads});
            user.act(SetMask{mask});
            INFO(kv_heads << " key/value heads, mask " << static_cast<int>(mask));
            REQUIRE(user.problem().dims.Hkv == kv_heads);
            step_through_stages(user, 1600, 1000);
        }
    for (const std::int64_t heads : {1, 2, 16, 64}) {
        user.act(SetHeads{heads});
        INFO(heads << " heads");
        REQUIRE(user.problem().dims.H == heads);
        step_through_stages(user, 1600, 1000);
        for (const HeadsView view : {HeadsView::difference, HeadsView::mean}) {
            user.program.act(ShowHeads{view});
            step_through_stages(user, 1600, 1000);
        }
        user.program.act(ShowHeads{HeadsView::each});
    }
}

TEST_CASE("the window is made smaller and larger under a running program", "[gui][layout]") {
    User user("eight-experts");
    for (const auto& [width, height] : {std::pair(800.0F, 500.0F), std::pair(3840.0F, 2160.0F),
                                        std::pair(801.0F, 1999.0F), std::pair(2999.0F, 501.0F)}) {
        user.driver.resize(width, height);
        INFO(width << " x " << height);
        step_through_stages(user, width, height);
        // However many parts are folded, the last stage and the sentence can be reached.
        for (const char* label : {"##sentence", "stage output", "play", "help"})
            CHECK(user.click(label));
        user.driver.key(GLFW_KEY_ESCAPE);
        user.program.act(ShowHelp{false});
    }
}

TEST_CASE("a checkpoint can be used in a window of 640 x 360", "[gui][layout]") {
    User user("first-lesson", "", 640, 360);
    user.open(checkpoint::model_folder("pocket"), "The storm closed the harbour");
    const auto place = [](const std::string& label) {
        const auto& items = screen_items();
        const auto item = std::ranges::find(items, label, &ScreenItem::label);
        REQUIRE(item != items.end());
        return *item;
    };
    const ScreenItem prompt = place("##prompt");
    CHECK(prompt.area.w >= 110);
    CHECK(user.click("stage weights"));
    const auto opened = [&](int key) {
        user.driver.key(key);
        user.settle();
        const ProgramLayout places = compute_layout(user.program.state(), 640, 360);
        return std::pair(places.left_open, places.inspector_open);
    };
    // One panel at a time has room.
    CHECK(opened(GLFW_KEY_LEFT_BRACKET) == std::pair(true, false));
    CHECK(opened(GLFW_KEY_RIGHT_BRACKET) == std::pair(false, true));
    CHECK(opened(GLFW_KEY_RIGHT_BRACKET) == std::pair(true, false));
    CHECK(opened(GLFW_KEY_LEFT_BRACKET) == std::pair(false, false));
    user.choose("Stages", "Effects");
    CHECK(user.view().attention.screen == Screen::effects);
}

TEST_CASE("the sum of heads stands below the output where it does not fit beside", "[gui][layout]") {
    for (const auto& [width, height] : {std::pair(1280.0F, 720.0F), std::pair(640.0F, 360.0F)}) {
        INFO(width << " x " << height);
        User user("first-lesson", "The cat sat down on the mat and slept", width, height);
        CHECK(user.click("stage output"));
        user.settle();
        const Picture& canvas = user.program.canvas();
        const auto terms = std::ranges::count(canvas.grids, TensorId::contributions, &MatrixGrid::tensor);
        CHECK(terms == user.problem().dims.H);
        CHECK(check_printed_numbers(canvas, computed(user.problem()), user.problem()) > 2 * 9 * 8);
    }
}

TEST_CASE("in a narrow grid of maps no legend reaches another one or the edge", "[gui][layout]") {
    // About as wide as the program's fonts are.
    const auto extent = [](const figure::TextItem& text) {
        const bool mono = text.font == figure::Font::mono || text.font == figure::Font::mono_semibold;
        const float width = static_cast<float>(columns(text.text)) * text.size * (mono ? 0.6F : 0.5F);
        const float left = text.align == figure::Align::left     ? text.at.x
                           : text.align == figure::Align::center ? text.at.x - width / 2
                                                                 : text.at.x - width;
        return figure::Rect{left, text.at.y - 0.74F * text.size, width, 0.8F * text.size};
    };
    const auto meet = [](const figure::Rect& a, const figure::Rect& b) {
        return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
    };
    int legends = 0;
    for (const char* sentence : {"cat sat", "The cat sat", "The cat sat down", "The cat sat down again"}) {
        User user("eight-experts", sentence, 1280, 720);
        for (const project::MaskChoice mask : {project::MaskChoice::none, project::MaskChoice::causal}) {
            user.act(SetMask{mask});
            for (const StageGroup group :
                 {StageGroup::scores, StageGroup::scaled, StageGroup::masked, StageGroup::weights}) {
                user.act(GoTo{group});
                INFO(sentence << ", " << group_info(group).label);
                const float edge = user.program.canvas().scene.width + 312; // the left panel's width
                std::vector<figure::Rect> bars;
                std::vector<std::pair<figure::Rect, std::string>> words;
                for (const figure::SceneItem& item : user.program.canvas().scene.items) {
                    if (const auto* bar = std::get_if<figure::GridItem>(&item);
                        bar != nullptr && bar->cols == 256)
                        bars.push_back(bar->area);
                    if (const auto* text = std::get_if<figure::TextItem>(&item);
                        text != nullptr && text->angle == 0)
                        words.emplace_back(extent(*text), text->text);
                }
                legends += static_cast<int>(bars.size());
                for (std::size_t n = 0; n < words.size(); ++n) {
                    const figure::Rect& area = words[n].first;
                    INFO("\"" << words[n].second << "\" at " << area.x << ", " << area.y);
                    CHECK(area.right() < edge);
                    CHECK(
                        std::ranges::none_of(bars, [&](const figure::Rect& bar) { return meet(area, bar); }));
                    for (std::size_t other = 0; other < n; ++other)
                        if (meet(area, words[other].first))
                            FAIL_CHECK("covers \"" << words[other].second << "\"");
                }
            }
        }
    }
    CHECK(legends > 100);
}

TEST_CASE("what the keys do is written between the keys, in one column or two", "[gui][layout]") {
    for (const float width : {640.0F, 900.0F, 1280.0F, 1600.0F}) {
        User user("first-lesson", "", width, 1400);
        user.act(ShowHelp{true});
        std::map<float, std::vector<std::pair<float, float>>> lines; // by height: begin and end
        for (const ScreenText& text : screen_texts())
            if (text.visible)
                lines[text.y].emplace_back(text.x, text.x + static_cast<float>(columns(text.text)) * 6.5F);
        const auto first = std::ranges::find(screen_texts(), "play and pause", &ScreenText::text);
        REQUIRE(first != screen_texts().end());
        // Lines of the card are one below the other, 25 apart.
        for (auto& [y, line] : lines)
            if (line.size() > 1 && std::fmod(std::abs(y - first->y), 25.0F) < 0.01F &&
                std::ranges::any_of(line, [&](const auto& one) { return one.first == first->x; })) {
                std::ranges::sort(line);
                INFO("width " << width << ", y " << y);
                for (std::size_t n = 1; n < line.size(); ++n)
                    CHECK(line[n - 1].second < line[n].first + 8);
                CHECK(line.back().second < width);
            }
    }
}

} // namespace headscope::test
