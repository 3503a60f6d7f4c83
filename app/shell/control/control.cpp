#include "app/shell/control/control.h"

#include "app/shell/control/named_actions.h"
#include "app/shell/program.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/checkpoint/files/packaged_models.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using Json = nlohmann::ordered_json;

/// Actions with a value, in addition to those of the table.
struct ValueAction {
    const char* id;
    const char* value; ///< description of the value
};
constexpr ValueAction value_actions[] = {
    {"stage", "a stage, by its name on the strip"},
    {"sentence", "another sentence, or prompt"},
    {"text-pair", "the second of two texts of a checkpoint, or empty"},
    {"answer", "the id of a question of the open step, =, and the answer"},
    {"open", "the path of a file or folder"},
    {"save", "the path of a project, .headscope"}};

Json actions_json(const Program& program) {
    Json listed = Json::array();
    for (const ValueAction& one : value_actions)
        listed.push_back({{"id", one.id}, {"value", one.value}});
    const nlohmann::json report = parse_json_with_bytes(program.report(1), "the report");
    for (const nlohmann::json& row : report["actions"])
        if (can_name(action(row["id"].get<std::string>())))
            listed.push_back(Json(row));
    return listed;
}

Actions actions_of(const Program& program, const std::string& id, const std::optional<std::string>& value) {
    const bool takes =
        std::ranges::any_of(value_actions, [&](const ValueAction& one) { return one.id == id; });
    if (takes != value.has_value())
        fail_input(takes ? tr("control.needs_value_add", "\"{}\" needs a value; add it", id)
                         : tr("control.takes_no_value_leave", "\"{}\" takes no value; leave it out", id));
    if (id == "stage")
        return go_to_stage(program.state(), *value);
    if (id == "sentence")
        return type_sentence(program.state(), *value);
    if (id == "text-pair")
        return type_pair(program.state(), *value);
    if (id == "answer")
        return answer_question(*value);
    const bool known =
        std::ranges::any_of(actions(), [&](const ActionInfo& row) { return row.id == id && can_name(row); });
    if (!known)
        fail_input(tr("control.no_action_action_actions",
                      "there is no action \"{}\"; the action \"actions\" lists them", id));
    return named_action(program.state(), id);
}

void require_no_fault(const Program& program) {
    if (const std::string fault = program.new_fault(); !fault.empty())
        fail_input(fault);
}

/// Returns the absolute path of a value. Throws Error(input) if the value cannot be a path.
std::string path_in(const std::string& id, const std::string& value) {
    if (value.empty())
        fail_input(
            tr("control.needs_path_file_folder", "\"{}\" needs the path of a file or folder; name one", id));
    if (value.find('\0') != std::string::npos)
        fail_input(tr("control.path_cannot_hold_character",
                      "a path cannot contain the character U+0000; remove it"));
    return std::filesystem::absolute(value).lexically_normal().string();
}

/// Performs an action; throws Error(input) with the program's message if it fails at once.
void act(Program& program, const std::string& id, const std::optional<std::string>& value) {
    program.begin_action(id == "open"                            ? RepeatedRequest::file
                         : id == "sentence" || id == "text-pair" ? RepeatedRequest::prompt
                                                                 : RepeatedRequest::nothing);
    if (id == "open" && value)
        // The name of a packaged model is not a path.
        program.open_path(checkpoint::is_packaged(*value) ? *value : path_in(id, *value));
    else if (id == "save" && value)
        program.save_path(path_in(id, *value));
    else
        for (const Action& one : actions_of(program, id, value))
            program.act(one);
    if (!program.state().error.empty())
        fail_input(program.state().error);
    if (program.state().files.question)
        fail_input(
            tr("control.window_asks_about_unsaved", "the window asks about unsaved changes; answer there"));
}

std::string refusal(const std::string& why) {
    return dump_json(Json{{"id", nullptr}, {"ok", false}, {"error", why}});
}

std::optional<std::string> text_field(const nlohmann::json& line, const char* name) {
    const auto field = line.find(name);
    if (field == line.end() || field->is_null())
        return std::nullopt;
    if (!field->is_string())
        fail_input(
            tr("control.no_text_write_quotation", "\"{}\" is not text; write it in quotation marks", name));
    return field->get<std::string>();
}

} // namespace

std::optional<std::string> answer_line(Program& program, const std::string& line, float scale) {
    Json answer{{"id", nullptr}};
    try {
        const nlohmann::json asked = parse_json_with_bytes(line, tr("control.line", "the line"));
        if (asked.is_object())
            answer["id"] = asked.value("id", nlohmann::json());
        const auto id = asked.is_object() ? text_field(asked, "action") : std::nullopt;
        if (!id)
            fail_input(tr("control.line_holds_one_json", "a line holds one JSON object, such as {}",
                          R"({"id": 1, "action": "next stage"})"));
        const std::optional<std::string> value = text_field(asked, "value");
        if (*id == "settle" && !program.settled())
            return std::nullopt;
        if (*id == "actions")
            answer["actions"] = actions_json(program);
        else if (*id == "report")
            answer["report"] = parse_json_with_bytes(program.report(scale), "the report");
        else if (*id == "settle")
            require_no_fault(program);
        else
            act(program, *id, value);
        answer["ok"] = true;
    } catch (const Error& fault) {
        answer["ok"] = false;
        answer["error"] = fault.what();
    } catch (const std::exception& fault) { // from a library: must not end the program
        answer["ok"] = false;
        answer["error"] = fault.what();
    }
    return dump_json(answer);
}

Control::Control(Program& program, const std::string& socket, const std::function<void()>& wake)
    : program_(program), wake_(wake), socket_(socket, wake) {}

void Control::follow(float scale) {
    for (ControlLine& line : socket_.take())
        waiting_.push_back(std::move(line));
    std::vector<std::uint64_t> behind; // clients whose earlier line is pending
    bool answered = false;
    std::erase_if(waiting_, [&](const ControlLine& line) {
        if (std::ranges::find(behind, line.from) != behind.end())
            return false;
        std::optional<std::string> answer;
        if (!socket_.is_slow(line.from))
            answer = line.too_long ? refusal(tr("control.line_most_bytes_send",
                                                "a line has at most {} bytes; send a shorter one",
                                                ControlSocket::longest_line))
                                   : answer_line(program_, line.text, scale);
        if (!answer) {
            behind.push_back(line.from);
            return false;
        }
        socket_.answer(line.from, std::move(*answer));
        answered = true;
        return true;
    });
    if (answered)
        wake_(); // the next frame shows the result
}

} // namespace headscope::app
