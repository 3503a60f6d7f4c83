#pragma once

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

} // namespace headscope::app
