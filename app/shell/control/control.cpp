#include "app/shell/control/control.h"

#include "app/shell/control/named_actions.h"
#include "app/shell/control/open_question.h"
#include "app/shell/control/requests/requests.h"
#include "app/shell/program.h"
#include "app/shell/report/report_parts.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::app {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the action of the table that a client can name; null if there is none.
const ActionInfo* find_action(std::string_view id) {
    const auto found = std::ranges::find_if(
        actions(), [&](const ActionInfo& row) { return row.id == id && can_request(row); });
    return found == actions().end() ? nullptr : &*found;
}

std::string missing_for(const Request& request, const AppState& state) {
    return request.missing == nullptr ? "" : request.missing(state);
}

Json actions_json(const Program& program) {
    Json listed = Json::array();
    for (const Request& request : requests()) {
        if (find_action(request.id) != nullptr)
            continue; // listed below, with its value
        Json row{{"id", request.id}};
        if (!request.value.empty())
            row["value"] = request.value;
        row["effect"] = request.effect;
        row["missing"] = missing_for(request, program.state());
        listed.push_back(std::move(row));
    }
    const nlohmann::json report = parse_json_with_bytes(program.report(1), "the report");
    for (const nlohmann::json& row : report["actions"])
        if (find_action(row["id"].get<std::string>()) != nullptr) {
            listed.push_back(Json(row));
            if (const Request* request = find_request(row["id"].get<std::string>()))
                listed.back()["value"] = request->value;
        }
    return listed;
}

/// Returns true while the Hub is asked for the files of a model. A download can take hours: it is a job of
/// the report, which "settle" does not wait for.
bool asks_the_hub(const AppState& state) {
    return state.files.hub && state.files.hub->step == HubDialog::Step::finding;
}

Json question_json(const OpenQuestion& question, std::uint64_t number) {
    return Json(question_fields(question, number));
}

[[noreturn]] void fail_asked(const OpenQuestion& question) {
    fail_input(tr("control.question_open", "the window asks about {}: {} Answer it with \"reply\" ({})",
                  question.kind, question.text, joined(question.choices, &QuestionChoice::id)));
}

/// Performs a request or an action; throws Error(input) with the program's message if it fails at once.
void act(Program& program, const std::string& id, const nlohmann::json& value) {
    const Request* const request = find_request(id);
    const ActionInfo* const named = find_action(id);
    if (request == nullptr && named == nullptr)
        fail_input(tr("control.no_action_action_actions",
                      "there is no action \"{}\"; the action \"actions\" lists them", id));
    const bool takes = request != nullptr && !request->value.empty();
    if (value.is_null() && takes && named == nullptr)
        fail_input(tr("control.needs_value_add", "\"{}\" needs a value; add it", id));
    if (!value.is_null() && !takes)
        fail_input(tr("control.takes_no_value_leave", "\"{}\" takes no value; leave it out", id));
    const bool by_request = request != nullptr && (named == nullptr || !value.is_null());
    const std::optional<OpenQuestion> before = open_question(program.state());
    if (before && before->blocks && !(by_request && request->while_asked))
        fail_asked(*before);
    program.begin_action(by_request ? request->repeats : RepeatedRequest::nothing);
    if (by_request) {
        if (const std::string missing = missing_for(*request, program.state()); !missing.empty())
            fail_input(tr("named_actions.cant_done_here", "\"{}\" can't be done here: {}", id, missing));
        request->perform(program, RequestValue(id, value));
    } else {
        for (const Action& one : named_action(program.state(), id))
            program.act(one);
    }
    if (!program.state().error.empty())
        fail_input(program.state().error);
    if (const auto after = open_question(program.state()); after && after->blocks)
        fail_asked(*after);
}

void require_no_fault(const Program& program) {
    if (const std::string fault = program.new_fault(); !fault.empty())
        fail_input(fault);
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
    program.question_number(); // a dialog may have changed since the last action
    try {
        const nlohmann::json asked = parse_json_with_bytes(line, tr("control.line", "the line"));
        if (asked.is_object())
            answer["id"] = asked.value("id", nlohmann::json());
        const auto id = asked.is_object() ? text_field(asked, "action") : std::nullopt;
        if (!id)
            fail_input(tr("control.line_holds_one_json", "a line holds one JSON object, such as {}",
                          R"({"id": 1, "action": "next stage"})"));
        const nlohmann::json value = asked.value("value", nlohmann::json());
        if (*id == "settle" && (!program.settled() || asks_the_hub(program.state())))
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
    if (const auto question = open_question(program.state()); question && question->blocks)
        answer["question"] = question_json(*question, program.question_number());
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
