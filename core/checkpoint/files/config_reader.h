#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::checkpoint {

/// The largest whole number that a configuration may have: no size of a model is above.
inline constexpr std::int64_t largest_integer = std::numeric_limits<std::int32_t>::max();

/// How messages quote a list: by its text, or as "a list of N".
enum class QuotedLists { shown, counted };

/// Typed reading of the keys of one JSON object. A key that is missing or null counts as not given. Each
/// throws Error(input) naming the key, what it has and what it should have. Refers to the object, which
/// outlives it.
class ConfigReader {
public:
    /// Throws when `object` is no object.
    ConfigReader(const nlohmann::json& object, std::string source, QuotedLists lists = QuotedLists::shown);

    const std::string& source() const { return source_; }
    /// All keys, those of null too.
    const nlohmann::json& all() const { return *object_; }
    bool has(std::string_view key) const { return find(key) != nullptr; }
    /// The key is there and its value is null.
    bool says_null(std::string_view key) const;
    /// In [least, 2^31).
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least) const;
    /// The same of a key that must be there.
    std::int64_t needed_integer(std::string_view key, std::int64_t least) const;
    std::int64_t size(std::string_view key, std::int64_t fallback) const {
        return integer(key, 1).value_or(fallback);
    }
    /// Finite.
    std::optional<double> number(std::string_view key) const;
    /// The same and above 0.
    double positive(std::string_view key, double fallback) const;
    /// A list of `count` such numbers, which must be there.
    std::vector<double> positives(std::string_view key, std::int64_t count) const;
    /// A list of numbers like integer's; empty when it is not given.
    std::vector<std::int64_t> integers(std::string_view key, std::int64_t least) const;
    /// The same, of one number or a list of them.
    std::vector<std::int64_t> one_or_more(std::string_view key, std::int64_t least) const;
    /// A list of numbers like number's, or of texts; empty when it is not given.
    std::vector<double> numbers(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    bool flag(std::string_view key, bool fallback) const { return flag(key).value_or(fallback); }
    std::optional<std::string> text(std::string_view key) const;
    std::string text(std::string_view key, const std::string& fallback) const {
        return text(key).value_or(fallback);
    }
    /// The object under a key; nothing when it is not given.
    std::optional<ConfigReader> object(std::string_view key) const;
    /// The JSON under a key, or null.
    const nlohmann::json* find(std::string_view key) const;
    /// "config.json: hidden_size is "x"; it should be `wanted`"
    [[noreturn]] void refuse(std::string_view key, const std::string& wanted) const;

private:
    const nlohmann::json* object_;
    std::string source_;
    QuotedLists lists_;
};

} // namespace headscope::checkpoint
