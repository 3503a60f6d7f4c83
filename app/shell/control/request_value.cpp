#include "app/shell/control/request_value.h"

#include "app/commands/edit_commands.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::app {

namespace {

constexpr std::string_view blanks_around_values = " \t\r\n";

} // namespace

bool RequestValue::is_object() const {
    return json_->is_object();
}

bool RequestValue::is_null() const {
    return json_->is_null();
}

bool RequestValue::is_text() const {
    return json_->is_string();
}

std::string RequestValue::text() const {
    if (!json_->is_string())
        fail_input(
            tr("control.no_text_write_quotation", "\"{}\" is not text; write it in quotation marks", name_));
    return json_->get<std::string>();
}

std::int64_t RequestValue::whole(std::int64_t least, std::int64_t most) const {
    std::optional<std::int64_t> number;
    if (json_->is_number_unsigned()) {
        if (json_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
            number = json_->get<std::int64_t>();
    } else if (json_->is_number_integer()) {
        number = json_->get<std::int64_t>();
    } else if (json_->is_string()) {
        const auto text = json_->get<std::string>();
        number = number_of<std::int64_t>(trimmed(text, blanks_around_values));
    }
    if (!number || *number < least || *number > most)
        fail_input(
            most == std::numeric_limits<std::int64_t>::max()
                ? tr("request_value.whole_from", "\"{}\" should be a whole number from {} on", name_, least)
                : tr("request_value.whole_between", "\"{}\" should be a whole number from {} to {}", name_,
                     least, most));
    return *number;
}

double RequestValue::number() const {
    std::optional<double> number;
    if (json_->is_number()) {
        number = json_->get<double>();
    } else if (json_->is_string()) {
        const auto text = json_->get<std::string>();
        number = number_of<double>(trimmed(text, blanks_around_values));
    }
    if (!number || !std::isfinite(*number))
        fail_input(tr("request_value.number", "\"{}\" should be a finite number, for example 0.25", name_));
    return *number;
}

float RequestValue::single() const {
    if (json_->is_string())
        return parse_number(json_->get<std::string>());
    const auto rounded = static_cast<float>(number());
    if (!std::isfinite(rounded))
        fail_input(tr("request_value.beyond_float32",
                      "\"{}\" is beyond float32's range; give a smaller number", name_));
    return rounded;
}

std::uint64_t RequestValue::seed() const {
    if (json_->is_number_unsigned())
        return json_->get<std::uint64_t>();
    return parse_seed(json_->is_string() ? json_->get<std::string>() : json_->dump());
}

bool RequestValue::on() const {
    if (json_->is_boolean())
        return json_->get<bool>();
    if (json_->is_string() && (*json_ == "on" || *json_ == "off"))
        return *json_ == "on";
    fail_input(tr("request_value.switch", "\"{}\" should be true or false, or \"on\" or \"off\"", name_));
}

std::size_t RequestValue::choice(std::span<const std::string_view> names) const {
    const std::string_view name = json_->is_string()     ? json_->get_ref<const std::string&>()
                                  : !json_->is_boolean() ? std::string_view()
                                  : json_->get<bool>()   ? "on"
                                                         : "off";
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        fail_input(tr("request_value.choice", "\"{}\" should be one of: {}", name_, joined(names, {})));
    return static_cast<std::size_t>(found - names.begin());
}

std::string RequestValue::path() const {
    const std::string value = text();
    if (value.empty())
        fail_input(tr("control.needs_path_file_folder", "\"{}\" needs the path of a file or folder; name one",
                      name_));
    if (value.find('\0') != std::string::npos)
        fail_input(tr("control.path_cannot_hold_character",
                      "a path cannot contain the character U+0000; remove it"));
    return std::filesystem::absolute(value).lexically_normal().string();
}

RequestValue RequestValue::at(std::string_view field) const {
    const auto found = find(field);
    if (!found)
        fail_input(tr("request_value.needs_field", "\"{}\" needs the field \"{}\"; add it", name_, field));
    return *found;
}

std::optional<RequestValue> RequestValue::find(std::string_view field) const {
    if (!json_->is_object())
        return std::nullopt;
    const auto found = json_->find(std::string(field));
    if (found == json_->end() || found->is_null())
        return std::nullopt;
    return RequestValue(std::string(field), *found);
}

void RequestValue::allow(std::span<const std::string_view> fields) const {
    if (!json_->is_object())
        return;
    for (const auto& [key, value] : json_->items())
        if (std::ranges::find(fields, std::string_view(key)) == fields.end())
            fail_input(tr("request_value.unknown_field", "\"{}\" has no field \"{}\"; its fields are {}",
                          name_, key, joined(fields, {})));
}

Assignment assignment_in(const RequestValue& value) {
    const std::string all = value.text();
    const auto equals = all.find('=');
    if (equals == std::string::npos)
        fail_input(tr("request_value.assignment", "\"{}\" should have the form NAME = VALUE", value.name()));
    const std::string_view text = all;
    return {std::string(trimmed(text.substr(0, equals), " ")),
            std::string(trimmed(text.substr(equals + 1), " "))};
}

} // namespace headscope::app
