#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// The largest whole number that a configuration may have: no size of a model is above.
inline constexpr std::int64_t largest_integer = std::numeric_limits<std::int32_t>::max();

/// Typed reading of the keys of one JSON object. A key that is missing or null counts as not given. Each
/// throws Error(input) naming the key, what it has and what it should have. Refers to the object, which
/// outlives it.
class ConfigReader {
public:
    /// Throws when `object` is no object.
    ConfigReader(const nlohmann::json& object, std::string source);

    bool has(const char* key) const { return find(key) != nullptr; }
    /// The key is there and its value is null.
    bool says_null(const char* key) const;
    /// In [least, 2^31).
    std::optional<std::int64_t> integer(const char* key, std::int64_t least) const;
    std::int64_t size(const char* key, std::int64_t fallback) const {
        return integer(key, 1).value_or(fallback);
    }
    /// Finite and above 0.
    double positive(const char* key, double fallback) const;
    /// A list of `count` such numbers, which must be there.
    std::vector<double> positives(const char* key, std::int64_t count) const;
    /// A list of numbers like integer's; empty when it is not given.
    std::vector<std::int64_t> integers(const char* key, std::int64_t least) const;
    /// The same, of one number or a list of them.
    std::vector<std::int64_t> one_or_more(const char* key, std::int64_t least) const;
    bool flag(const char* key, bool fallback) const;
    std::string text(const char* key, const std::string& fallback) const;
    /// The object under a key; nothing when it is not given.
    std::optional<ConfigReader> object(const char* key) const;
    /// The JSON under a key, or null.
    const nlohmann::json* find(const char* key) const;
    /// "config.json: hidden_size is "x"; it should be `wanted`"
    [[noreturn]] void refuse(const char* key, const std::string& wanted) const;

private:
    const nlohmann::json* object_;
    std::string source_;
};

} // namespace headscope::checkpoint
