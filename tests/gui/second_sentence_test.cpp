#include "core/project/project_file.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/files_desk.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Cross-attention in the window: a second field, keys of their own words, pages with Tq != Tk.

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr const char* cross = "cross: a second sentence";
constexpr const char* self = "self: one sentence";

const MatrixGrid& grid_of(const Desk& desk, TensorId tensor) {
    const auto& grids = desk.program.canvas().grids;
    const auto grid = std::ranges::find(grids, tensor, &MatrixGrid::tensor);
    REQUIRE(grid != grids.end());
    return *grid;
}

} // namespace

TEST_CASE("cross-attention is switched on, typed and switched off", "[gui][cross]") {
    Desk desk;
    CHECK_FALSE(desk.driver.find("##kv_sentence"));
    desk.choose("attention", cross);
    CHECK(desk.driver.find("##kv_sentence"));
    CHECK(desk.program.state().kv_sentence == "A dog ran away quickly");
    CHECK(screen_shows("W_K and W_V read the second sentence"));

    desk.type_kv_sentence("Birds sing");
    CHECK(desk.problem().kv_tokens == std::vector<std::string>{"Birds", "sing"});
    CHECK(desk.problem().tokens.size() == 4);
    CHECK(desk.shown().document == desk.program.state().document);
    CHECK(screen_shows("Birds"));
    CHECK(screen_shows("Tk 2"));
    const MatrixGrid& weights = grid_of(desk, TensorId::weights);
    CHECK(weights.rows == 4);
    CHECK(weights.cols == 2);

    // Nothing in the field is said to be wrong, and the last problem stays.
    desk.type_kv_sentence("");
    CHECK(desk.program.state().error.find("no word") != std::string::npos);
    CHECK(desk.problem().kv_tokens.size() == 2);
    CHECK(desk.program.state().kv_sentence.empty());
    desk.type_kv_sentence("A dog ran away");
    CHECK(desk.program.state().error.empty());
    CHECK(desk.problem().dims.Tk == 4);

    // Queries are made from the first field alone.
    desk.type_sentence("The old man");
    CHECK(desk.problem().dims.Tq == 3);
    CHECK(desk.problem().kv_tokens.size() == 4);
    CHECK(desk.program.state().kv_sentence == "A dog ran away");

    desk.choose("attention", self);
    CHECK_FALSE(desk.driver.find("##kv_sentence"));
    CHECK_FALSE(desk.problem().cross());
    desk.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    desk.settle();
    CHECK(desk.problem().kv_tokens.size() == 4);
    CHECK(desk.program.state().kv_sentence == "A dog ran away");
    CHECK(desk.driver.find("##kv_sentence"));
}

TEST_CASE("numbers of every stage are right with two sentences of different lengths", "[gui][cross]") {
    const std::string preset = GENERATE("translation", "random");
    Desk desk(preset);
    desk.act(SetSentence{"The cat drinks water"});
    desk.act(SetKvSentence{"Le chat boit de l'eau froide"});
    const Trace trace = computed(desk.problem());
    int compared = 0;
    for (int g = 0; g < group_count; ++g)
        for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{3}}) {
            const auto group = static_cast<StageGroup>(g);
            INFO(preset << ", " << group_info(group).label << ", row " << row);
            desk.act(GoTo{group, row});
            for (const Projection projection : {Projection::q, Projection::k, Projection::v}) {
                if (group != StageGroup::qkv && projection != Projection::q)
                    continue;
                desk.act(ShowProjection{projection});
                compared += check_printed_numbers(desk.program.canvas(), trace, desk.problem());
            }
        }
    CHECK(compared > 200);
}

TEST_CASE("every way to look at weights shows both sentences", "[gui][cross]") {
    Desk desk("translation");
    for (const WeightsView way :
         {WeightsView::heatmap, WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        INFO(static_cast<int>(way));
        desk.act(GoTo{StageGroup::weights, way == WeightsView::text ? 1 : -1});
        desk.act(ShowWeightsAs{way});
        for (const char* word : {"drinks", "froide", "chat"})
            CHECK(screen_shows(word));
        CHECK(desk.program.state().error.empty());
    }
}

TEST_CASE("a preset opens with both sentences, and a project keeps them", "[gui][cross][files]") {
    TemporaryFolder folder;
    FilesDesk desk(folder);
    desk.Desk::choose("preset", "Translation");
    CHECK(desk.program.state().sentence == "The cat drinks cold water");
    CHECK(desk.program.state().kv_sentence == "Le chat boit de l'eau froide");
    desk.type_kv_sentence("Le chien boit du lait");
    desk.act(EditCell{{TensorId::x_kv, {0, 1, 3, 0}}, 2});
    desk.save_as(folder.file("two.headscope"));
    const project::Recipe kept = project::open_project(folder.file("two.headscope")).recipe;
    CHECK(kept.kv_sentence == "Le chien boit du lait");

    Desk other;
    other.program.open_path(folder.file("two.headscope"));
    other.settle();
    CHECK(other.program.state().kv_sentence == "Le chien boit du lait");
    CHECK(other.problem().x_kv->at(0, 1, 3) == 2);
    CHECK(other.driver.find("##kv_sentence"));
}

TEST_CASE("the fields of two sentences fit a small window", "[gui][cross]") {
    for (const auto& [width, height] : {std::pair(1280.0F, 720.0F), std::pair(1600.0F, 1000.0F)}) {
        Desk desk("translation", "", width, height);
        const auto first = desk.driver.find("##sentence"), second = desk.driver.find("##kv_sentence");
        REQUIRE(first);
        REQUIRE(second);
        CHECK(first->w > 130);
        CHECK(second->w > 130);
        CHECK(first->right() < second->x);
        for (const ScreenItem& item : screen_items())
            if (item.window == "Headscope" && item.area.y < 50 && item.label != "##kv_sentence" &&
                item.area.h > 20 && item.area.w < width / 2) {
                INFO(item.label);
                CHECK((item.area.right() <= second->x || item.area.x >= second->right()));
                CHECK(item.area.right() <= width);
            }
    }
}

} // namespace headscope::test
