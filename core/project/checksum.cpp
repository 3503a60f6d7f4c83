#include "core/project/checksum.h"

#include "core/base/sha256.h"
#include "core/format/safetensors.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

namespace headscope::project {

namespace {

constexpr std::size_t digit_count = 64;

/// The offset of the digits; npos if there are none. Inside a text of the header, quotation marks would have
/// a backslash before them.
std::size_t find_digits(std::string_view bytes) {
    const std::string before = "\"" + std::string(checksum_key) + "\":\"";
    const std::size_t at = bytes.find(before);
    if (at == std::string_view::npos || bytes.size() - at < before.size() + digit_count + 1)
        return std::string_view::npos;
    return bytes[at + before.size() + digit_count] == '"' ? at + before.size() : std::string_view::npos;
}

/// The hash of the bytes with zeros in place of the digits.
std::string hash_around(std::string_view bytes, std::size_t at) {
    const auto add = [](Sha256& hash, std::string_view part) { hash.add(std::as_bytes(std::span(part))); };
    Sha256 hash;
    add(hash, bytes.substr(0, at));
    add(hash, placeholder_checksum());
    add(hash, bytes.substr(at + digit_count));
    return hash.finish();
}

} // namespace

std::string placeholder_checksum() {
    return std::string(digit_count, '0');
}

void write_checksum(std::string& bytes) {
    const std::size_t at = find_digits(bytes);
    bytes.replace(at, digit_count, hash_around(bytes, at));
}

std::optional<bool> checksum_matches(std::string_view bytes) {
    const std::size_t at = find_digits(bytes);
    if (at == std::string_view::npos)
        return std::nullopt;
    return hash_around(bytes, at) == bytes.substr(at, digit_count);
}

bool is_damaged(std::optional<bool> holds, const format::Safetensors& file, const nlohmann::json& project) {
    const bool stated = file.metadata().contains(std::string(checksum_key)) ||
                        (project.is_object() && project.contains(std::string(checksum_field)));
    return holds ? !*holds : stated;
}

} // namespace headscope::project
