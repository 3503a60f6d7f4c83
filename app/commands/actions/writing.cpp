#include "app/commands/actions/rows.h"

namespace headscope::app {

namespace {

bool writes(const ActionContext& now) {
    return now.writes;
}

Actions flip_writing(const ActionContext& now) {
    return {SetGenerating{!now.writing}};
}

} // namespace

std::vector<ActionInfo> writing_actions() {
    constexpr Overlay field = Overlay::field;
    return {
        // clang-format off
        {"write token", tr("writing.write_token", "Write a token"), tr("writing.puts_drawn_token_behind", "Appends the drawn token to the text and runs the model again"), {ctrl(Key::enter)}, writes, always_send(GenerateToken{}), {}, tr("writing.write_next_token_take", "write the next token, take the newest back"), field, true},
        {"take back", tr("writing.take_token_back", "Take a token back"), tr("common.takes_newest_written_token", "Removes the newest written token"), {ctrl(Key::backspace)}, writes, always_send(RemoveTokens{}), {}, "", {}, true},
        {"write on", tr("writing.write_stop", "Write on, and stop"), tr("writing.writes_token_after_token", "Writes token after token, at most 8 a second; Esc stops it too"), {ctrl(Key::space)}, writes, flip_writing, {}, tr("writing.write_token_token_stop", "write on, token by token; stop"), field},
        // clang-format on
    };
}

} // namespace headscope::app
