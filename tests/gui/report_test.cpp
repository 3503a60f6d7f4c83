#include "app/commands/actions.h"
#include "app/draw/kit/theme.h"
#include "app/shell/control/control.h"
#include "core/base/assets.h"
#include "core/base/file.h"
#include "core/trace/stage.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>

// The report for other programs, against what assets/manual/automation.md promises.

namespace headscope::test {

using namespace headscope::app;
namespace {

using nlohmann::json;

json report_of(const User& user) {
    return json::parse(user.program.report(1));
}

std::uint64_t revision_of(const User& user) {
    return report_of(user).at("revision").get<std::uint64_t>();
}

/// Does it, and checks that the revision is larger than before, or else the same.
template<class Act>
void check_revision(User& user, bool grows, const Act& act) {
    const std::uint64_t before = revision_of(user);
    act();
    user.settle();
    CAPTURE(before, user.program.state().error);
    CHECK(revision_of(user) - before == (grows ? 1U : 0U));
}

json answer_to(User& user, const std::string& line) {
    std::optional<std::string> answer = answer_line(user.program, line, 1);
    if (!answer) {
        user.settle();
        answer = answer_line(user.program, line, 1);
    }
    REQUIRE(answer);
    return json::parse(*answer);
}

/// A problem of so many tokens with two heads whose scores are all 0.
Program::Options even_problem(std::int64_t T) {
    auto problem = std::make_shared<Problem>();
    problem->dims = {.B = 1, .Tq = T, .Tk = T, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    problem->x = std::make_shared<const Tensor>(Shape{1, T, 8}, 0.5F);
    problem->weights.W_Q = std::make_shared<const Tensor>(Shape{8, 8}, 0.0F);
    problem->weights.W_K = std::make_shared<const Tensor>(Shape{8, 8}, 0.0F);
    problem->weights.W_V = std::make_shared<const Tensor>(Shape{8, 8}, 0.5F);
    problem->weights.W_O = std::make_shared<const Tensor>(Shape{8, 8}, 0.5F);
    project::Recipe recipe;
    recipe.base = problem;
    recipe.mask = project::MaskChoice::causal;
    return {.recipe = recipe, .device = "cpu", .wake = {}};
}

json heatmap_of(const User& user) {
    const json report = report_of(user);
    for (const json& grid : report.at("grids"))
        if (grid.at("heatmap") == true && grid.at("tensor").get<std::string>().starts_with("weights"))
            return grid;
    FAIL("no heatmap of weights is on screen: " << report.at("grids").dump());
    return {};
}

/// Returns the color on screen at a point, from the last image that covers it.
figure::Color drawn_at(const User& user, float x, float y) {
    figure::Color colour = 0;
    for (const figure::SceneItem& item : user.program.canvas().scene.items)
        if (const auto* image = std::get_if<figure::GridItem>(&item);
            image != nullptr && image->area.contains(x, y)) {
            const auto col = static_cast<std::size_t>((x - image->area.x) / image->area.w *
                                                      static_cast<float>(image->cols)),
                       row = static_cast<std::size_t>((y - image->area.y) / image->area.h *
                                                      static_cast<float>(image->rows));
            colour = (*image->pixels)[row * static_cast<std::size_t>(image->cols) + col];
        }
    return colour;
}

/// Returns the color of a weight by the formula in the manual.
figure::Color reported_colour(const json& grid, const Ramp& ramp, double value) {
    const double low = grid.at("low"), high = grid.at("high");
    const bool log = low > 0;
    const double place = log ? 1 + std::log10(value / high) / 4 : (value - low) / (high - low);
    return ramp[static_cast<std::size_t>(std::lround(255 * std::clamp(place, 0.0, 1.0)))];
}

/// The rows of the table under a heading of the page: the texts in ` of the first column, and all of the row.
std::vector<std::pair<std::set<std::string>, std::string>> table_of(const std::string& heading) {
    std::istringstream page(asset("manual/automation.md"));
    std::vector<std::pair<std::set<std::string>, std::string>> rows;
    bool here = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            here = line == "## " + heading;
        if (!here || !line.starts_with("| `"))
            continue;
        std::set<std::string> names;
        const std::string first = line.substr(0, line.find(" | "));
        for (std::size_t begin = first.find('`'); begin != std::string::npos;) {
            const std::size_t end = first.find('`', begin + 1);
            names.insert(first.substr(begin + 1, end - begin - 1));
            begin = first.find('`', end + 1);
        }
        rows.emplace_back(std::move(names), line);
    }
    return rows;
}

std::set<std::string> names_under(const std::string& heading) {
    std::set<std::string> all;
    for (const auto& [names, line] : table_of(heading))
        all.insert(names.begin(), names.end());
    return all;
}

std::string row_under(const std::string& heading, const std::string& name) {
    for (const auto& [names, line] : table_of(heading))
        if (names.contains(name))
            return line;
    return "";
}

void collect(const json& object, std::set<std::string>& keys) {
    for (const auto& [key, value] : object.items())
        keys.insert(key);
}

} // namespace

TEST_CASE("the revision of a report grows with every change, undo and filter, and never falls",
          "[gui][control]") {
    User user;
    CHECK(revision_of(user) == 1);
    check_revision(user, true, [&] { user.act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, 2}); });
    check_revision(user, true, [&] { user.act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, 3}); });
    check_revision(user, true, [&] { user.act(MoveInHistory{-2}); });
    check_revision(user, true, [&] { user.act(MoveInHistory{1}); });
    check_revision(user, false, [&] { user.act(GoTo{StageGroup::scores}); });

    User model; // nothing unsaved asks before it opens
    model.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    CHECK(revision_of(model) == 2);
    for (int times = 0; times < 2; ++times) {
        check_revision(model, true, [&] { model.press_key(GLFW_KEY_F); }); // the first token hidden
        check_revision(model, true, [&] { model.press_key(GLFW_KEY_F); });
    }
    check_revision(model, true, [&] { model.act(SetGain{0, 0}); });
    check_revision(model, true, [&] { model.press_key(GLFW_KEY_Z, GLFW_MOD_CONTROL); });
}

TEST_CASE("settle tells what a survey or a prompt that was asked for is refused for, once",
          "[gui][control]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("broken.db"), "SQLite format 3 and nothing else");
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    const std::string open = json{{"action", "open"}, {"value", folder.file("broken.db")}}.dump();
    for (int times = 0; times < 2; ++times) { // asked again, it is refused again
        CHECK(answer_to(user, open).at("ok") == true);
        const json settled = answer_to(user, R"({"action": "settle"})");
        CHECK(settled.at("ok") == false);
        CHECK_THAT(settled.value("error", ""), Catch::Contains("broken.db"));
        CHECK(report_of(user).at("error") == settled.value("error", ""));
    }
    answer_to(user, R"({"action": "theme"})");
    const json after = answer_to(user, R"({"action": "settle"})");
    CAPTURE(after.dump());
    CHECK(after.at("ok") == true); // nothing of that went wrong
    answer_to(user, R"({"action": "sentence", "value": "no numbers"})");
    CHECK(answer_to(user, R"({"action": "settle"})").at("ok") == false);
    answer_to(user, R"({"action": "sentence", "value": "5,6,7"})");
    const json last = answer_to(user, R"({"action": "settle"})");
    CAPTURE(last.dump());
    CHECK(last.at("ok") == true);
}

TEST_CASE("settle waits for a frame after the action before it", "[gui][control]") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("broken.db"), "SQLite format 3 and nothing else");
    User user;
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    REQUIRE(answer_line(user.program, R"({"action": "settle"})", 1));
    REQUIRE(answer_line(user.program, R"({"action": "next stage"})", 1));
    CHECK_FALSE(answer_line(user.program, R"({"action": "settle"})", 1));
    CHECK(report_of(user).at("settled") == false);
}

TEST_CASE("the report names the colours that a map is drawn with", "[gui][control]") {
    constexpr std::int64_t T = 5000;
    SECTION("the map of a long text") {
        User user(even_problem(T));
        REQUIRE(user.shown().map != nullptr);
        user.act(GoToWeight{1200, 1000});
        const auto check = [&](const std::string& name, const Ramp& ramp) {
            const json grid = heatmap_of(user);
            CHECK(grid.at("map") == name);
            // Every weight of row i is 1 / (i + 1).
            const std::int64_t row = grid.at("origin").at(2), col = grid.at("origin").at(3);
            const float pitch_x = grid.at("pitch").at(0), pitch_y = grid.at("pitch").at(1);
            const std::int64_t i = row + grid.at("rows").get<std::int64_t>() / 2,
                               j = col + grid.at("cols").get<std::int64_t>() / 2;
            REQUIRE(j < i);
            const auto value = static_cast<double>(1 / static_cast<float>(i + 1));
            const float x = grid.at("area").at(0).get<float>() +
                            pitch_x * (static_cast<float>(j - col) + 0.25F),
                        y = grid.at("area").at(1).get<float>() +
                            pitch_y * (static_cast<float>(i - row) + 0.25F);
            CHECK(drawn_at(user, x, y) == reported_colour(grid, ramp, value));
        };
        const Theme& colours = theme(user.view().dark);
        check("head", colours.head(user.view().head, 2).ramp);
        CHECK(heatmap_of(user).at("low").get<double>() ==
              Approx(heatmap_of(user).at("high").get<double>() / 10'000));
        user.act(SetColourMap{ColourMap::cividis});
        check("cividis", colours.cividis);
        user.act(ColourMapBy{.linear = true});
        CHECK(heatmap_of(user).at("low") == 0);
        check("cividis", colours.cividis);
    }
    SECTION("the mean over the heads of a text of some length") {
        User user(even_problem(70));
        user.act(GoTo{StageGroup::weights});
        user.press_key(GLFW_KEY_M);
        CHECK(heatmap_of(user).at("map") == "neutral");
        user.press_key(GLFW_KEY_E);
        CHECK(heatmap_of(user).at("map") == "head");
        user.act(SetColourMap{ColourMap::magma});
        CHECK(heatmap_of(user).at("map") == "magma");
    }
}

TEST_CASE("the report names the texts and the preset only where they are what is shown", "[gui][control]") {
    User user;
    const auto is = [&](const char* field, const std::string& text) {
        INFO(field);
        CHECK(report_of(user).at(field) == text);
    };
    is("sentence", "The cat sat down"), is("kv_sentence", ""), is("preset", "first-lesson");
    user.open(test_data("/attention/lh_f32.npy"));
    is("sentence", ""), is("kv_sentence", ""), is("preset", "");
    user.open(test_data("/models/llama_tiny_tied"), "12,7,30,5");
    is("sentence", "12,7,30,5"), is("kv_sentence", ""), is("preset", "");
    user.open(test_data("/models/t5_tiny"), "5 6 7", "8 9");
    const json read = report_of(user);
    for (const checkpoint::Stack stack :
         {checkpoint::Stack::encoder, checkpoint::Stack::own, checkpoint::Stack::cross}) {
        user.act(ShowStack{stack});
        user.settle();
        is("sentence", stack == checkpoint::Stack::encoder ? "5 6 7" : "8 9");
        is("kv_sentence", stack == checkpoint::Stack::cross ? "5 6 7" : "");
        is("preset", "");
        CHECK(report_of(user).at("kv_tokens").empty() == (stack != checkpoint::Stack::cross));
    }
}

TEST_CASE("the manual names every field, group, dialog and stage of a report", "[gui][control]") {
    std::set<std::string> fields, of_actions, of_grids, groups;
    const auto look = [&](const User& user) {
        const json report = report_of(user);
        collect(report, fields);
        for (const json& row : report.at("actions"))
            collect(row, of_actions);
        for (const json& row : report.at("grids"))
            collect(row, of_grids);
    };
    {
        User user;
        look(user);
        user.act(OpenLesson{"masks"});
        look(user);
        user.act(CloseLesson{});
        user.open(test_data("/attention/lh_f32.npy"));
        look(user);
    }
    {
        User user(even_problem(5000));
        user.act(GoToWeight{1200, 1000});
        look(user);
    }
    const std::set<std::string> described = names_under("A report"), of_matrix = names_under("A matrix");
    CHECK(std::ranges::includes(described, fields));
    CHECK(of_actions == names_under("An action"));
    CHECK(std::ranges::includes(of_matrix, of_grids));
    for (const ActionInfo& row : actions())
        groups.emplace(row.group.english);
    const std::string group_row = row_under("An action", "group"), stage_row = row_under("A report", "stage"),
                      dialog_row = row_under("A report", "dialog");
    for (const std::string& group : groups) {
        CAPTURE(group);
        CHECK(group_row.find("`" + group + "`") != std::string::npos);
    }
    for (int step = 0; step < stop_count; ++step) {
        const std::string label(group_info(static_cast<StageGroup>(step)).label);
        CAPTURE(label);
        CHECK(stage_row.find("`" + label + "`") != std::string::npos);
    }
    for (const char* const dialog :
         {"unsaved changes", "damaged project", "file chooser", "recovery", "settings", "commands"})
        CHECK(dialog_row.find("`" + std::string(dialog) + "`") != std::string::npos);
}

} // namespace headscope::test
