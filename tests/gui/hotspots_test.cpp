#include "app/draw/pages/pages.h"
#include "app/draw/panels/panels.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <set>

// Nothing that looks as if it could be clicked may do nothing.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// High enough that no panel scrolls.
constexpr float wide = 1900, high = 2600;

const std::set<std::string>& not_clicked() {
    static const std::set<std::string> names{"scrubber", "left edge", "inspector edge", "#SCROLLX",
                                             "#SCROLLY"};
    return names;
}

/// Whether a click on a thing of the window's frame would lead where the view is already.
bool already_so(const ViewState& view, const std::string& label) {
    if (label.starts_with("stage "))
        return label == "stage " + std::string(group_info(view.group).label) && view.row < 0;
    const std::pair<const char*, LeftTab> tabs[] = {
        {"Guide", LeftTab::guide}, {"Tensors", LeftTab::tensors}, {"Heads", LeftTab::heads}};
    for (const auto& [name, tab] : tabs)
        if (label == name)
            return view.tab == tab && view.left_open.value_or(false);
    if (label == "first" || label == "back")
        return view.group == StageGroup::x && view.row < 0;
    if (label == "next" || label == "last")
        return view.group == StageGroup::output && view.row < 0;
    return false;
}

/// Clicks every item that is on screen now, each from the same state, and says how many there were.
int click_everything(Desk& desk) {
    // Edited from the start: the words "not saved" move what stands beside them only once.
    desk.act(Command(SetGain{0, desk.problem().gain(0)}));
    const ViewState start = desk.view();
    const project::Recipe recipe = desk.program.state().document->recipe;
    desk.driver.move(1, 1);
    desk.driver.wait(2);
    std::vector<ScreenItem> items;
    for (const ScreenItem& item : screen_items())
        if (!item.label.empty() && !not_clicked().contains(item.label) && item.area.w >= 1 &&
            item.area.h >= 1 && (item.window == "Headscope" || item.window.find('/') != std::string::npos) &&
            !ImGui::FindWindowByID(item.id))
            items.push_back(item);
    std::set<std::pair<std::string, std::string>> names;
    int clicked = 0;
    for (const ScreenItem& item : items) {
        if (item.label == "canvas" || item.label == "guide" || item.label == "tensors" ||
            item.label == "heads" || item.label == "inspector" || item.label == "notice")
            continue;
        INFO("stage " << group_info(start.group).label << ", view " << static_cast<int>(start.weights_view)
                      << "/" << static_cast<int>(start.heads_view) << ", \"" << item.label << "\" in "
                      << item.window);
        CHECK(names.insert({item.window, item.label}).second);
        CHECK(item.reachable());
        if (!item.reachable())
            continue;
        const std::string before = signature(desk.program);
        // What the picture promises for this label.
        const bool on_canvas = item.window.find("canvas") != std::string::npos;
        const auto& spots = desk.program.canvas().hotspots;
        const auto spot = std::ranges::find(spots, item.label, &Hotspot::label);
        std::optional<ViewState> promised;
        if (on_canvas) {
            REQUIRE(spot != spots.end());
            if (const auto* change = std::get_if<ViewChange>(&spot->action)) {
                promised = start;
                apply(*promised, *change, desk.problem().dims);
            }
        }
        desk.driver.click(item.middle_x(), item.middle_y());
        ++clicked;
        if (item.label == "##sentence") {
            const bool fixed = desk.program.state().document->recipe.preset == "cat-sleeps";
            CHECK(ImGui::GetIO().WantTextInput == !fixed);
            desk.driver.key(GLFW_KEY_ENTER);
        } else if (promised) {
            CHECK(signature(desk.view()) == signature(*promised));
        } else if (on_canvas || !already_so(start, item.label)) {
            const bool speaks = item.window.find("heads") != std::string::npos ||
                                item.window.find("tensors") != std::string::npos;
            if (!speaks) // a list's row for what is shown already changes nothing
                CHECK(signature(desk.program) != before);
        }
        if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0)
            desk.driver.key(GLFW_KEY_ESCAPE);
        CHECK(desk.program.state().error.empty());
        const project::Recipe& now = desk.program.state().document->recipe;
        if (now.identity_W_O != recipe.identity_W_O)
            desk.program.act(Command(SetIdentityOutput{recipe.identity_W_O}));
        desk.program.state().view = start;
        desk.driver.move(1, 1);
        desk.settle();
        desk.program.state().view = start;
    }
    return clicked;
}

/// Each row of a list in a panel leads to its place.
template<class Rows>
void check_rows(Desk& desk, const Rows& rows) {
    const ViewState start = desk.view();
    for (const Hotspot& row : rows) {
        INFO(row.label);
        ViewState promised = start;
        apply(promised, std::get<ViewChange>(row.action), desk.problem().dims);
        const std::string window = start.tab == LeftTab::heads     ? "/heads"
                                   : start.tab == LeftTab::tensors ? "/tensors"
                                                                   : "/guide";
        CHECK(desk.click(row.label, window));
        CHECK(signature(desk.view()) == signature(promised));
        desk.program.state().view = start;
        desk.driver.wait(2);
    }
}

figure::TextMeasure any_measure() {
    return [](std::string_view text, figure::Font, float size) {
        return 0.6F * size * static_cast<float>(text.size());
    };
}

} // namespace

TEST_CASE("everything that can be clicked does something, on every stage", "[gui][hotspots]") {
    Desk desk("first-lesson", "", wide, high);
    for (int group = 0; group < group_count; ++group) {
        desk.act(ViewChange(GoTo{static_cast<StageGroup>(group)}));
        CHECK(click_everything(desk) > 20);
    }
}

TEST_CASE("everything that can be clicked does something, in every view of the weights", "[gui][hotspots]") {
    Desk desk(GENERATE("first-lesson", "eight-experts"), "", wide, high);
    for (const WeightsView way :
         {WeightsView::arcs, WeightsView::text, WeightsView::graph, WeightsView::heatmap})
        for (const HeadsView heads : {HeadsView::difference, HeadsView::mean, HeadsView::each}) {
            desk.act(ViewChange(ShowWeightsAs{way}));
            desk.act(ViewChange(ShowHeads{heads}));
            desk.act(ViewChange(PickHead{1}));
            CHECK(click_everything(desk) > 20);
        }
}

TEST_CASE("everything that can be clicked does something where panels are folded", "[gui][hotspots]") {
    Desk desk("first-lesson", "", wide, high);
    desk.act(ViewChange(OpenLeft{false}));
    desk.act(ViewChange(OpenInspector{false}));
    CHECK(click_everything(desk) > 10);
}

TEST_CASE("rows of the tensors and heads panels lead where they say", "[gui][hotspots]") {
    Desk desk("eight-experts", "", wide, high);
    const Theme& colours = theme(false);
    const figure::TextMeasure measure = any_measure();
    desk.act(ViewChange(ShowTab{LeftTab::tensors}));
    const DrawContext context{desk.shown(), desk.view(), colours, measure, 311, 2000};
    const Picture tensors = draw_tensors(context);
    CHECK(tensors.hotspots.size() >= static_cast<std::size_t>(stage_count));
    check_rows(desk, tensors.hotspots);
    desk.act(ViewChange(ShowTab{LeftTab::heads}));
    const Picture heads = draw_heads(context);
    CHECK(heads.hotspots.size() >= 8);
    check_rows(desk, heads.hotspots);
}

TEST_CASE("Tab walks to everything that can be clicked and Enter does what a click does", "[gui][hotspots]") {
    Desk desk("first-lesson", "", wide, high);
    const ViewState start = desk.view();
    std::set<std::string> reached;
    int steps = 0;
    for (; steps < 120; ++steps) {
        for (int i = 0; i <= steps; ++i)
            desk.driver.key(GLFW_KEY_TAB);
        const std::string before = signature(desk.program);
        desk.driver.key(GLFW_KEY_ENTER);
        desk.driver.wait(3);
        reached.insert(signature(desk.program) == before ? "same" : signature(desk.program));
        if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0)
            desk.driver.key(GLFW_KEY_ESCAPE);
        desk.driver.key(GLFW_KEY_ESCAPE);
        desk.program.state().view = start;
        desk.driver.wait(2);
        if (steps > 45)
            break;
    }
    // At least: ten other stages, four lists, three other ways, playing, theme, help, folding both panels.
    CHECK(reached.size() > 20);
    const auto reaches = [&](const std::string& part) {
        return std::ranges::any_of(
            reached, [&](const std::string& one) { return one.find(part) != std::string::npos; });
    };
    CHECK(reaches("dark 1"));
    CHECK(reaches("help 1"));
    CHECK(reaches("playing 1"));
    CHECK(reaches("popups 1"));
    for (int group = 0; group < group_count; ++group)
        CHECK(reaches("group " + std::to_string(group) + " "));
    desk.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
    desk.driver.key(GLFW_KEY_ENTER);
    CHECK(signature(desk.view()) != signature(start));
}

} // namespace headscope::test
