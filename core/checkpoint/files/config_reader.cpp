#include "core/checkpoint/files/config_reader.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

using nlohmann::json;

ConfigReader::ConfigReader(const json& object, std::string source)
    : object_(&object), source_(std::move(source)) {
    if (!object.is_object())
        fail_input(tr("{} should be a JSON object with the sizes of the model; get it again", source_));
}

const json* ConfigReader::find(const char* key) const {
    const auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::says_null(const char* key) const {
    const auto found = object_->find(key);
    return found != object_->end() && found->is_null();
}

void ConfigReader::refuse(const char* key, const std::string& wanted) const {
    const json* value = find(key);
    constexpr std::size_t longest = 60;
    if (value == nullptr)
        fail_input(tr("{}: {} is missing; it should be {}", source_, key, wanted));
    fail_input(tr("{}: {} is {}; it should be {}", source_, key,
                  value->dump(-1, ' ', false, json::error_handler_t::replace).substr(0, longest), wanted));
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

} // namespace

std::optional<std::int64_t> ConfigReader::integer(const char* key, std::int64_t least) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    const std::optional<std::int64_t> number = whole_number(*value, least);
    if (!number)
        refuse(key, tr("a whole number from {} to {}", least, largest_integer));
    return number;
}

std::vector<std::int64_t> ConfigReader::integers(const char* key, std::int64_t least) const {
    const json* value = find(key);
    if (value == nullptr)
        return {};
    std::vector<std::int64_t> numbers;
    for (const json& element : value->is_array() ? *value : json::array({nullptr})) {
        const std::optional<std::int64_t> number = whole_number(element, least);
        if (!number)
            refuse(key, tr("a list in which each is a whole number from {} to {}", least, largest_integer));
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::int64_t> ConfigReader::one_or_more(const char* key, std::int64_t least) const {
    const json* value = find(key);
    if (value != nullptr && value->is_array())
        return integers(key, least);
    const std::optional<std::int64_t> number = integer(key, least);
    return number ? std::vector{*number} : std::vector<std::int64_t>();
}

double ConfigReader::positive(const char* key, double fallback) const {
    const json* value = find(key);
    if (value == nullptr)
        return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() <= 0)
        refuse(key, tr("a number above 0"));
    return value->get<double>();
}

std::vector<double> ConfigReader::positives(const char* key, std::int64_t count) const {
    const json* value = find(key);
    const std::string wanted = tr("a list of {} numbers above 0", count);
    if (value == nullptr || !value->is_array() || static_cast<std::int64_t>(value->size()) != count)
        refuse(key, wanted);
    std::vector<double> numbers;
    for (const json& element : *value) {
        if (!element.is_number() || !std::isfinite(element.get<double>()) || element.get<double>() <= 0)
            refuse(key, wanted);
        numbers.push_back(element.get<double>());
    }
    return numbers;
}

bool ConfigReader::flag(const char* key, bool fallback) const {
    const json* value = find(key);
    if (value == nullptr)
        return fallback;
    if (!value->is_boolean())
        refuse(key, tr("true or false"));
    return value->get<bool>();
}

std::string ConfigReader::text(const char* key, const std::string& fallback) const {
    const json* value = find(key);
    if (value == nullptr)
        return fallback;
    if (!value->is_string())
        refuse(key, tr("a text"));
    return value->get<std::string>();
}

std::optional<ConfigReader> ConfigReader::object(const char* key) const {
    const json* value = find(key);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_object())
        refuse(key, tr("an object"));
    return ConfigReader(*value, source_ + ": " + key);
}

} // namespace headscope::checkpoint
