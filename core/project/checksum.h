#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::project {

// A project file contains its own SHA-256, so that no bit of a displayed number changes unnoticed: 64 digits
// in the metadata, which count as zeros when the hash is computed. The project's JSON also records that there
// is a checksum, so that one damaged byte cannot remove both.

inline constexpr std::string_view checksum_key = "headscope.sha256"; ///< key of the metadata entry
inline constexpr std::string_view checksum_field = "checksum";       ///< key in the JSON: "sha256"

/// The placeholder digits of a file without its checksum.
std::string placeholder_checksum();
/// Replaces placeholder_checksum() by the checksum of the file.
void write_checksum(std::string& bytes);

/// Returns true if the bytes match their checksum; nothing if there is no checksum at the expected place.
std::optional<bool> checksum_matches(std::string_view bytes);
/// Returns true if a file is damaged. holds: the result of checksum_matches for its bytes. A file without any
/// mention of a checksum, as the first versions wrote it, is not damaged.
bool is_damaged(std::optional<bool> holds, const format::Safetensors& file, const nlohmann::json& project);

} // namespace headscope::project
