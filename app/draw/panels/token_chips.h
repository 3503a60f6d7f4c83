#pragma once

#include "app/commands/command.h"
#include "app/draw/kit/sheet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// Writes the tokens of a text in lines; tokens from index `written` on are underlined. If `position` is set,
/// that token is highlighted and a click selects another one.
void write_tokens(Sheet& sheet, const std::vector<std::string>& tokens, std::int64_t written,
                  std::optional<std::int64_t> position);

/// Writes the tokens of an abandoned continuation, starting where it differs from the text on screen: gray,
/// and a click sends `action`. `after`: the token before them.
void write_branch_tokens(Sheet& sheet, const std::vector<std::string>& tokens, const std::string& after,
                         const Action& action, const std::string& label);

} // namespace headscope::app
