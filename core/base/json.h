#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace headscope {

/// Parses JSON from outside the program. Throws Error(input) that begins with `what` for malformed text, text
/// after the value, the same key twice in one object, or more than 64 levels of nesting.
nlohmann::json parse_json(std::string_view text, const std::string& what);

/// Parses JSON as parse_json does, and turns each lone \udc80 to \udcff back into the byte that dump_json or
/// Python's json.dumps(os.fsdecode(path)) wrote so. Strings may then hold bytes that are not UTF-8.
nlohmann::json parse_json_with_bytes(std::string_view text, const std::string& what);

/// Returns JSON that is valid UTF-8 whatever bytes the strings hold, because a file's name may be any bytes.
/// A byte that is not part of a UTF-8 character becomes \udc80 to \udcff, as in Python's surrogateescape.
/// `indent`: the number of spaces for each level; negative: everything in one line.
std::string dump_json(const nlohmann::json& value, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& value, int indent = -1);

/// The value as a message shows it: its JSON in ASCII, cut off behind `longest` characters.
std::string shortened_json(const nlohmann::json& value, std::size_t longest);

} // namespace headscope
