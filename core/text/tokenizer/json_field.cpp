#include "core/text/tokenizer/json_field.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/text/tokenizer/unicode.h"

#include <nlohmann/json.hpp>

namespace headscope::text {

namespace {

using nlohmann::json;

/// A value in a message: the type and size of a collection, else the value's text, shortened.
std::string shown(const json& value) {
    if (value.is_structured())
        return value.is_array() ? tr("common.list", "a list of {}", value.size())
                                : tr("json_field.object", "an object of {}", value.size());
    return shortened_json(value, 60);
}

} // namespace

JsonField JsonField::at(const char* key) const {
    if (!value_->is_object())
        fail(tr("common.should_object", "it should be an object"));
    const auto found = value_->find(key);
    if (found == value_->end())
        fail_input(tr("common.no_add", "{} has no \"{}\"; add it", path_, key));
    return {*found, path_ + (path_.ends_with(':') ? " " : ".") + key};
}

std::optional<JsonField> JsonField::find(const char* key) const {
    if (!value_->is_object())
        fail(tr("common.should_object", "it should be an object"));
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null())
        return std::nullopt;
    return at(key);
}

std::vector<JsonField> JsonField::elements() const {
    if (!value_->is_array())
        fail(tr("json_field.should_list", "it should be a list"));
    std::vector<JsonField> fields;
    fields.reserve(value_->size());
    for (const json& element : *value_)
        fields.emplace_back(element, path_ + "[" + std::to_string(fields.size()) + "]");
    return fields;
}

std::string JsonField::string() const {
    if (!value_->is_string())
        fail(tr("json_field.should_string", "it should be a string"));
    return value_->get<std::string>();
}

bool JsonField::boolean() const {
    if (!value_->is_boolean())
        fail(tr("json_field.should_true_false", "it should be true or false"));
    return value_->get<bool>();
}

std::int64_t JsonField::integer(std::int64_t largest) const {
    if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() > static_cast<std::uint64_t>(largest))
        fail(tr("json_field.should_whole_number_0", "it should be a whole number from 0 to {}", largest));
    return value_->get<std::int64_t>();
}

std::string JsonField::character() const {
    std::string text = string();
    if (count_code_points(text) != 1)
        fail(tr("json_field.should_one_character", "it should be one character"));
    return text;
}

std::string JsonField::string_or(const char* key, std::string_view otherwise) const {
    const auto field = find(key);
    return field ? field->string() : std::string(otherwise);
}

bool JsonField::boolean_or(const char* key, bool otherwise) const {
    const auto field = find(key);
    return field ? field->boolean() : otherwise;
}

void JsonField::fail(const std::string& wanted) const {
    // Translators: a place in a file, what is there, and a sentence such as "it should be a list".
    fail_input(tr("json_field.is", "{} is {}; {}", path_, shown(*value_), wanted));
}

} // namespace headscope::text
