#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::text {

/// A value in a JSON file with its path, so that every message names file and key. Refers to the JSON value,
/// which must outlive the field. All readers throw Error(input).
class JsonField {
public:
    JsonField(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {}

    const nlohmann::json& value() const { return *value_; }
    /// For example `tokenizer.json: model.vocab`.
    const std::string& path() const { return path_; }

    /// The value of a key of this object. Throws if this is not an object or lacks the key.
    JsonField at(const char* key) const;
    /// Same; nullopt if the key is missing or null.
    std::optional<JsonField> find(const char* key) const;
    /// The elements of this array.
    std::vector<JsonField> elements() const;

    std::string string() const;
    bool boolean() const;
    /// An integer in [0, largest].
    std::int64_t integer(std::int64_t largest) const;
    /// A string of exactly one character.
    std::string character() const;

    std::string string_or(const char* key, std::string_view otherwise) const;
    bool boolean_or(const char* key, bool otherwise) const;

    /// Throws Error(input): `<place> is <value>; <wanted>`.
    [[noreturn]] void fail(const std::string& wanted) const;

private:
    const nlohmann::json* value_;
    std::string path_;
};

} // namespace headscope::text
