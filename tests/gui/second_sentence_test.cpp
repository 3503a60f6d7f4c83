#include "core/project/project_file.h"
#include "tests/catch.h"
#include "tests/gui/support/files_user.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>

// Cross-attention in the window: a second field, keys of their own words, pages with Tq != Tk.

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr const char* cross = "cross: a second sentence";
constexpr const char* self = "self: one sentence";

const MatrixGrid& grid_of(const User& user, TensorId tensor) {
    const auto& grids = user.program.canvas().grids;
    const auto grid = std::ranges::find(grids, tensor, &MatrixGrid::tensor);
    REQUIRE(grid != grids.end());
    return *grid;
}

} // namespace

TEST_CASE("cross-attention is switched on, typed and switched off", "[gui][cross]") {
    User user;
    CHECK_FALSE(user.driver.find("##kv_sentence"));
    user.choose("attention", cross);
    CHECK(user.driver.find("##kv_sentence"));
    CHECK(user.program.state().kv_sentence == "A dog ran away quickly");
    CHECK(screen_shows("W_K and W_V read the second sentence"));

    user.type_kv_sentence("Birds sing");
    CHECK(user.problem().kv_tokens == std::vector<std::string>{"Birds", "sing"});
    CHECK(user.problem().tokens.size() == 4);
    CHECK(user.shown().document == user.program.state().document);
    CHECK(screen_shows("Birds"));
    CHECK(screen_shows("Tk 2"));
    const MatrixGrid& weights = grid_of(user, TensorId::weights);
    CHECK(weights.rows == 4);
    CHECK(weights.cols == 2);

    // Nothing in the field is said to be wrong, and the last problem stays.
    user.type_kv_sentence("");
    CHECK(user.program.state().error.find("no word") != std::string::npos);
    CHECK(user.problem().kv_tokens.size() == 2);
    CHECK(user.program.state().kv_sentence.empty());
    user.type_kv_sentence("A dog ran away");
    CHECK(user.program.state().error.empty());
    CHECK(user.problem().dims.Tk == 4);

    // Queries are made from the first field alone.
    user.type_sentence("The old man");
    CHECK(user.problem().dims.Tq == 3);
    CHECK(user.problem().kv_tokens.size() == 4);
    CHECK(user.program.state().kv_sentence == "A dog ran away");

    user.choose("attention", self);
    CHECK_FALSE(user.driver.find("##kv_sentence"));
    CHECK_FALSE(user.problem().cross());
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    CHECK(user.problem().kv_tokens.size() == 4);
    CHECK(user.program.state().kv_sentence == "A dog ran away");
    CHECK(user.driver.find("##kv_sentence"));
}

TEST_CASE("numbers of every stage are right with two sentences of different lengths", "[gui][cross]") {
    const std::string preset = GENERATE("translation", "random");
    User user(preset);
    user.act(SetSentence{"The cat drinks water"});
    user.act(SetKvSentence{"Le chat boit de l'eau froide"});
    const Trace trace = computed(user.problem());
    int compared = 0;
    for (int g = 0; g < group_count; ++g)
        for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{3}}) {
            const auto group = static_cast<StageGroup>(g);
            INFO(preset << ", " << group_info(group).label << ", row " << row);
            user.act(GoTo{group, row});
            for (const Projection projection : {Projection::q, Projection::k, Projection::v}) {
                if (group != StageGroup::qkv && projection != Projection::q)
                    continue;
                user.act(ShowProjection{projection});
                compared += check_printed_numbers(user.program.canvas(), trace, user.problem());
            }
        }
    CHECK(compared > 200);
}

TEST_CASE("every way to look at weights shows both sentences", "[gui][cross]") {
    User user("translation");
    for (const WeightsView way :
         {WeightsView::heatmap, WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        INFO(static_cast<int>(way));
        user.act(GoTo{StageGroup::weights, way == WeightsView::text ? 1 : -1});
        user.act(ShowWeightsAs{way});
        for (const char* word : {"drinks", "froide", "chat"})
            CHECK(screen_shows(word));
        CHECK(user.program.state().error.empty());
    }
}

TEST_CASE("a preset opens with both sentences, and a project keeps them", "[gui][cross][files]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    user.User::choose("preset", "Translation");
    CHECK(user.program.state().sentence == "The cat drinks cold water");
    CHECK(user.program.state().kv_sentence == "Le chat boit de l'eau froide");
    user.type_kv_sentence("Le chien boit du lait");
    user.act(EditCell{{TensorId::x_kv, {0, 1, 3, 0}}, 2});
    user.save_as(folder.file("two.headscope"));
    const project::Recipe kept = project::open_project(folder.file("two.headscope")).recipe;
    CHECK(kept.kv_sentence == "Le chien boit du lait");

    User other;
    other.program.open_path(folder.file("two.headscope"));
    other.settle();
    CHECK(other.program.state().kv_sentence == "Le chien boit du lait");
    CHECK(other.problem().x_kv->at(0, 1, 3) == 2);
    CHECK(other.driver.find("##kv_sentence"));
}

TEST_CASE("the fields of two sentences fit a small window", "[gui][cross]") {
    for (const auto& [width, height] : {std::pair(1280.0F, 720.0F), std::pair(1600.0F, 1000.0F)}) {
        User user("translation", "", width, height);
        const auto first = user.driver.find("##sentence"), second = user.driver.find("##kv_sentence");
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
