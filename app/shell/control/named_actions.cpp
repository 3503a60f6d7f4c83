#include "app/shell/control/named_actions.h"

#include "app/state/find_step.h"
#include "app/views/action_context.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::app {

bool can_name(const ActionInfo& action) {
    return action.make_actions && action.group.english != "Files";
}

bool can_request(const ActionInfo& action) {
    // These open a dialog for a path or a name; the request of the same id takes it as its value.
    constexpr std::array<std::string_view, 12> dialogs{"open",    "open hub",  "compare with", "save",
                                                       "save as", "picture",   "save numbers", "save script",
                                                       "record",  "sentences", "prompts",      "file menu"};
    return action.make_actions && std::ranges::find(dialogs, action.id) == dialogs.end();
}

Actions named_action(const AppState& state, const std::string& id) {
    const ActionInfo& named = action(id);
    ActionContext now = action_context(state);
    now.left_open = state.view.left_open.value_or(true);
    now.inspector_open = state.view.inspector_open.value_or(true);
    if (!named.applies(now))
        fail_input(tr("named_actions.nothing_page", "\"{}\" does nothing on this screen", id));
    if (const std::string why = why_not(named, now); !why.empty())
        fail_input(tr("named_actions.cant_done_here", "\"{}\" can't be done here: {}", id, why));
    return named.make_actions(now);
}

Actions go_to_stage(const AppState& state, const std::string& name) {
    const StepStrip& strip = state.view.step_strip;
    if (const auto step = find_step(strip, name))
        return {GoTo{*step}};
    std::string names;
    for (const auto* part : {&strip.before, &strip.layer, &strip.after})
        for (const StageGroup one : *part)
            names += (names.empty() ? "" : ", ") + std::string(group_info(one).label);
    fail_input(tr("named_actions.no_stage_here_stages", "there is no stage \"{}\" here; the stages are {}",
                  name, names));
}

Actions type_sentence(const AppState& state, const std::string& text) {
    return {state.document->is_checkpoint() ? Action(TypePrompt{text}) : Action(SetSentence{text})};
}

Actions type_pair(const AppState& state, const std::string& text) {
    if (!state.document->is_checkpoint())
        fail_input(tr("named_actions.text_pair_belongs_prompt",
                      "\"text-pair\" belongs to the prompt of a checkpoint; open one first"));
    checkpoint::check_pair(*state.document->part()->model, text);
    return {TypePair{text}};
}

Actions answer_question(const std::string& value) {
    const auto equals = value.find('=');
    if (equals == std::string::npos)
        fail_input(tr("named_actions.answer_value",
                      "\"{}\" is not a question and an answer; write the id, =, and the answer", value));
    const std::string_view all = value;
    return {LessonAction(AnswerStep{std::string(trimmed(all.substr(0, equals), " ")),
                                    std::string(trimmed(all.substr(equals + 1), " "))})};
}

} // namespace headscope::app
