#include "app/state/screens/long_map.h"
#include "app/state/screens/screen.h"
#include "core/engine/engine.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr std::int64_t length = 6000, query = 5200, far_key = 700;
constexpr double score = 9.7; ///< score of the query for the key; all other scores are 0

/// Every row spreads its weight evenly over the tokens so far, but for one far pair.
Program::Options needle(std::int64_t H = 1) {
    auto problem = std::make_shared<Problem>();
    problem->dims = {
        .B = 1, .Tq = length, .Tk = length, .D = 8, .Dkv = 8, .H = H, .Hkv = H, .dk = 8, .dv = 8};
    const auto side = static_cast<float>(std::sqrt(score * std::sqrt(8.0)));
    Tensor x(Shape{1, length, 8}, 0.0F), W_Q(Shape{8, H * 8}, 0.0F), W_K(Shape{8, H * 8}, 0.0F);
    x.at(0, query, 6) = side;
    x.at(0, far_key, 7) = side;
    W_Q.at(6, 0) = 1;
    W_K.at(7, 0) = 1;
    problem->x = std::make_shared<const Tensor>(std::move(x));
    problem->weights.W_Q = std::make_shared<const Tensor>(std::move(W_Q));
    problem->weights.W_K = std::make_shared<const Tensor>(std::move(W_K));
    problem->weights.W_V = std::make_shared<const Tensor>(Shape{8, H * 8}, 0.5F);
    problem->weights.W_O = std::make_shared<const Tensor>(Shape{H * 8, 8}, 0.5F);
    project::Recipe recipe;
    recipe.base = problem;
    recipe.mask = project::MaskChoice::causal;
    return {.recipe = recipe, .device = "cpu", .wake = {}};
}

const double far_weight = std::exp(score) / (std::exp(score) + static_cast<double>(query));

const MatrixGrid& map_of(const User& user) {
    REQUIRE_FALSE(user.program.canvas().grids.empty());
    return user.program.canvas().grids.front();
}

const LongMapView& view_of(const User& user) {
    return user.view().attention.long_map;
}

VisibleMap visible_map(const User& user) {
    return app::visible_map(view_of(user), length, length);
}

/// The middle of a weight on screen.
figure::Point place(const User& user, std::int64_t i, std::int64_t j) {
    const figure::Rect room = map_of(user).area;
    const VisibleMap sight = visible_map(user);
    return {room.x + sight.x(static_cast<double>(j) + 0.5), room.y + sight.y(static_cast<double>(i) + 0.5)};
}

} // namespace

TEST_CASE("a far weight of a long text is listed, and a click shows it with its number", "[long map]") {
    User user(needle());
    CHECK(user.program.state().error.empty());
    REQUIRE(screen_of(user.shown(), user.view()) == Screen::map);
    REQUIRE(user.shown().map != nullptr);
    REQUIRE(user.shown().map->overview->complete());
    CHECK(screen_shows("1 pixel = 16 × 16 weights, largest shown"));
    CHECK(screen_shows("at least 750 tokens away"));
    CHECK(screen_shows("query 5,200 reads key 700"));
    CHECK(screen_shows("4,500"));
    CHECK(far_weight == Approx(0.7584).epsilon(1e-4));

    CHECK(user.program.state().pixels.bytes() > 0); // tiles are colored once, not in every frame
    REQUIRE(user.click("spot 1"));
    user.settle();
    CHECK(visible_map(user).scale == spot_scale);
    const figure::Point at = place(user, query, far_key);
    CHECK(map_of(user).area.contains(at.x, at.y));
    CHECK(screen_shows("0.76"));
    CHECK(screen_shows("4,500 back"));
    REQUIRE(user.shown().map->selected);
    CHECK(user.shown().map->selected->weight == Approx(far_weight).epsilon(1e-5));
    const auto reported = nlohmann::json::parse(user.program.report(1)).at("weight");
    CHECK(reported.at("query") == query);
    CHECK(reported.at("key") == far_key);
    CHECK(reported.at("value").get<double>() == Approx(far_weight).epsilon(1e-5));
    REQUIRE(user.shown().map->row);
    CHECK(user.shown().map->row->sum == Approx(1).epsilon(1e-5));
    CHECK(user.shown().map->row->rank == 1);
    CHECK(user.shown().map->row->keys == query + 1);

    SECTION("the strongest key of a row is one key away") {
        user.act(GoToWeight{query, 40});
        CHECK(user.shown().map->row->rank > 1);
        user.driver.key(GLFW_KEY_K);
        user.settle();
        CHECK(user.shown().map->selected->key == far_key);
    }
    SECTION("a click on a pixel far out selects the largest weight under it") {
        user.driver.key(GLFW_KEY_HOME);
        user.act(SelectOnMap{});
        const figure::Point far = place(user, query + 8, far_key - 4); // the middle of its pixel
        user.driver.click(far.x, far.y);
        user.settle();
        REQUIRE(user.shown().map->selected);
        CHECK(user.shown().map->selected->query == query);
        CHECK(user.shown().map->selected->key == far_key);
    }
    SECTION("N and Shift N go through the list, Esc lets go") {
        user.driver.key(GLFW_KEY_N);
        user.settle();
        CHECK(user.shown().map->selected->query == (*user.shown().map->spots)[1].query);
        user.driver.key(GLFW_KEY_N, GLFW_MOD_SHIFT);
        user.settle();
        CHECK(user.shown().map->selected->query == query);
        user.driver.key(GLFW_KEY_ESCAPE);
        user.settle();
        CHECK_FALSE(user.shown().map->selected);
    }
}

TEST_CASE("a long map has its far weight on the engine that is chosen, and without that one", "[long map]") {
    const auto found = engine::devices().devices;
    const bool there = std::ranges::any_of(found, [](const auto& one) { return one.id == "vulkan:0"; });
    for (const std::string device : {"vulkan:0", "vulkan:77"}) {
        INFO(device);
        Program::Options options = needle();
        options.device = device;
        User user(options);
        REQUIRE(user.shown().map != nullptr);
        CHECK(user.shown().map->error.empty());
        CHECK(user.shown().map->device == (there && device == "vulkan:0" ? device : "cpu"));
        REQUIRE(user.shown().map->overview->complete());
        CHECK(screen_shows("query 5,200 reads key 700"));
        user.act(GoToWeight{query, far_key});
        const auto shows_weight = [&] {
            user.settle();
            REQUIRE(user.shown().map->selected);
            CHECK(user.shown().map->selected->weight == Approx(far_weight).epsilon(1e-5));
            CHECK(user.shown().map->row->sum == Approx(1).epsilon(1e-5));
        };
        shows_weight();
        CHECK(user.program.state().engines.fallback_reason.empty() == (user.shown().map->device == device));
        CHECK(screen_shows("⚠ engine") == (user.shown().map->device != device));
        user.act(EngineAction{EngineAction::Kind::choose, "cpu"});
        shows_weight();
        CHECK(user.shown().map->device == "cpu");
        CHECK(user.program.state().engines.fallback_reason.empty());
        CHECK_FALSE(screen_shows("⚠ engine"));
    }
}

TEST_CASE("the whole of a long map fills its room one way", "[long map]") {
    for (const std::int64_t length : {2100, 4096, 4300, 8000}) {
        LongMapView view;
        view.width = 700, view.height = 560;
        INFO(length << " tokens");
        const VisibleMap sight = app::visible_map(view, length, length);
        CHECK(sight.pixels * static_cast<double>(length) == Approx(560));
        CHECK(sight.y(0) == Approx(0).margin(1));
        CHECK(sight.x(0) == Approx(70).margin(1));
        // The drawn scale is coarser than a pixel of the screen by a factor below two, and never finer.
        CHECK(std::ldexp(sight.pixels, sight.scale) >= 1);
        CHECK(std::ldexp(sight.pixels, sight.scale) < 2);
        const MapPart seen = visible_part(view, length, length);
        CHECK(seen == MapPart{0, 0, length, length});
        // Each step nearer is seen.
        const Dims dims{1, length, length, 8, 8, 2, 2, 4, 4};
        app::apply(view, ZoomLongMap{1}, dims);
        CHECK(app::visible_map(view, length, length).pixels > 1.2 * sight.pixels);
        app::apply(view, ZoomLongMap{-4}, dims);
        CHECK_FALSE(view.scale);
    }
}

TEST_CASE("wheel, mouse and keys move over a long map", "[long map]") {
    User user(needle());
    const int whole = visible_map(user).scale;
    REQUIRE(whole == 4);
    const figure::Rect room = map_of(user).area;
    const figure::Point at{room.x + room.w * 0.4F, room.y + room.h * 0.6F};
    user.driver.move(at.x, at.y);
    user.driver.settle();
    REQUIRE(view_of(user).under_mouse);
    const auto under = *view_of(user).under_mouse;
    user.driver.scroll(1);
    user.settle();
    user.driver.scroll(1);
    user.settle();
    CHECK(visible_map(user).scale == whole - 2);
    // The point under the mouse is still there, to a pixel.
    const figure::Point now = place(user, under[0], under[1]);
    CHECK(std::abs(now.x - at.x) < 5);
    CHECK(std::abs(now.y - at.y) < 5);
    CHECK(screen_shows("1 pixel = 4 × 4 weights, largest shown"));

    const VisibleMap before = visible_map(user);
    user.driver.drag(at.x, at.y, at.x - 60, at.y - 40);
    user.settle();
    CHECK(visible_map(user).left == Approx(before.left + 60 * 4).margin(8));
    CHECK(visible_map(user).top == Approx(before.top + 40 * 4).margin(8));
    user.driver.key(GLFW_KEY_RIGHT);
    user.settle();
    CHECK(visible_map(user).left ==
          Approx(before.left + 60 * 4 + 0.125 * static_cast<double>(room.w) * 4).margin(8));
    user.driver.key(GLFW_KEY_EQUAL);
    user.settle();
    CHECK(visible_map(user).scale == whole - 3);
    user.driver.double_click(at.x, at.y);
    user.settle();
    CHECK(visible_map(user).scale == whole - 6);
    user.driver.key(GLFW_KEY_HOME);
    user.settle();
    CHECK_FALSE(view_of(user).scale);
    CHECK(screen_shows("1 pixel = 16 × 16 weights, largest shown"));
    user.driver.key(GLFW_KEY_P);
    user.settle();
    CHECK(screen_shows("1 pixel = 16 × 16 weights, mean shown"));
}

TEST_CASE("reading a long map can be paused, cancelled and begun again", "[long map]") {
    User user(needle());
    user.press("Whole map");
    CHECK_FALSE(screen_shows("Pause"));
    user.act(ReadMap{MapReading::off});
    CHECK(user.shown().map->overview == nullptr);
    CHECK(screen_shows("The whole map is not read."));
    // Far weights are not known yet: their list says so, and so does the key.
    const auto said = [] {
        std::string all; // of wrapped lines
        for (const ScreenText& text : screen_texts())
            all += text.text + " ";
        int times = 0;
        const std::string sentence = "Far weights are known once the whole map is read; press Read it.";
        for (auto at = all.find(sentence); at != std::string::npos; at = all.find(sentence, at + 1))
            ++times;
        return times;
    };
    CHECK(said() == 1);
    user.press_key(GLFW_KEY_N);
    CHECK(said() == 2);
    user.press_key(GLFW_KEY_ESCAPE);
    CHECK(said() == 1);
    user.press_key(GLFW_KEY_K);
    CHECK(screen_shows("Select a weight first."));
    // Single weights are made all the same.
    user.act(GoToWeight{query, far_key});
    CHECK(screen_shows("0.76"));
    user.press("Read it");
    CHECK(user.shown().map->overview->complete());
    CHECK(screen_shows("query 5,200 reads key 700"));
}

TEST_CASE("a place on a long map is found by its number, and what is not there is said", "[long map]") {
    User user(needle());
    const auto type = [&](const std::string& text) {
        REQUIRE(user.click("##find on map"));
        user.driver.wait(3);
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        user.driver.type(text);
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
    };
    type("5200, 700");
    REQUIRE(user.shown().map->selected);
    CHECK(user.shown().map->selected->weight == Approx(far_weight).epsilon(1e-5));
    type("6000");
    CHECK(user.program.state().field.error.find("The map has queries 0 to 5,999") != std::string::npos);
}

TEST_CASE("Enter in the search of a map goes to the next match, again and again", "[long map]") {
    auto options = needle();
    auto problem = std::make_shared<Problem>(*options.recipe.base);
    for (std::int64_t i = 0; i < length; ++i)
        problem->tokens.push_back(i % 1000 == 500 ? "kite" : "a");
    options.recipe.base = problem;
    User user(options);
    user.act(GoToWeight{5999, 100});
    REQUIRE(user.click("##find on map"));
    user.driver.wait(3);
    user.driver.type("kite");
    for (const std::int64_t at : {500, 1500, 2500}) {
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
        REQUIRE(view_of(user).selected);
        CHECK(view_of(user).selected->col == at);
        CHECK(view_of(user).selected->row == 5999);
    }
    user.driver.key(GLFW_KEY_ESCAPE);
    user.settle();
    CHECK(user.program.state().field.text.empty());
}

TEST_CASE("a map always says what its colours mean, and that there are more heads", "[long map]") {
    for (const float height : {600.0F, 720.0F, 1000.0F}) {
        User user(needle(), 1280, height);
        CHECK(screen_shows("≤ 0.0001"));
    }
    User user(needle(8), 1280, 720);
    user.act(OpenInspector{true});
    const std::int64_t H = user.shown().dims().H;
    std::int64_t seen = 0;
    for (std::int64_t click = 0; click < H && user.view().head < H - 1; ++click) {
        for (std::int64_t h = H - 1; h > user.view().head; --h)
            if (screen_shows("H" + std::to_string(h) + " …")) {
                user.press("H" + std::to_string(h) + " …");
                ++seen;
                break;
            }
        if (screen_shows("H" + std::to_string(H - 1)))
            user.press("H" + std::to_string(H - 1));
    }
    CHECK(seen > 0);
    CHECK(user.view().head == H - 1);
}

TEST_CASE("F1 opens the manual beside a map whose document has no stages", "[long map]") {
    User user(needle());
    REQUIRE(user.shown().trace == nullptr);
    user.driver.key(GLFW_KEY_F1);
    user.driver.wait(3);
    REQUIRE(user.program.state().manual.open);
    CHECK(user.program.state().manual.at.page == "maps");
    CHECK(screen_shows("This screen"));
    CHECK(screen_shows("In the window"));
}

TEST_CASE("what a pixel shows has a line of its own where the buttons leave it no room", "[long map]") {
    User user(needle(), 853, 480);
    user.act(OpenLeft{true});
    REQUIRE(user.program.canvas().scene.width < 500);
    CHECK(screen_shows(", largest shown"));
}

TEST_CASE("a prompt too long for stages shows map, atlas and effects of a checkpoint, and no stage",
          "[long map]") {
    std::string ids;
    for (std::int64_t i = 0; i <= Document::max_tokens_in_memory; ++i)
        ids += (i == 0 ? "" : ",") + std::to_string(i * i % 127);
    User user;
    user.open(test_data("/models/olmo2_tiny"), ids);
    INFO(user.program.state().error << user.program.state().model.error);
    REQUIRE(user.shown().document->is_checkpoint());
    REQUIRE(user.shown().dims().Tq == Document::max_tokens_in_memory + 1);
    CHECK(user.shown().trace == nullptr);
    CHECK(screen_of(user.shown(), user.view()) == Screen::map);
    CHECK_FALSE(has_screen(*user.shown().document, Screen::stages));
    CHECK_FALSE(has_screen(*user.shown().document, Screen::why));
    REQUIRE(user.shown().map != nullptr);
    REQUIRE(user.shown().map->overview->complete());

    // The map has the weights that the run makes for the same rows.
    const checkpoint::ModelRun& run = *user.program.state().model.run;
    const std::int64_t last = Document::max_tokens_in_memory, query = last - 5;
    user.act(GoToWeight{query, 40});
    user.settle();
    REQUIRE(user.shown().map->close);
    std::vector<float> row(static_cast<std::size_t>(last + 1));
    run.read_weights(user.shown().document->layer(), user.view().head, {query, 0, 1, last + 1}, row);
    REQUIRE(user.shown().map->selected);
    CHECK(user.shown().map->selected->weight == Approx(row[40]).epsilon(1e-5));

    for (const Screen screen : {Screen::atlas, Screen::effects, Screen::circuits, Screen::map}) {
        user.act(ShowScreen{screen});
        user.settle();
        INFO(static_cast<int>(screen) << user.program.state().error << user.program.state().model.error);
        CHECK(screen_of(user.shown(), user.view()) == screen);
        CHECK(user.program.state().error.empty());
        CHECK(user.program.state().model.error.empty());
    }
    for (const auto& [key, screen] :
         {std::pair(GLFW_KEY_3, Screen::atlas), {GLFW_KEY_4, Screen::effects}, {GLFW_KEY_7, Screen::map}}) {
        user.press_key(key, GLFW_MOD_CONTROL);
        CHECK(screen_of(user.shown(), user.view()) == screen);
    }
    // Of what a head brings, a part of the tokens is shown, with the way to all others.
    user.press_key(GLFW_KEY_4, GLFW_MOD_CONTROL);
    CHECK(screen_shows("to 4,096 of 4,097"));
    user.press("◀ Earlier");
    CHECK(screen_shows("to 3,936 of 4,097"));
    user.type_over("##tokens from", "12");
    CHECK(screen_shows("to 171 of 4,097"));
    user.type_over("##tokens from", "4097");
    CHECK(user.program.state().field.error == "Type the number of a token, 0 to 4096.");
    user.press("Later ▶");
    CHECK(user.view().attention.first_source_token == 172);

    user.press_key(GLFW_KEY_5, GLFW_MOD_CONTROL);
    CHECK(screen_of(user.shown(), user.view()) != Screen::patching);
    CHECK(screen_shows("Patching needs a shorter prompt"));
    REQUIRE(user.program.state().model.predictions);
    user.act(ShowTab{LeftTab::predictions});
    CHECK(screen_shows("4,097"));
    CHECK_FALSE(screen_shows("Edit heads")); // there is no Edit tab

    // A shorter prompt has its stages again.
    user.act(TypePrompt{"12,7,30,5"});
    user.settle();
    CHECK(user.shown().trace != nullptr);
    CHECK(has_screen(*user.shown().document, Screen::stages));
}
