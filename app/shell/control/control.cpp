#include "app/shell/control/control.h"

#include "app/shell/control/named_actions.h"
#include "app/shell/program.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using Json = nlohmann::ordered_json;

/// What takes a value, beside the actions of the table.
struct ValueAction {
    const char* id;
    const char* value; ///< what it is
};
constexpr ValueAction value_actions[] = {{"stage", "a stage, by its name on the strip"},
                                         {"sentence", "another sentence, or prompt"},
                                         {"text-pair", "the second of two texts of a checkpoint, or empty"},
                                         {"open", "the path of a file or folder"},
                                         {"save", "the path of a project, .headscope"}};

Json actions_json(const Program& program) {
    Json listed = Json::array();
    for (const ValueAction& one : value_actions)
        listed.push_back({{"id", one.id}, {"value", one.value}});
    const Json report = Json::parse(program.report(1));
    for (const Json& row : report["actions"])
        if (can_name(action(row["id"].get<std::string>())))
            listed.push_back(row);
    return listed;
}

Actions actions_of(const Program& program, const std::string& id, const std::optional<std::string>& value) {
    const bool takes =
        std::ranges::any_of(value_actions, [&](const ValueAction& one) { return one.id == id; });
    if (takes != value.has_value())
        fail_input(takes ? tr("\"{}\" needs a value; add it", id)
                         : tr("\"{}\" takes no value; leave it out", id));
    if (id == "stage")
        return go_to_stage(program.state(), *value);
    if (id == "sentence")
        return type_sentence(program.state(), *value);
    if (id == "text-pair")
        return type_pair(program.state(), *value);
    const bool known =
        std::ranges::any_of(actions(), [&](const ActionInfo& row) { return row.id == id && can_name(row); });
    if (!known)
        fail_input(tr("there is no action \"{}\"; the action \"actions\" lists them", id));
    return named_action(program.state(), id);
}

void require_no_error(const Program& program) {
    if (!program.state().error.empty())
        fail_input(program.state().error);
}

/// Does it; throws Error(input) with what the program says of it at once.
void act(Program& program, const std::string& id, const std::optional<std::string>& value) {
    program.state().error.clear();
    if (id == "open" && value && value->empty())
        fail_input(tr("\"open\" needs the path of a file or folder; name one"));
    if (id == "open" && value)
        program.open_path(std::filesystem::absolute(*value).lexically_normal().string());
    else if (id == "save" && value)
        program.save_path(std::filesystem::absolute(*value).lexically_normal().string());
    else
        for (const Action& one : actions_of(program, id, value))
            program.act(one);
    require_no_error(program);
    if (program.state().files.question)
        fail_input(tr("the window asks about unsaved changes; answer there"));
}

std::optional<std::string> text_field(const nlohmann::json& line, const char* name) {
    const auto field = line.find(name);
    if (field == line.end() || field->is_null())
        return std::nullopt;
    if (!field->is_string())
        fail_input(tr("\"{}\" is no text; write it in quotation marks", name));
    return field->get<std::string>();
}

} // namespace

std::optional<std::string> answer_line(Program& program, const std::string& line, float scale) {
    Json answer{{"id", nullptr}};
    try {
        const nlohmann::json asked = parse_json(line, tr("the line"));
        if (asked.is_object())
            answer["id"] = asked.value("id", nlohmann::json());
        const auto id = asked.is_object() ? text_field(asked, "action") : std::nullopt;
        if (!id)
            fail_input(
                tr("a line holds one JSON object, such as {}", R"({"id": 1, "action": "next stage"})"));
        const std::optional<std::string> value = text_field(asked, "value");
        if (*id == "settle" && !program.settled())
            return std::nullopt;
        if (*id == "actions")
            answer["actions"] = actions_json(program);
        else if (*id == "report")
            answer["report"] = Json::parse(program.report(scale));
        else if (*id == "settle")
            require_no_error(program);
        else
            act(program, *id, value);
        answer["ok"] = true;
    } catch (const Error& fault) {
        answer["ok"] = false;
        answer["error"] = fault.what();
    } catch (const std::exception& fault) { // of a library: it never ends the program
        answer["ok"] = false;
        answer["error"] = fault.what();
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Control::Control(Program& program, const std::string& socket, const std::function<void()>& wake)
    : program_(program), wake_(wake), socket_(socket, wake) {}

void Control::follow(float scale) {
    for (ControlLine& line : socket_.take())
        waiting_.push_back(std::move(line));
    std::vector<std::uint64_t> behind; // those whose earlier line waits
    bool answered = false;
    std::erase_if(waiting_, [&](const ControlLine& line) {
        if (std::ranges::find(behind, line.from) != behind.end())
            return false;
        const std::optional<std::string> answer = answer_line(program_, line.text, scale);
        if (!answer) {
            behind.push_back(line.from);
            return false;
        }
        socket_.answer(line.from, *answer);
        answered = true;
        return true;
    });
    if (answered)
        wake_(); // a frame shows what was done
}

} // namespace headscope::app
