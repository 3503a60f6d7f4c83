#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope {

/// Parses JSON from outside the program. Throws Error(input) that begins with `what` for malformed text, text
/// after the value, the same key twice in one object, or more than 64 levels of nesting.
nlohmann::json parse_json(std::string_view text, const std::string& what);

/// Parses JSON like parse_json, and turns each lone \udc80 to \udcff back into the byte that dump_json or
/// Python's json.dumps(os.fsdecode(path)) encoded. The resulting strings may not be valid UTF-8.
nlohmann::json parse_json_with_bytes(std::string_view text, const std::string& what);

/// Returns JSON that is valid UTF-8 even if strings contain other bytes, because file names may be any bytes.
/// A byte that is not part of a UTF-8 character becomes \udc80 to \udcff, as in Python's surrogateescape.
/// `indent`: number of spaces per level; negative: everything on one line.
std::string dump_json(const nlohmann::json& value, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1);

/// The value for a message: its JSON in ASCII, cut after `longest` characters.
std::string shortened_json(const nlohmann::json& value, std::size_t longest);

} // namespace headscope
