#include "app/commands/actions/rows.h"

namespace headscope::app {

namespace {

bool writes(const Situation& now) {
    return now.writes;
}

Actions flip_writing(const Situation& now) {
    return {WriteOn{!now.writing}};
}

} // namespace

std::vector<ActionInfo> writing_actions() {
    constexpr Over field = Over::field;
    return {
        // clang-format off
        {"write token", tr("Write a token"), tr("Puts the drawn token behind the text and runs the model again"), {ctrl(Key::enter)}, writes, just(WriteToken{}), {}, tr("write the next token, take the newest back"), field, true},
        {"take back", tr("Take a token back"), tr("Takes the newest written token away"), {ctrl(Key::backspace)}, writes, just(TakeBack{}), {}, "", {}, true},
        {"write on", tr("Write on, and stop"), tr("Writes token after token, at most 8 a second; Esc stops it too"), {ctrl(Key::space)}, writes, flip_writing, {}, tr("write on, token by token; stop"), field},
        // clang-format on
    };
}

} // namespace headscope::app
