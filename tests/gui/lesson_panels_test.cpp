#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <algorithm>
#include <cmath>

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Opens a lesson at the step with one of its panels of a kind.
template<class Kind>
struct PanelUser : User {
    const lesson::LessonPanel* panel = nullptr;
    int page = 0;

    explicit PanelUser(const std::string& lesson, int which = 1) {
        settle();
        act(ShowTab{LeftTab::course});
        act(OpenLesson{lesson});
        for (std::size_t i = 0; i < course().open->steps.size() && panel == nullptr; ++i)
            for (const lesson::LessonBlock& block : course().open->steps[i].blocks)
                if (const auto* found = std::get_if<lesson::LessonPanel>(&block);
                    found != nullptr && std::holds_alternative<Kind>(found->kind) && --which == 0) {
                    panel = found;
                    page = static_cast<int>(i) + 1;
                }
        REQUIRE(panel != nullptr);
        act(GoToPage{page});
        driver.wait(2);
    }

    const CourseState& course() const { return program.state().course; }
    template<class Figure>
    const Figure& figure() const {
        return std::get<Figure>(std::get<lesson::PanelFigure>(course().panels.at(panel->line).shows));
    }
    figure::Rect slider(const std::string& knob) const {
        const std::string label = "panel " + std::to_string(panel->line) + " " + knob;
        const auto item = std::ranges::find(screen_items(), label, &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        REQUIRE(item->reachable());
        return item->area;
    }
    void drag_to(const std::string& knob, float from, float to) {
        const figure::Rect area = slider(knob);
        const float y = area.y + area.h / 2;
        from = std::clamp(from, 0.02F, 0.98F); // the mouse has to meet it
        driver.drag(area.x + area.w * from, y, area.x + area.w * to, y);
        settle();
    }
    void type_knob(const std::string& knob, const std::string& text) {
        const std::string label = "##panel " + std::to_string(panel->line) + " " + knob + " value";
        const auto item = std::ranges::find(screen_items(), label, &ScreenItem::label);
        REQUIRE(item != screen_items().end());
        driver.click(item->middle_x(), item->middle_y());
        driver.type(text);
        driver.key(257); // Enter
        settle();
    }
};

} // namespace

TEST_CASE("dragging H on the cost panel moves dk and leaves the parameters", "[gui][lesson]") {
    PanelUser<lesson::CostPanel> user("shapes-and-cost");
    CHECK(user.figure<lesson::CostFigure>().dims.H == 8);
    CHECK(screen_shows("dk = 64"));
    CHECK(screen_shows("1,048,576"));
    const auto revision = user.shown().document->revision;
    user.drag_to("H", 0.4F, 1);
    CHECK(user.figure<lesson::CostFigure>().dims.H == 128);
    CHECK(screen_shows("dk = 4"));
    CHECK(screen_shows("1,048,576"));
    user.type_knob("H", "12"); // does not divide 512
    CHECK(user.figure<lesson::CostFigure>().dims.H == 128);
    user.type_knob("D", "1,536");
    user.type_knob("H", "12");
    CHECK(user.figure<lesson::CostFigure>().dims.dk == 128);
    // The document does not contain any of it, and the step starts over when it is opened again.
    CHECK(user.shown().document->revision == revision);
    user.act(TurnPage{1});
    user.act(TurnPage{-1});
    CHECK(user.figure<lesson::CostFigure>().dims.H == 8);
}

TEST_CASE("dragging T on the cost panel reaches the longest text", "[gui][lesson]") {
    PanelUser<lesson::CostPanel> user("shapes-and-cost", 2);
    CHECK(user.figure<lesson::CostFigure>().dims.Tq == 128);
    user.drag_to("T", 0.4F, 1);
    CHECK(user.figure<lesson::CostFigure>().dims.Tq == 131072);
    CHECK(user.figure<lesson::CostFigure>().cost.attention_flops == 4LL * 131072 * 131072 * 512);
    CHECK(screen_shows("35 TFLOP"));
    user.drag_to("T", 0.99F, 0);
    CHECK(user.figure<lesson::CostFigure>().dims.Tq == 1);
}

TEST_CASE("the cache panel takes the sizes of a model by one click", "[gui][lesson]") {
    PanelUser<lesson::CachePanel> user("variants");
    REQUIRE(user.click("Llama 3 8B"));
    user.settle();
    CHECK(user.figure<lesson::CacheFigure>().layers == 32);
    CHECK(user.figure<lesson::CacheFigure>().rows.at(1).per_token == 2 * 32 * 8 * 128 * 2);
    CHECK(screen_shows("131 kB"));
    user.drag_to("T", 0.5F, 1);
    CHECK(user.figure<lesson::CacheFigure>().rows.at(1).all == 131072LL * 131072);
    CHECK(screen_shows("17 GB"));
}

TEST_CASE("merging heads on the blur panel raises the entropy that is shown", "[gui][lesson]") {
    PanelUser<lesson::MergePanel> user("one-head");
    CHECK(user.figure<lesson::MergeFigure>().entropy < 0.05);
    CHECK(screen_shows("entropy 0.00"));
    user.drag_to("merged", 0, 1);
    CHECK(std::abs(user.figure<lesson::MergeFigure>().entropy - std::log(3.0)) < 0.03);
    CHECK(screen_shows("entropy 1.1"));
    user.drag_to("merged", 0.99F, 0.8F);
    CHECK(user.figure<lesson::MergeFigure>().entropy < 0.95);
    // It describes the current problem: without the word, it only says so.
    user.type_sentence("The cat sat down");
    CHECK(screen_shows("there is no token"));
}

TEST_CASE("the loop panel follows the document", "[gui][lesson]") {
    PanelUser<lesson::LoopPanel> user("shapes-and-cost");
    CHECK(user.figure<lesson::LoopFigure>().projections.front().slice == Shape{32, 8});
    user.act(SetHeads{8});
    CHECK(user.figure<lesson::LoopFigure>().projections.front().slice == Shape{32, 4});
    CHECK(screen_shows("8 products (10, 32) · (32, 4)"));
}

TEST_CASE("a step slides in and comes to rest, and show me rings what it moved", "[gui][lesson]") {
    User user;
    user.settle();
    user.act(ShowTab{LeftTab::course});
    user.act(OpenLesson{"masks"});
    user.program.act(GoToPage{1});
    user.driver.wait();
    CHECK(user.view().pointing < 1);
    CHECK(user.program.animating());
    user.settle();
    CHECK(user.view().pointing == 1);
    CHECK(user.view().arrival == 1);
    user.program.act(GoTo{StageGroup::output});
    user.driver.wait(2);
    CHECK(user.view().arrival < 1);
    CHECK(user.view().previous_step == StageGroup::weights);
    user.settle();
    REQUIRE(user.click("Show me"));
    CHECK(user.program.state().course.highlighted_controls == std::set<std::string>{"mask"});
    user.settle();
    CHECK(user.program.state().course.highlight_strength == 0);
    // Where the desktop asks for no animations there is none.
    user.program.state().view.reduced_motion = true;
    user.program.act(GoToPage{2});
    user.driver.wait(3);
    CHECK(user.view().arrival == 1);
    CHECK(user.view().pointing == 1);
}

} // namespace headscope::test
