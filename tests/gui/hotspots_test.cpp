#include "tests/catch.h"
#include "tests/gui/support/user.h"

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

/// Returns true if a click on a control of the window's frame would not change the view.
bool already_so(const ViewState& view, const std::string& label) {
    if (label.starts_with("stage "))
        return label == "stage " + std::string(group_info(view.group).label) && view.row < 0;
    const std::pair<const char*, LeftTab> tabs[] = {
        {"Guide", LeftTab::guide}, {"Tensors", LeftTab::tensors}, {"Heads", LeftTab::heads}};
    for (const auto& [name, tab] : tabs)
        if (label == name)
            return view.tab == tab && view.left_open.value_or(false);
    if (label == "Flow" || label == "Stages")
        return (view.attention.screen == Screen::flow) == (label == "Flow");
    if (label == "first" || label == "back")
        return view.group == StageGroup::x && view.row < 0;
    if (label == "next" || label == "last")
        return view.group == StageGroup::output && view.row < 0;
    return false;
}

/// The key that a query of one head weighs most, from the numbers themselves.
std::int64_t largest_key(const User& user, std::int64_t head, std::int64_t query) {
    const Tensor& weights = *user.shown().trace->stage(TensorId::weights);
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < user.problem().dims.Tk; ++j)
        if (weights.at(0, head, query, j) > weights.at(0, head, query, best))
            best = j;
    return best;
}

/// The expected result of a click on the canvas, derived from its words.
struct Meant {
    ViewState view;
    std::vector<float> gains; ///< one head gain per head
    bool identity_output = false;
    bool known = true; ///< true if this test knows the words
};

Meant meant_by(const User& user, const std::string& label) {
    Meant meant{user.view(), {}, user.program.state().document->recipe.identity_W_O};
    const std::int64_t H = user.problem().dims.H;
    for (std::int64_t h = 0; h < H; ++h)
        meant.gains.push_back(user.problem().gain(h));
    ViewState& view = meant.view;
    const auto number_after = [&](std::string_view words) { return std::stoll(label.substr(words.size())); };
    const auto is = [&](std::string_view words) { return label == words; };
    const auto begins = [&](std::string_view words) { return label.starts_with(words); };
    if (is("Heatmap"))
        view.weights_view = WeightsView::heatmap;
    else if (is("Arcs"))
        view.weights_view = WeightsView::arcs;
    else if (is("Text"))
        view.weights_view = WeightsView::text;
    else if (is("Graph"))
        view.weights_view = WeightsView::graph;
    else if (is("Each head"))
        view.heads_view = HeadsView::each;
    else if (begins("Head ") && label.find(" − ") != std::string::npos)
        view.heads_view = HeadsView::difference;
    else if (is("Mean"))
        view.heads_view = HeadsView::mean;
    else if (is("Same scale: on"))
        view.same_scale = false;
    else if (is("Same scale: off"))
        view.same_scale = true;
    else if (is("Scale: by row"))
        view.attention.score_scale = ScoreScale::head;
    else if (is("Scale: by head"))
        view.attention.score_scale = ScoreScale::all;
    else if (is("Scale: all heads"))
        view.attention.score_scale = ScoreScale::row;
    else if (is("Colors: by head"))
        view.colour_map = ColourMap::neutral;
    else if (is("Paint mask: off"))
        view.brush.on = true;
    else if (is("Q") || is("K") || is("V"))
        view.projection = is("Q") ? Projection::q : is("K") ? Projection::k : Projection::v;
    else if (is("Together") || is("Apart"))
        (view.group == StageGroup::split ? view.apart_target : view.joined_target) =
            is("Apart") == (view.group == StageGroup::split) ? 1.0F : 0.0F;
    else if (is("One head"))
        view.one_head = true;
    else if (is("as built") || is("identity"))
        meant.identity_output = is("identity");
    else if (begins("ablate head ")) {
        float& gain = meant.gains[static_cast<std::size_t>(number_after("ablate head "))];
        gain = gain == 0 ? 1.0F : 0.0F;
    } else if (begins("− "))
        view.compared_head = number_after("− ");
    else if (const auto query = label.find("query ");
             query == 0 || (query != std::string::npos && begins("head "))) {
        const std::int64_t head = query == 0 ? view.head : number_after("head ");
        const std::int64_t i = std::stoll(label.substr(query + 6));
        view.selected = CellAddress{TensorId::weights, {0, head, i, largest_key(user, head, i)}};
    } else if (begins("head ") || begins("Head ") || (begins("H") && label.size() == 2)) {
        view.head = std::stoll(label.substr(label.find_first_of("0123456789")));
        if (view.compared_head == view.head)
            view.compared_head = (view.head + 1) % H;
    } else
        meant.known = false;
    return meant;
}

void check_left(User& user, const Meant& meant) {
    CHECK(signature(user.view()) == signature(meant.view));
    CHECK(user.view().brush.on == meant.view.brush.on);
    CHECK(user.view().one_head == meant.view.one_head);
    CHECK(user.program.state().document->recipe.identity_W_O == meant.identity_output);
    for (std::size_t h = 0; h < meant.gains.size(); ++h)
        CHECK(user.problem().gain(static_cast<std::int64_t>(h)) == meant.gains[h]);
}

/// Clicks every item that is on screen now, each from the same state, and says how many there were.
int click_everything(User& user) {
    // Edited from the start: the words "not saved" move the items next to them only once.
    user.act(SetGain{0, 0.75F});
    const ViewState start = user.view();
    const project::Recipe recipe = user.program.state().document->recipe;
    user.driver.move(1, 1);
    user.driver.wait(2);
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
        const std::string before = signature(user.program);
        const bool on_canvas = item.window.find("canvas") != std::string::npos;
        const Meant meant = meant_by(user, item.label);
        user.driver.click(item.middle_x(), item.middle_y());
        ++clicked;
        if (item.label == "##sentence") {
            const bool fixed = user.program.state().document->recipe.preset == "cat-sleeps";
            CHECK(ImGui::GetIO().WantTextInput == !fixed);
            user.driver.key(GLFW_KEY_ENTER);
        } else if (on_canvas) {
            CHECK(meant.known);
            check_left(user, meant);
        } else if (!already_so(start, item.label)) {
            const bool speaks = item.window.find("heads") != std::string::npos ||
                                item.window.find("tensors") != std::string::npos;
            if (!speaks) // a list's row for what is shown already changes nothing
                CHECK(signature(user.program) != before);
        }
        if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0)
            user.driver.key(GLFW_KEY_ESCAPE);
        CHECK(user.program.state().error.empty());
        const project::Recipe& now = user.program.state().document->recipe;
        const std::vector<float> gains = now.gains;
        if (now.identity_W_O != recipe.identity_W_O)
            user.program.act(SetIdentityOutput{recipe.identity_W_O});
        for (std::size_t h = 0; h < gains.size() && h < recipe.gains.size(); ++h)
            if (gains[h] != recipe.gains[h]) // words of a panel may refer to this head
                user.program.act(SetGain{static_cast<std::int64_t>(h), recipe.gains[h]});
        user.program.state().view = start;
        user.program.state().manual = {};
        user.driver.move(1, 1);
        user.settle();
        user.program.state().view = start;
    }
    return clicked;
}

/// Clicks the row of a panel, which is meant to leave this view.
void check_row(User& user, const std::string& label, const std::string& window, const ViewState& meant) {
    const ViewState start = user.view();
    INFO(label);
    CHECK(user.click(label, window));
    CHECK(signature(user.view()) == signature(meant));
    user.program.state().view = start;
    user.driver.wait(2);
}

} // namespace

TEST_CASE("everything that can be clicked does something, on every stage", "[gui][hotspots]") {
    User user("first-lesson", "", wide, high);
    for (int group = 0; group < group_count; ++group) {
        user.act(GoTo{static_cast<StageGroup>(group)});
        CHECK(click_everything(user) > 20);
    }
}

TEST_CASE("everything that can be clicked does something, in every view of the weights", "[gui][hotspots]") {
    User user(GENERATE("first-lesson", "eight-experts"), "", wide, high);
    for (const WeightsView way :
         {WeightsView::arcs, WeightsView::text, WeightsView::graph, WeightsView::heatmap})
        for (const HeadsView heads : {HeadsView::difference, HeadsView::mean, HeadsView::each}) {
            user.act(ShowWeightsAs{way});
            user.act(ShowHeads{heads});
            user.act(PickHead{1});
            CHECK(click_everything(user) > 20);
        }
}

TEST_CASE("everything that can be clicked does something where panels are folded", "[gui][hotspots]") {
    User user("first-lesson", "", wide, high);
    user.act(OpenLeft{false});
    user.act(OpenInspector{false});
    CHECK(click_everything(user) > 10);
}

TEST_CASE("rows of the tensors and heads panels lead where they say", "[gui][hotspots]") {
    User user("eight-experts", "", wide, high);
    user.act(ShowTab{LeftTab::tensors});
    using enum StageGroup;
    // Inputs lead to the stage that reads them first.
    const std::pair<const char*, StageGroup> places[] = {{"x", x},
                                                         {"q", qkv},
                                                         {"k", qkv},
                                                         {"v", qkv},
                                                         {"q_heads", split},
                                                         {"k_heads", split},
                                                         {"v_heads", split},
                                                         {"scores", scores},
                                                         {"scaled", scaled},
                                                         {"masked", masked},
                                                         {"weights", weights},
                                                         {"weights_mean", weights},
                                                         {"concat", concat},
                                                         {"head_out", head_out},
                                                         {"output", output},
                                                         {"contributions", contributions},
                                                         {"W_Q", qkv},
                                                         {"W_K", qkv},
                                                         {"W_V", qkv},
                                                         {"W_O", output},
                                                         {"mask", masked},
                                                         {"gain", concat}};
    for (const auto& [name, group] : places) {
        ViewState meant = user.view();
        meant.group = group;
        meant.row = -1;
        if (group == split)
            meant.apart_target = 1;
        if (group == concat)
            meant.joined_target = 1;
        check_row(user, name, "/tensors", meant);
    }
    user.act(ShowTab{LeftTab::heads});
    for (std::int64_t h = 0; h < 8; ++h) {
        ViewState meant = user.view();
        meant.head = h;
        meant.compared_head = h == 1 ? 2 : 1;
        check_row(user, "Head " + std::to_string(h), "/heads", meant);
    }
}

TEST_CASE("Tab walks to everything that can be clicked and Enter does what a click does", "[gui][hotspots]") {
    User user("first-lesson", "", wide, high);
    user.act(ShowScreen{Screen::stages});
    user.settle();
    const ViewState start = user.view();
    std::set<std::string> reached;
    int steps = 0;
    for (; steps < 120; ++steps) {
        for (int i = 0; i <= steps; ++i)
            user.driver.key(GLFW_KEY_TAB);
        const std::string before = signature(user.program);
        user.driver.key(GLFW_KEY_ENTER);
        user.driver.wait(3);
        reached.insert(signature(user.program) == before ? "same" : signature(user.program));
        if (ImGui::GetCurrentContext()->OpenPopupStack.Size > 0)
            user.driver.key(GLFW_KEY_ESCAPE);
        user.driver.key(GLFW_KEY_ESCAPE);
        user.program.state().view = start;
        user.program.state().manual = {};
        user.driver.wait(2);
        if (steps > 60)
            break;
    }
    // At least: ten other stages, four lists, three other ways, playing, theme, help, folding both panels.
    CHECK(reached.size() > 20);
    const auto reaches = [&](const std::string& part) {
        return std::ranges::any_of(
            reached, [&](const std::string& one) { return one.find(part) != std::string::npos; });
    };
    CHECK(reaches("dark 1"));
    CHECK(reaches("manual stages#weights"));
    CHECK(reaches("manual glossary#"));
    CHECK(reaches("playing 1"));
    CHECK(reaches("popups 1"));
    for (int group = 0; group < group_count; ++group)
        CHECK(reaches("group " + std::to_string(group) + " "));
    // Back from the first control to the last ones, of which edges and sliders take arrow keys and no Enter.
    constexpr int last_ones = 8;
    for (int n = 0; n < last_ones && signature(user.view()) == signature(start); ++n) {
        user.driver.key(GLFW_KEY_TAB, GLFW_MOD_SHIFT);
        user.driver.key(GLFW_KEY_ENTER);
    }
    CHECK(signature(user.view()) != signature(start));
}

} // namespace headscope::test
