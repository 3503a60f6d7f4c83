#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace headscope {

/// A catalog of translated messages in the binary form (.mo) of GNU gettext's manual, "The Format of GNU MO
/// Files". Owns the file's bytes and looks messages up by hash. Immutable.
class Catalogue {
public:
    /// Throws Error(internal) if the bytes are not a catalog in this machine's byte order.
    explicit Catalogue(std::string bytes);

    /// Views into the catalog; empty if the message has no translation.
    std::string_view find(std::string_view message) const;
    std::string_view find_in(std::string_view context, std::string_view message) const;
    /// The form for a count, for languages with one form for 1 and another for all other counts.
    std::string_view find_plural(std::string_view one, std::int64_t count) const;

    const std::unordered_map<std::string_view, std::string_view>& messages() const { return messages_; }

private:
    std::string bytes_;
    std::unordered_map<std::string_view, std::string_view> messages_;
};

} // namespace headscope
