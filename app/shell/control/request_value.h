#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::app {

/// The value of a request, or one field of it: a text, a number, a switch, or an object with fields. All
/// members that read it throw Error(input) with a sentence that names the request or its field. Refers to the
/// JSON, which must outlive it.
class RequestValue {
public:
    /// `name`: of the request, or of the field, for messages.
    RequestValue(std::string name, const nlohmann::json& json) : name_(std::move(name)), json_(&json) {}

    const std::string& name() const { return name_; }
    bool is_object() const;
    bool is_null() const;
    bool is_text() const;

    /// The text. Numbers and switches are not texts.
    std::string text() const;
    /// A whole number in [least, most], as JSON or as text.
    std::int64_t whole(std::int64_t least, std::int64_t most) const;
    /// A finite number, as JSON or as text.
    double number() const;
    /// A finite number in the range of float32.
    float single() const;
    /// A seed: a whole number from 0 to 2^64 - 1, as JSON or as text.
    std::uint64_t seed() const;
    /// true or false, or the texts "on" and "off".
    bool on() const;
    /// The index of the text among these names; true and false are "on" and "off".
    std::size_t choice(std::span<const std::string_view> names) const;
    /// The absolute path that the text names, without "." and "..".
    std::string path() const;

    /// The field of an object. Throws if the value is not an object or lacks the field.
    RequestValue at(std::string_view field) const;
    /// Nothing if the value is not an object, or lacks the field or has null there.
    std::optional<RequestValue> find(std::string_view field) const;
    /// Throws for a value that is an object with other fields than these.
    void allow(std::span<const std::string_view> fields) const;
    void allow(std::initializer_list<std::string_view> fields) const {
        allow(std::span(fields.begin(), fields.size()));
    }
    /// The value itself if it is not an object, else that field of it.
    RequestValue main(std::string_view field) const { return is_object() ? at(field) : *this; }

private:
    std::string name_;
    const nlohmann::json* json_;
};

/// Splits "ID = ANSWER" at the first "=", without blanks around the parts. Throws Error(input) for a text
/// without "=".
struct Assignment {
    std::string left, right;
};
Assignment assignment_in(const RequestValue& value);

} // namespace headscope::app
