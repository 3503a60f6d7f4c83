#include "core/checkpoint/files/config_reader.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

using nlohmann::json;

ConfigReader::ConfigReader(const json& object, std::string source, QuotedLists lists)
    : object_(&object), source_(std::move(source)), lists_(lists) {
    if (!object.is_object())
        fail_input(tr("config_reader.should_json_object_sizes",
                      "{} should be a JSON object with the sizes of the model; get it again", source_));
}

const json* ConfigReader::find(std::string_view key) const {
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::says_null(std::string_view key) const {
    const auto found = object_->find(key);
    return found != object_->end() && found->is_null();
}

void ConfigReader::refuse(std::string_view key, const std::string& wanted) const {
    const json* value = find(key);
    constexpr std::size_t longest = 60;
    // Translators: the last {} is, for example, "a number above 0" or "a list of texts".
    if (value == nullptr)
        fail_input(
            tr("config_reader.missing_should", "{}: {} is missing; it should be {}", source_, key, wanted));
    const std::string quoted =
        value->is_array() && lists_ == QuotedLists::counted
            ? tr("common.list", "a list of {}", value->size())
            : value->dump(-1, ' ', false, json::error_handler_t::replace).substr(0, longest);
    fail_input(tr("config_reader.should", "{}: {} is {}; it should be {}", source_, key, quoted, wanted));
}

namespace {

std::optional<std::int64_t> whole_number(const json& value, std::int64_t least) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest_integer)) ||
        value.get<std::int64_t>() < least)
        return std::nullopt;
    return value.get<std::int64_t>();
}

std::optional<double> finite_number(const json& value) {
    const bool finite = value.is_number() && std::isfinite(value.get<double>());
    return finite ? std::optional(value.get<double>()) : std::nullopt;
}

} // namespace

std::optional<std::int64_t> ConfigReader::integer(std::string_view key, std::int64_t least) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    const std::optional<std::int64_t> number = whole_number(*value, least);
    if (!number)
        refuse(key, tr("config_reader.whole_number", "a whole number from {} to {}", least, largest_integer));
    return number;
}

std::int64_t ConfigReader::needed_integer(std::string_view key, std::int64_t least) const {
    const std::optional<std::int64_t> number = integer(key, least);
    if (!number)
        refuse(key, tr("config_reader.whole_number_2", "a whole number from {} on", least));
    return *number;
}

std::vector<std::int64_t> ConfigReader::integers(std::string_view key, std::int64_t least) const {
    const json* value = find(key);
    if (value == nullptr)
        return {};
    std::vector<std::int64_t> numbers;
    for (const json& element : value->is_array() ? *value : json::array({nullptr})) {
        const std::optional<std::int64_t> number = whole_number(element, least);
        if (!number)
            refuse(key, tr("config_reader.list_each_whole_number",
                           "a list in which each is a whole number from {} to {}", least, largest_integer));
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::int64_t> ConfigReader::one_or_more(std::string_view key, std::int64_t least) const {
    const json* value = find(key);
    if (value != nullptr && value->is_array())
        return integers(key, least);
    const std::optional<std::int64_t> number = integer(key, least);
    return number ? std::vector{*number} : std::vector<std::int64_t>();
}

std::optional<double> ConfigReader::number(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    const std::optional<double> number = finite_number(*value);
    if (!number)
        refuse(key, tr("config_reader.number", "a number"));
    return number;
}

double ConfigReader::positive(std::string_view key, double fallback) const {
    const json* value = find(key);
    if (value == nullptr)
        return fallback;
    const std::optional<double> number = finite_number(*value);
    if (!number || *number <= 0)
        refuse(key, tr("common.number_above_0", "a number above 0"));
    return *number;
}

std::vector<double> ConfigReader::positives(std::string_view key, std::int64_t count) const {
    const json* value = find(key);
    const std::string wanted =
        tr("config_reader.list_numbers_above_0", "a list of {} numbers above 0", count);
    if (value == nullptr || !value->is_array() || static_cast<std::int64_t>(value->size()) != count)
        refuse(key, wanted);
    std::vector<double> numbers;
    for (const json& element : *value) {
        const std::optional<double> number = finite_number(element);
        if (!number || *number <= 0)
            refuse(key, wanted);
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<double> ConfigReader::numbers(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return {};
    if (!value->is_array())
        refuse(key, tr("config_reader.list_numbers", "a list of numbers"));
    std::vector<double> numbers;
    numbers.reserve(value->size());
    for (const json& element : *value) {
        const std::optional<double> number = finite_number(element);
        if (!number)
            refuse(key, tr("config_reader.list_numbers", "a list of numbers"));
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::string> ConfigReader::texts(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return {};
    if (!value->is_array() || !std::ranges::all_of(*value, &json::is_string))
        refuse(key, tr("config_reader.list_texts", "a list of texts"));
    return value->get<std::vector<std::string>>();
}

std::optional<bool> ConfigReader::flag(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_boolean())
        refuse(key, tr("config_reader.true_false", "true or false"));
    return value->get<bool>();
}

std::optional<std::string> ConfigReader::text(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_string())
        refuse(key, tr("config_reader.text", "a text"));
    return value->get<std::string>();
}

std::optional<ConfigReader> ConfigReader::object(std::string_view key) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_object())
        refuse(key, tr("config_reader.object", "an object"));
    return ConfigReader(*value, source_ + ": " + std::string(key));
}

} // namespace headscope::checkpoint
