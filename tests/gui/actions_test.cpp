#include "app/commands/actions.h"
#include "app/shell/control/control.h"
#include "app/views/action_context.h"
#include "core/base/json.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

// The table of actions through the real path of keys: each key does what its row sends.

namespace headscope::test {

using namespace headscope::app;
namespace {

int glfw_key(Key key) {
    constexpr std::pair<Key, int> named[] = {{Key::space, GLFW_KEY_SPACE},
                                             {Key::comma, GLFW_KEY_COMMA},
                                             {Key::minus, GLFW_KEY_MINUS},
                                             {Key::period, GLFW_KEY_PERIOD},
                                             {Key::slash, GLFW_KEY_SLASH},
                                             {Key::plus, GLFW_KEY_EQUAL},
                                             {Key::left_bracket, GLFW_KEY_LEFT_BRACKET},
                                             {Key::right_bracket, GLFW_KEY_RIGHT_BRACKET},
                                             {Key::left, GLFW_KEY_LEFT},
                                             {Key::right, GLFW_KEY_RIGHT},
                                             {Key::up, GLFW_KEY_UP},
                                             {Key::down, GLFW_KEY_DOWN},
                                             {Key::page_up, GLFW_KEY_PAGE_UP},
                                             {Key::page_down, GLFW_KEY_PAGE_DOWN},
                                             {Key::home, GLFW_KEY_HOME},
                                             {Key::end, GLFW_KEY_END},
                                             {Key::tab, GLFW_KEY_TAB},
                                             {Key::enter, GLFW_KEY_ENTER},
                                             {Key::escape, GLFW_KEY_ESCAPE},
                                             {Key::erase, GLFW_KEY_DELETE},
                                             {Key::backspace, GLFW_KEY_BACKSPACE},
                                             {Key::F1, GLFW_KEY_F1},
                                             {Key::F5, GLFW_KEY_F5},
                                             {Key::F10, GLFW_KEY_F10},
                                             {Key::F11, GLFW_KEY_F11},
                                             {Key::menu, GLFW_KEY_MENU}};
    for (const auto& [one, code] : named)
        if (one == key)
            return code;
    if (key >= digit(0) && key <= digit(9))
        return GLFW_KEY_0 + (static_cast<int>(key) - static_cast<int>(digit(0)));
    return GLFW_KEY_A + (static_cast<int>(key) - static_cast<int>(Key::A));
}

int held(const Chord& chord) {
    return (chord.ctrl ? GLFW_MOD_CONTROL : 0) | (chord.shift ? GLFW_MOD_SHIFT : 0) |
           (chord.alt ? GLFW_MOD_ALT : 0);
}

std::string seen(const User& user) {
    const AppState& state = user.program.state();
    const AttentionView& attention = state.view.attention;
    const analysis::ReadingOptions& reading = attention.reading;
    return signature(user.program) + " layer " + std::to_string(attention.layer) + " board " +
           std::to_string(attention.head_grid_open) + " map " + std::to_string(attention.map.zoom) + " log " +
           std::to_string(attention.log_colours) + " read " + std::to_string(reading.hide_first_token) +
           std::to_string(reading.hide_special_tokens) + std::to_string(reading.merge_words) +
           std::to_string(reading.means) + " error " + state.error + " number " +
           std::to_string(state.number.active) + " chooser " +
           std::to_string(state.files.chooser.has_value()) + " quits " +
           std::to_string(user.program.quitting()) + " copied " + user.driver.clipboard;
}

/// Returns the state of the program after every key of the table, one after the other, without keys that are
/// not available. by_key: presses the key, else sends the action of its row.
std::vector<std::pair<std::string, std::string>> run_actions(const std::string& path, bool number,
                                                             bool by_key) {
    User user("eight-experts");
    if (!path.empty())
        user.open(path, path.find("models") != std::string::npos ? "12,7,30,5" : "");
    std::vector<std::pair<std::string, std::string>> out;
    for (const ActionInfo& row : actions())
        for (const Chord& chord : row.keys) {
            if (number) {
                user.act(GoTo{StageGroup::output});
                user.act(Select{CellAddress{TensorId::W_O, {1, 1, 0, 0}}});
            }
            const ActionContext now = action_context(user.program.state());
            if (!row.applies(now) || !why_not(row, now).empty())
                continue;
            if (row.id == "write on")
                continue; // the clock decides how many tokens it generates
            const std::string before = seen(user);
            if (by_key)
                user.driver.key(glfw_key(chord.key), held(chord));
            else
                for (const Action& action : row.make_actions(now))
                    user.program.act(action);
            user.settle();
            std::string after = seen(user);
            // Dear ImGui's own Tab puts the caret into a text field besides, where the last click left its
            // focus.
            if (chord.key == Key::tab)
                after.erase(after.find(" number "), std::string_view(" number 0").size());
            out.emplace_back(row.id + ", " + chord_text(chord), (after == before ? "nothing: " : "") + after);
            // Closes everything that was opened, and stops playback, whose steps depend on the clock.
            if (user.view().playing)
                user.act(TogglePlay{});
            if (user.program.state().files.chooser)
                user.act(CloseChooser{});
            for (int times = 0; times < 2; ++times)
                user.driver.key(GLFW_KEY_ESCAPE);
            user.settle();
        }
    return out;
}

} // namespace

TEST_CASE("each key does what its row of the table sends", "[gui][actions]") {
    const std::string paths[] = {"", test_data("/attention/lh_f32.npy"),
                                 test_data("/models/llama_tiny_tied")};
    std::size_t done = 0;
    for (const std::string& path : paths)
        for (const bool number : {false, true}) {
            if (number && !path.empty())
                continue;
            const auto keyed = run_actions(path, number, true), sent = run_actions(path, number, false);
            REQUIRE(keyed.size() == sent.size());
            for (std::size_t i = 0; i < keyed.size(); ++i) {
                INFO(path << (number ? " number selected, " : " ") << keyed[i].first);
                CHECK(keyed[i].first == sent[i].first);
                CHECK(keyed[i].second == sent[i].second);
            }
            done += keyed.size();
        }
    CHECK(done > 150);
}

TEST_CASE("the report names what can be done, with keys and reasons", "[gui][actions]") {
    User user;
    const auto listed = [&](const std::string& id) {
        const auto report = nlohmann::json::parse(user.program.report(1));
        for (const auto& one : report.at("actions"))
            if (one.at("id") == id)
                return one;
        return nlohmann::json();
    };
    CHECK(listed("save").at("keys") == nlohmann::json::array({"Ctrl S"}));
    CHECK(listed("save").at("title") == "Save");
    CHECK(listed("save").at("group") == "Files");
    CHECK(listed("redo").at("keys").size() == 2);
    CHECK(listed("next stage").at("missing") == "");
    CHECK(listed("zero").at("missing") == "Select a number of X, W_Q to W_O or a bias first");
    CHECK(listed("board").is_null());
    user.act(GoTo{StageGroup::output});
    user.act(Select{CellAddress{TensorId::W_O, {1, 1, 0, 0}}});
    CHECK(listed("zero").at("missing") == "");
    CHECK(listed("next stage").at("missing") != "");
    user.open(test_data("/attention/lh_f32.npy"));
    CHECK(listed("board").at("keys") == nlohmann::json::array({"B"}));
    CHECK(listed("next stage").is_null());
}

TEST_CASE("a line from outside does what its action does, and its answer says what came of it", "[gui]") {
    User user;
    const auto ask = [&](const std::string& line) {
        const std::optional<std::string> answer = answer_line(user.program, line, 1);
        REQUIRE(answer);
        user.settle();
        return parse_json_with_bytes(*answer, "the answer");
    };
    const auto error = [&](const std::string& line) {
        const nlohmann::json answer = ask(line);
        CHECK(answer["ok"] == false);
        return answer.value("error", "");
    };
    using Catch::Contains;
    CHECK(ask(R"({"id": 1, "action": "stage", "value": "scores"})") ==
          nlohmann::json({{"id", 1}, {"ok", true}}));
    CHECK(user.view().group == StageGroup::scores);
    CHECK(ask(R"({"id": {"a": []}, "action": "next stage"})")["id"].dump() == R"({"a":[]})");
    CHECK(user.view().group == StageGroup::scaled);
    CHECK_THAT(error(R"({"action": "open", "value": "/nowhere"})"), Contains("/nowhere"));
    const std::string cut = nlohmann::json(test_data("/attention/bad_cut.npy")).dump();
    CHECK(ask(R"({"action": "open", "value": )" + cut + "}")["ok"] == true); // a worker reads the file
    CHECK_THAT(error(R"({"action": "settle"})"), Contains("bad_cut.npy"));
    ask(R"({"action": "sentence", "value": "The old cat"})");
    CHECK(user.problem().tokens == std::vector<std::string>{"The", "old", "cat"});
    CHECK(ask(R"({"action": "report"})")["report"]["tokens"].size() == 3);
    const nlohmann::json listed = ask(R"({"action": "actions"})")["actions"];
    const auto lists = [&](const char* id) {
        return std::ranges::any_of(listed, [&](const nlohmann::json& row) { return row["id"] == id; });
    };
    CHECK((lists("stage") && lists("sentence") && lists("open") && lists("next stage") && lists("undo")));
    CHECK(lists("save"));

    CHECK_THAT(error(R"({"action": "stage", "value": "wings"})"),
               Contains("there is no stage \"wings\" here"));
    CHECK_THAT(error(R"({"action": "stage"})"), Contains("needs a value"));
    CHECK_THAT(error(R"({"action": "undo", "value": "2"})"), Contains("takes no value"));
    CHECK_THAT(error(R"({"action": "stage", "value": 3})"), Contains("is not text"));
    CHECK_THAT(error(R"({"action": "save"})"), Contains("needs a value"));
    CHECK_THAT(error(R"({"action": "save as"})"), Contains("there is no action \"save as\""));
    CHECK_THAT(error(R"({"action": "save", "value": "/tmp/x.npy"})"), Contains("should end in .headscope"));
    CHECK(ask(R"({"action": "save", "value": "/nowhere/x.headscope"})")["ok"] == true);
    CHECK_THAT(error(R"({"action": "settle"})"), Contains("/nowhere"));
    CHECK_THAT(error(R"({"action": "number below"})"), Contains("can't be done here"));
    CHECK_THAT(error(R"({"action": "sentence", "value": "  "})"), Contains("no word"));
    CHECK_THAT(error(R"({"action": "open", "value": "/nowhere"})"), Contains("unsaved changes"));
    for (const char* line : {"", "[1]", R"({"id": 1})", "{", "\xFF"})
        error(line);
}

} // namespace headscope::test
