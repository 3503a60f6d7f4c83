#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::format {
class Safetensors;
} // namespace headscope::format

namespace headscope::project {

// A project file holds the SHA-256 of itself, so that no bit of a number on screen changes unseen: 64 digits
// in the metadata, which count as zeros while the hash is taken. That there is one is also said inside of the
// project's JSON: one damaged byte cannot take away both.

inline constexpr std::string_view checksum_key = "headscope.sha256"; ///< of the metadata entry
inline constexpr std::string_view checksum_field = "checksum";       ///< of the JSON: "sha256"

/// The digits that stand in a file until it is whole.
std::string empty_checksum();
/// Puts the checksum of the file in the place of empty_checksum().
void put_checksum(std::string& bytes);

/// Whether the bytes are those that were written; nothing when they have no checksum where one is looked for.
std::optional<bool> checksum_holds(std::string_view bytes);
/// Whether a file is damaged. holds: what checksum_holds says of its bytes. A file that states no checksum at
/// all, as the first versions wrote it, is not.
bool is_damaged(std::optional<bool> holds, const format::Safetensors& file, const nlohmann::json& project);

} // namespace headscope::project
