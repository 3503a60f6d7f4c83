#include "core/checkpoint/gguf/gguf_metadata.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/config_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::checkpoint {

namespace {

/// How a message quotes a value.
std::string quoted(const GgufValue& given) {
    constexpr std::size_t longest = 60;
    if (const auto* const list = std::get_if<GgufArray>(&given.value))
        return tr("a list of {}", list->size());
    nlohmann::json shown;
    std::visit(
        [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, GgufArray>)
                shown = value;
        },
        given.value);
    return shown.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, longest);
}

std::optional<double> number_of(const GgufValue& given) {
    const auto* const integer = std::get_if<std::int64_t>(&given.value);
    const auto* const number = std::get_if<double>(&given.value);
    if (integer != nullptr)
        return static_cast<double>(*integer);
    return number != nullptr && std::isfinite(*number) ? std::optional(*number) : std::nullopt;
}

} // namespace

const GgufValue* GgufMetadata::find(std::string_view key) const {
    const auto found = pairs_.find(key);
    return found == pairs_.end() ? nullptr : &found->second;
}

void GgufMetadata::refuse(std::string_view key, const std::string& wanted) const {
    const GgufValue* const given = find(key);
    // Translators: the last {} is, for example, "a number above 0" or "a list of texts".
    fail_input(given == nullptr ? tr("{}: {} is missing; it should be {}", source_, key, wanted)
                                : tr("{}: {} is {}; it should be {}", source_, key, quoted(*given), wanted));
}

std::optional<std::int64_t> GgufMetadata::integer(std::string_view key, std::int64_t least) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return std::nullopt;
    const auto* const integer = std::get_if<std::int64_t>(&given->value);
    if (integer == nullptr || *integer < least || *integer > largest_integer)
        refuse(key, tr("a whole number from {} to {}", least, largest_integer));
    return *integer;
}

std::int64_t GgufMetadata::needed_integer(std::string_view key, std::int64_t least) const {
    const std::optional<std::int64_t> number = integer(key, least);
    if (!number)
        refuse(key, tr("a whole number from {} on", least));
    return *number;
}

std::optional<double> GgufMetadata::number(std::string_view key) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return std::nullopt;
    const std::optional<double> number = number_of(*given);
    if (!number)
        refuse(key, tr("a number"));
    return number;
}

std::optional<bool> GgufMetadata::flag(std::string_view key) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return std::nullopt;
    const auto* const flag = std::get_if<bool>(&given->value);
    if (flag == nullptr)
        refuse(key, tr("true or false"));
    return *flag;
}

std::optional<std::string> GgufMetadata::text(std::string_view key) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return std::nullopt;
    const auto* const text = std::get_if<std::string>(&given->value);
    if (text == nullptr)
        refuse(key, tr("a text"));
    return *text;
}

std::vector<std::string> GgufMetadata::texts(std::string_view key) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return {};
    const auto* const list = std::get_if<GgufArray>(&given->value);
    const auto is_text = [](const GgufValue& one) { return std::holds_alternative<std::string>(one.value); };
    if (list == nullptr || !std::ranges::all_of(*list, is_text))
        refuse(key, tr("a list of texts"));
    std::vector<std::string> texts;
    texts.reserve(list->size());
    for (const GgufValue& one : *list)
        texts.push_back(std::get<std::string>(one.value));
    return texts;
}

std::vector<double> GgufMetadata::numbers(std::string_view key) const {
    const GgufValue* const given = find(key);
    if (given == nullptr)
        return {};
    const auto* const list = std::get_if<GgufArray>(&given->value);
    if (list == nullptr)
        refuse(key, tr("a list of numbers"));
    std::vector<double> numbers;
    numbers.reserve(list->size());
    for (const GgufValue& one : *list) {
        const std::optional<double> number = number_of(one);
        if (!number)
            refuse(key, tr("a list of numbers"));
        numbers.push_back(*number);
    }
    return numbers;
}

} // namespace headscope::checkpoint
