#include "app/draw/kit/free_space.h"
#include "app/draw/matrix/matrix.h"
#include "app/shell/layout.h"
#include "core/attention/graph_of_problem.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>

// Pages of a checkpoint between two open panels: 640 logical pixels are left of a window of 1280.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct NarrowUser : User {
    NarrowUser(const std::string& folder, const std::string& text) : User("first-lesson", "", 1280, 720) {
        open(folder, text);
        act(OpenInspector{true});
        settle();
    }
    void show(StageGroup group) {
        act(GoTo{group});
        settle();
    }
    void show(Screen screen) {
        act(ShowScreen{screen});
        settle();
    }

    /// A text of the open head that the canvas cuts; empty: none is.
    std::string past_the_edge() {
        const figure::TextMeasure measure = surface_measure(driver.surface());
        const float edge = compute_layout(program.state(), 1280, 720).canvas.right();
        for (const figure::SceneItem& item : program.canvas().scene.items)
            if (const auto* const text = std::get_if<figure::TextItem>(&item);
                text != nullptr && text_area(*text, measure).right() > edge)
                return text->text;
        return {};
    }

    /// Returns two upright texts of the canvas that overlap; empty if there are none.
    std::string clash() {
        const figure::TextMeasure measure = surface_measure(driver.surface());
        std::vector<std::pair<figure::Rect, std::string>> texts;
        for (const figure::SceneItem& item : program.canvas().scene.items) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            if (text == nullptr || text->angle != 0 || text->text.empty())
                continue;
            figure::Rect area = text_area(*text, measure);
            area = {area.x + 1, area.y + 2, area.w - 2, area.h - 4};
            for (const auto& [other, words] : texts)
                if (overlap(area, other))
                    return text->text + " on " + words;
            texts.emplace_back(area, text->text);
        }
        return {};
    }
};

/// A problem beside the open left panel: 490 logical pixels are left of a window of 1280 at 150 %.
struct SmallUser : User {
    explicit SmallUser(StageGroup group) : User("first-lesson", "The cat sat down", 1280, 720, 1.5F) {
        act(OpenLeft{true});
        act(GoTo{group});
    }
};

const std::string pocket_sentence = "When Mary and John went to the shop, John gave a book to";

} // namespace

TEST_CASE("no page around attention writes over itself in a narrow canvas", "[gui][model][narrow]") {
    const std::string folder =
        GENERATE(checkpoint::model_folder("pocket"), test_data("/models/llama_tiny_tied"));
    NarrowUser user(folder,
                    folder == checkpoint::model_folder("pocket") ? pocket_sentence : "12,7,30,5,9,11");
    REQUIRE(user.program.canvas().scene.width < 700);
    const StepStrip strip = user.view().step_strip;
    for (const auto* const part : {&strip.before, &strip.layer, &strip.after})
        for (const StageGroup step : *part) {
            if (!is_around(step))
                continue;
            user.show(step);
            INFO(group_info(step).label);
            CHECK(user.clash() == "");
        }
}

TEST_CASE("a score taken apart by single heads has a row for each name, and the page scrolls",
          "[gui][effects][narrow]") {
    NarrowUser user(checkpoint::model_folder("pocket"), pocket_sentence);
    user.act(OpenHead{3, 2});
    user.show(StageGroup::scores);
    user.act(Select{CellAddress{TensorId::scores, {0, 2, 14, 9}}});
    user.show(Screen::why);
    REQUIRE(user.shown().why != nullptr);
    for (const bool joined : {false, true}) {
        user.act(JoinComponents{joined});
        user.settle();
        CHECK(user.clash() == "");
        CHECK(screen_shows("embedding"));
    }
    CHECK(screen_shows("columns: components of the key “,”"));
    // The button covers no text.
    const Picture& canvas = user.program.canvas();
    const auto button = std::ranges::find(canvas.hotspots, std::string("Heads one by one"), &Hotspot::label);
    REQUIRE(button != canvas.hotspots.end());
    const figure::TextMeasure measure = surface_measure(user.driver.surface());
    for (const figure::SceneItem& item : canvas.scene.items)
        if (const auto* const text = std::get_if<figure::TextItem>(&item);
            text && text->text != button->label)
            CHECK_FALSE(overlap(text_area(*text, measure), button->area));
}

TEST_CASE("circuits in a narrow canvas: no text on another, and every token has a name",
          "[gui][effects][narrow]") {
    NarrowUser user(checkpoint::model_folder("pocket"), pocket_sentence);
    user.show(Screen::circuits);
    REQUIRE(user.shown().circuits != nullptr);
    CHECK(user.clash() == "");
    CHECK(screen_shows("<0x10>")); // among the tokens that head 0 suppresses
}

TEST_CASE("the outputs of a head have a legend for each of their colours, inside the page",
          "[gui][model][narrow]") {
    NarrowUser user(checkpoint::model_folder("pocket"), pocket_sentence);
    user.show(StageGroup::head_out);
    CHECK(user.clash() == "");
    const Picture& canvas = user.program.canvas();
    const float top = compute_layout(user.program.state(), 1280, 720).canvas.y;
    bool named = false;
    for (const figure::SceneItem& item : canvas.scene.items)
        if (const auto* const text = std::get_if<figure::TextItem>(&item)) {
            CHECK(text->at.y < top + canvas.scene.height);
            named = named || text->text == "v_heads";
        }
    CHECK(named);
}

TEST_CASE("with the mouse elsewhere the inspector explains the likeliest token's logit",
          "[gui][model][narrow]") {
    NarrowUser user(test_data("/models/llama_tiny_tied"), "12,7,30,5,9,11");
    user.show(StageGroup::logits);
    const auto cell = current_cell(user.shown(), user.view());
    REQUIRE(cell);
    const std::span<const float> logits = user.shown().tensor(TensorId::logits)->values();
    CHECK(logits[static_cast<std::size_t>(cell->at[2])] == std::ranges::max(logits));
}

TEST_CASE("the formula of the weights stands whole under switches that leave no room beside them",
          "[gui][narrow]") {
    SmallUser user(StageGroup::weights);
    const std::string formula = user.shown().attention().formula(TensorId::weights);
    for (const WeightsView view :
         {WeightsView::heatmap, WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        user.act(ShowWeightsAs{view});
        const Picture& canvas = user.program.canvas();
        const auto line = std::ranges::find_if(canvas.scene.items, [&](const figure::SceneItem& item) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->text == formula;
        });
        REQUIRE(line != canvas.scene.items.end());
        const figure::Rect area =
            text_area(std::get<figure::TextItem>(*line), surface_measure(user.driver.surface()));
        for (const Hotspot& spot : canvas.hotspots)
            CHECK_FALSE(overlap(spot.area, area));
    }
}

TEST_CASE("in B − A the name of a colour scale ends inside a narrow page", "[gui][compare][narrow]") {
    SmallUser user(StageGroup::contributions);
    user.act(MarkBaseline{});
    user.act(SetGain{0, 0});
    user.act(SetCompare{Compare::difference});
    const figure::TextMeasure measure = surface_measure(user.driver.surface());
    const Picture& canvas = user.program.canvas();
    const float edge = compute_layout(user.program.state(), 1280 / 1.5F, 720 / 1.5F).canvas.right();
    bool named = false;
    for (const figure::SceneItem& item : canvas.scene.items)
        if (const auto* const text = std::get_if<figure::TextItem>(&item)) {
            CHECK(text_area(*text, measure).right() <= edge);
            named = named || text->text == "contributions, B − A";
        }
    CHECK(named);
}

TEST_CASE("a long line of the graph's legend goes on below inside a narrow page", "[gui][model][narrow]") {
    User user("first-lesson", "", 800, 720);
    user.open(checkpoint::model_folder("pocket"), pocket_sentence);
    user.act(ShowWeightsAs{WeightsView::graph});
    const Picture& canvas = user.program.canvas();
    const float edge = compute_layout(user.program.state(), 800, 720).canvas.right();
    const figure::TextMeasure measure = surface_measure(user.driver.surface());
    for (const figure::SceneItem& item : canvas.scene.items)
        if (const auto* const text = std::get_if<figure::TextItem>(&item); text && text->angle == 0) {
            INFO(text->text);
            CHECK(text_area(*text, measure).right() <= edge - 8);
        }
}

TEST_CASE("one map keeps its numbers or the names of its rows in a low window", "[gui][model][narrow]") {
    const auto cell_of = [](const User& user) {
        const auto& grids = user.program.canvas().grids;
        const auto map = std::ranges::find_if(
            grids, [](const MatrixGrid& grid) { return grid.tensor == TensorId::weights && grid.outlined; });
        REQUIRE(map != grids.end());
        return figure::Point{map->pitch_x, map->pitch_y};
    };
    User problem("first-lesson", "When Mary and John went to the shop, John gave a book to", 1280, 720, 1.5F);
    problem.act(GoTo{StageGroup::weights});
    CHECK(cell_of(problem).x >= two_decimals_cell(0, 1, false) - 7);
    CHECK(cell_of(problem).y >= lowest_with_numbers);
    User model("first-lesson", "", 1280, 720, 2);
    model.open(checkpoint::model_folder("pocket"), pocket_sentence);
    CHECK(cell_of(model).y >= 14);
}

TEST_CASE("numbers of low cells stay between the frame of a selection and their bar", "[gui][narrow]") {
    constexpr float frame = 3.5F, capital = 0.728F;
    User user("first-lesson", "The cat sat down", 1280, 720);
    user.act(OpenInspector{true});
    user.act(GoTo{StageGroup::contributions});
    int low = 0;
    for (const MatrixGrid& grid : user.program.canvas().grids)
        for (const figure::SceneItem& item : user.program.canvas().scene.items) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            if (text == nullptr || grid.pitch_y < smallest_with_bar ||
                !grid.area.contains(text->at.x, text->at.y))
                continue;
            const auto row = std::floor((text->at.y - grid.area.y) / grid.pitch_y);
            CHECK(text->at.y - capital * text->size >= grid.area.y + row * grid.pitch_y + frame);
            low += grid.pitch_y < 30 ? 1 : 0;
        }
    CHECK(low > 0);
}

TEST_CASE("a small problem's split grows with the room", "[gui][layout]") {
    User user("cat-sleeps", "Cat sleeps", 1600, 1000);
    user.act(GoTo{StageGroup::split});
    CHECK(user.program.canvas().grids.front().pitch_x > 70);
    CHECK(user.program.canvas().grids.front().pitch_y > 40);
    // In a lower window it ends where the room does.
    user.driver.resize(1280, 720);
    user.settle();
    CHECK(user.program.canvas().scene.height <= compute_layout(user.program.state(), 1280, 720).canvas.h);
}

TEST_CASE("every tab of Patching can be clicked in a narrow canvas", "[gui][effects][narrow]") {
    SmallUser user(StageGroup::weights);
    user.open(checkpoint::model_folder("pocket"), pocket_sentence);
    user.act(ShowScreen{Screen::patching});
    begin_recording();
    int tabs = 1;
    const auto reachable = [](const std::string& label) {
        return std::ranges::any_of(screen_items(), [&](const ScreenItem& item) {
            return item.label == label && item.reachable() && item.area.right() <= item.clip.right();
        });
    };
    user.settle();
    REQUIRE(reachable("patch next tab"));
    for (; reachable("patch next tab"); ++tabs) {
        REQUIRE(tabs < 12);
        user.press("patch next tab");
    }
    REQUIRE(reachable("patch Paths"));
    user.press("patch Paths");
    CHECK(user.shown().patching->asked.paths);
    end_recording();
}

TEST_CASE("the pager of a large weight ends inside the pane beside a board", "[gui][model][narrow]") {
    User user("first-lesson", "", 1280, 720, 1.5F);
    user.open(checkpoint::model_folder("pocket"), pocket_sentence);
    for (const StageGroup group :
         {StageGroup::qkv, StageGroup::head_out, StageGroup::contributions, StageGroup::output}) {
        user.act(GoTo{group});
        const Picture& canvas = user.program.canvas();
        const figure::Rect area = compute_layout(user.program.state(), 1280 / 1.5F, 720 / 1.5F).canvas;
        INFO(group_info(group).label);
        for (const Hotspot& spot : canvas.hotspots)
            if (spot.label.starts_with("◀") || spot.label.ends_with("▶"))
                CHECK(spot.area.right() <= area.right());
    }
}

TEST_CASE("a checkpoint's first map has numbers: the small maps beside it give way", "[gui][model][narrow]") {
    for (const auto& [width, height] : {std::pair{1600.0F, 1000.0F}, {1280.0F, 720.0F}}) {
        User user("first-lesson", "", width, height);
        user.open(checkpoint::model_folder("pocket"), pocket_sentence);
        INFO(width);
        CHECK(check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem()) >= 15);
    }
}

TEST_CASE("a preset's large weights are drawn in parts with numbers, round the largest term of a result",
          "[gui][narrow]") {
    for (const auto& [width, height] : {std::pair{1600.0F, 1000.0F}, {1280.0F, 720.0F}})
        for (const StageGroup group : {StageGroup::qkv, StageGroup::output}) {
            User user("eight-experts", "", width, height);
            user.act(GoTo{group});
            INFO(width << " " << group_info(group).label);
            const TensorId weight = group == StageGroup::qkv ? TensorId::W_Q : TensorId::W_O;
            CHECK(check_printed_numbers(user.program.canvas(), *user.shown().trace, user.problem()) >= 100);
            if (group != StageGroup::qkv)
                continue;
            user.act(Select{CellAddress{TensorId::q, {0, 2, 7, 0}}});
            // The one number of that column that is not small.
            CHECK(std::ranges::any_of(user.program.canvas().grids, [&](const MatrixGrid& grid) {
                return grid.tensor == weight && grid.find({40, 7, 0, 0}).has_value();
            }));
        }
}

TEST_CASE("what a difference of two heads says in words ends inside a narrow page",
          "[gui][compare][narrow]") {
    NarrowUser user(checkpoint::model_folder("pocket"), pocket_sentence);
    user.show(StageGroup::weights);
    user.act(ShowHeads{HeadsView::difference});
    user.act(ShowWeightsAs{WeightsView::text});
    CHECK(user.past_the_edge() == "");
}

TEST_CASE("every layer of a patching map has its name in a low window", "[gui][effects][narrow]") {
    User user("first-lesson", "", 853, 480);
    user.open(checkpoint::model_folder("pocket"), pocket_sentence);
    user.act(ShowScreen{Screen::patching});
    user.act(AskPatching{.corrupted = "When Mary and John went to the shop, Mary gave a book to"});
    user.settle();
    REQUIRE(user.shown().patching->map != nullptr);
    for (const char* const layer : {"L0", "L1", "L2", "L3"})
        CHECK(std::ranges::any_of(user.program.canvas().scene.items, [&](const figure::SceneItem& item) {
            const auto* const text = std::get_if<figure::TextItem>(&item);
            return text != nullptr && text->text == layer;
        }));
}

} // namespace headscope::test
