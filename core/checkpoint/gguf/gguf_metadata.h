#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headscope::checkpoint {

struct GgufValue;
using GgufArray = std::vector<GgufValue>;

/// A value of a GGUF file's metadata. Every integer type is int64, or double where int64 cannot hold it. A
/// float32 number is the double of its shortest decimal digits: 1e-5, as its author wrote it.
struct GgufValue {
    std::variant<std::int64_t, double, bool, std::string, GgufArray> value;
};

/// The key/value pairs at the beginning of a GGUF file. Each reader throws Error(input) naming the key, what
/// it has and what it should have; a key that is missing gives nothing, or an empty list.
class GgufMetadata {
public:
    using Pairs = std::map<std::string, GgufValue, std::less<>>;

    GgufMetadata() = default;
    /// `source` is the name of the file in messages.
    GgufMetadata(Pairs pairs, std::string source) : pairs_(std::move(pairs)), source_(std::move(source)) {}

    const std::string& source() const { return source_; }
    const Pairs& pairs() const { return pairs_; }
    /// Null when the key is missing.
    const GgufValue* find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) != nullptr; }

    /// In [least, 2^31).
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least) const;
    /// The same of a key that must be there.
    std::int64_t needed_integer(std::string_view key, std::int64_t least) const;
    /// Finite; an integer is a number too.
    std::optional<double> number(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    std::optional<std::string> text(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;
    std::vector<double> numbers(std::string_view key) const;

    /// "FILE: KEY is VALUE; it should be `wanted`"
    [[noreturn]] void refuse(std::string_view key, const std::string& wanted) const;

private:
    Pairs pairs_;
    std::string source_;
};

} // namespace headscope::checkpoint
