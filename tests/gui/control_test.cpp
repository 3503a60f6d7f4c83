#include "app/commands/actions.h"
#include "app/shell/control/control.h"
#include "app/shell/control/requests/requests.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/plain_text.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/gui/support/files_user.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// Messages of other programs through the socket: every action with every kind of invalid value, and names of
// files that are not UTF-8.

namespace headscope::test {

using namespace headscope::app;
namespace {

using nlohmann::json;

/// The answer to a line; checks that it is one line of JSON in UTF-8 with all that an answer has.
json asked(User& user, const std::string& line) {
    std::optional<std::string> answer = answer_line(user.program, line, 1);
    if (!answer) { // it waits until the window is at rest
        user.settle();
        answer = answer_line(user.program, line, 1);
    }
    REQUIRE(answer);
    CHECK(answer->find('\n') == std::string::npos);
    const json parsed = parse_json_with_bytes(*answer, "the answer"); // refuses what is not UTF-8
    REQUIRE((parsed.is_object() && parsed.contains("id") && parsed.at("ok").is_boolean()));
    CHECK(parsed.at("ok").get<bool>() == !parsed.contains("error"));
    if (parsed.contains("error"))
        CHECK(!parsed.at("error").get<std::string>().empty());
    return parsed;
}

/// Changes the current folder of the process while it exists.
class WorkingFolder {
public:
    explicit WorkingFolder(const std::string& path) : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(path);
    }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;
    ~WorkingFolder() { std::filesystem::current_path(before_); }

private:
    std::filesystem::path before_;
};

void check_state(User& user) {
    if (user.view().playing) // by the action "play": it would not come to rest
        user.act(TogglePlay{});
    if (user.program.state().model.generating) // by "write on", which waits between tokens
        user.act(SetGenerating{false});
    user.settle();
    if (!user.program.settled()) // the state before a step began to fade out in the last frame
        user.settle();
    const json answer = asked(user, R"({"id": "now", "action": "report"})");
    REQUIRE(answer.at("ok") == true);
    CHECK(answer.at("id") == "now");
    const json& report = answer.at("report");
    CHECK(report.at("settled") == true);
    CHECK(report.at("tokens").size() == user.problem().tokens.size());
    CHECK(report.at("error").is_string());
}

/// JSON that is a value of no action, or hardly one.
std::vector<std::string> bad_values(const std::string& folder) {
    std::vector<std::string> values{"null",
                                    "true",
                                    "0",
                                    "-1",
                                    "1e308",
                                    "-1e-320",
                                    "1e999",
                                    "18446744073709551616",
                                    "-9223372036854775809",
                                    "NaN",
                                    "-Infinity",
                                    "[]",
                                    "{}",
                                    R"(["stage"])",
                                    R"({"value": "stage"})",
                                    R"("")",
                                    R"("   ")",
                                    R"("\u0000")",
                                    R"("a\u0000b")",
                                    R"("\udcff")",
                                    R"("caf\udce9.npy")",
                                    R"("\ud83d")",
                                    R"("\ufffe\ufeff")",
                                    R"("NaN")",
                                    R"("1e999")",
                                    R"("..")",
                                    R"("/")",
                                    R"("/dev/null")",
                                    R"("/dev/zero")",
                                    R"("/proc/self/mem")",
                                    R"("~")",
                                    R"("\n\r\t\u001b[2J")",
                                    "\"\xff\"",
                                    "'stage'",
                                    ""};
    values.push_back("\"" + folder + "/fifo\"");
    values.push_back("\"" + folder + "/no\\udcff/such\"");
    values.push_back("\"" + std::string(20'000, 'x') + "\"");
    values.push_back("\"/" + std::string(20'000, 'x') + ".headscope\"");
    for (const int depth : {30, 70, 20'000})
        values.push_back(std::string(static_cast<std::size_t>(depth), '[') +
                         std::string(static_cast<std::size_t>(depth), ']'));
    return values;
}

std::vector<std::string> action_names() {
    std::vector<std::string> names{R"("stage")",
                                   R"("sentence")",
                                   R"("open")",
                                   R"("save")",
                                   R"("actions")",
                                   R"("report")",
                                   R"("settle")",
                                   R"("")",
                                   R"("no such action")",
                                   R"("STAGE")",
                                   R"("\udcff")",
                                   R"("a\u0000b")",
                                   "null",
                                   "1",
                                   "[]",
                                   "{}",
                                   "\"" + std::string(20'000, 'x') + "\""};
    for (const ActionInfo& row : actions())
        names.push_back(json(row.id).dump());
    for (const Request& request : requests())
        names.push_back(json(request.id).dump());
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace

TEST_CASE("every action with every kind of bad value is answered, and the window goes on", "[gui][control]") {
    TemporaryFolder folder;
    const Environment offline("HF_HUB_OFFLINE", "1"); // some of the values are names of models
    const WorkingFolder inside(folder.file(""));      // and some are names of files to write
    REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
    const std::string path =
        GENERATE(std::string(), std::string("/attention/lh_f32.npy"), std::string("/models/llama_tiny_tied"));
    CAPTURE(path);
    FilesUser user(folder);
    if (!path.empty())
        user.open(test_data(path), path.starts_with("/models") ? "12,7,30,5" : "");
    const std::vector<std::string> values = bad_values(folder.file(""));
    int refused = 0;
    for (const std::string& name : action_names()) {
        INFO("action " << name.substr(0, 60));
        for (const std::string& value : values) {
            INFO("value " << value.substr(0, 60));
            const json answer =
                asked(user, R"({"id": [7], "action": )" + name + R"(, "value": )" + value + "}");
            if (answer.at("ok") == true)
                check_state(user);
            else
                ++refused;
        }
        // Without a value it is done, where it can be.
        asked(user, R"({"id": 1, "action": )" + name + "}");
        while (user.program.state().files.question || user.program.state().files.hub)
            asked(user, R"({"action": "cancel"})");
        check_state(user);
    }
    CHECK(refused > 3000);
    for (const std::string& line :
         {std::string(), std::string("{"), std::string("[1]"), std::string("\xff\xfe"), std::string(3, '\0'),
          std::string(R"({"id": 1})"), std::string(R"({"action": "report", "action": "report"})"),
          std::string(R"({"id": "\udcff", "action": "no"})"), std::string(R"({"id": 1e999, "action": "no"})"),
          std::string(R"({"id": 1, "action": "report"} x)"), std::string(R"("report")")}) {
        CAPTURE(line);
        CHECK(asked(user, line).at("ok") == false);
    }
    CHECK(asked(user, R"({"id": "\udcff", "action": "no"})").at("id") == "\xff");
    check_state(user);
}

TEST_CASE("files whose names are not UTF-8 are opened, saved, shown and opened again", "[gui][control]") {
    TemporaryFolder folder;
    FilesUser user(folder);
    const std::string saved = folder.file("w\xff\xc3\xa9.headscope"), weights = folder.file("caf\xe9.npy");
    std::filesystem::copy_file(test_data("/attention/lh_f32.npy"), weights);
    const auto done = [&](const char* action, const std::string& path) {
        const json answer = asked(user, dump_json(json{{"action", action}, {"value", path}}));
        INFO(answer.dump(-1, ' ', false, json::error_handler_t::replace));
        CHECK(answer.at("ok") == true);
        user.settle();
    };
    user.edit();
    done("save", saved);
    CHECK(std::filesystem::exists(saved));
    CHECK(asked(user, R"({"action": "report"})").at("report").at("project") == saved);
    CHECK(user.program.report(1).find(R"(w\udcff)"
                                      "\xc3\xa9") != std::string::npos);
    CHECK(user.program.title() == "w\uFFFD\u00E9.headscope · Headscope");
    CHECK(screen_shows("Saved w\uFFFD\u00E9.headscope"));

    done("open", weights);
    CHECK(asked(user, R"({"action": "report"})").at("report").at("attention").at("file") == "caf\xe9.npy");
    CHECK(user.program.title().find("caf\uFFFD.npy") != std::string::npos);
    CHECK_FALSE(user.program.state().head_grid->ready() == 0);
    const json gone = asked(user, dump_json(json{{"action", "open"}, {"value", folder.file("no\xfe")}}));
    CHECK(gone.at("error").get<std::string>().find("no\xfe") != std::string::npos);

    // From the list of recent files, which outlives the program.
    CHECK(user.files().recent.front() == weights);
    user.choose("w\uFFFD\u00E9.headscope");
    user.settle();
    CHECK(user.files().path == saved);
    CHECK(user.edited() == 3.25F);
    FilesUser later(folder);
    REQUIRE(later.files().recent.size() == 2);
    CHECK((later.files().recent[0] == saved && later.files().recent[1] == weights));

    // From the dialog, by keyboard, which must not change the name.
    user.press(GLFW_KEY_O, GLFW_MOD_CONTROL);
    REQUIRE(user.files().chooser);
    for (int rows = 0; rows < 20 && user.files().chooser->chooser.text() != "caf\xe9.npy"; ++rows)
        user.press(GLFW_KEY_DOWN);
    CHECK(screen_shows("caf\uFFFD.npy"));
    user.press(GLFW_KEY_ENTER);
    user.settle();
    CAPTURE(user.program.state().error, user.files().chooser ? user.files().chooser->chooser.text() : "");
    REQUIRE_FALSE(user.files().chooser);
    CHECK(asked(user, R"({"action": "report"})").at("report").at("attention").at("file") == "caf\xe9.npy");
}

TEST_CASE("work on a file whose name is not UTF-8 is recovered under that name", "[gui][control]") {
    TemporaryFolder folder;
    const std::string saved = folder.file("w\xff.headscope");
    {
        FilesUser user(folder);
        user.edit();
        CHECK(asked(user, dump_json(json{{"action", "save"}, {"value", saved}})).at("ok") == true);
        user.settle();
        user.edit(-7);
        REQUIRE(user.files().save_state == SaveState::autosaved);
    }
    FilesUser user(folder);
    REQUIRE(user.files().recoveries.size() == 1);
    user.act(RecoverProject{user.files().recoveries.front().path});
    CHECK(user.files().path == saved);
    CHECK(user.edited() == -7);
}

} // namespace headscope::test
