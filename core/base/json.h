#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope {

/// Parses JSON from outside the program. Throws Error(input) that begins with `what` for malformed text, text
/// after the value, the same key twice in one object, or more than 64 levels of nesting.
nlohmann::json parse_json(std::string_view text, const std::string& what);

/// The value as a message shows it: its JSON in ASCII, cut off behind `longest` characters.
std::string shortened_json(const nlohmann::json& value, std::size_t longest);

} // namespace headscope
