#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope {

/// Parses JSON from outside the program. Throws Error(input) that begins with `what` for malformed text, text
/// after the value, the same key twice in one object, or more than 64 levels of nesting.
nlohmann::json parse_json(std::string_view text, const std::string& what);

} // namespace headscope
