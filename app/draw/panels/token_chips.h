#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/sheet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The tokens of a text in lines, those from `written` on underlined. With the position that is looked at, a
/// click selects another one.
void write_tokens(Sheet& sheet, const std::vector<std::string>& tokens, std::int64_t written,
                  std::optional<std::int64_t> position);

/// Tokens that were written and left, from the one where their text parts from the text on screen: grey, and
/// a click on them does `action`. `after`: the token before them.
void write_branch_tokens(Sheet& sheet, const std::vector<std::string>& tokens, const std::string& after,
                         const Action& action, const std::string& label);

} // namespace headscope::app
