#include "core/project/mask_json.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

namespace headscope::project {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> known_fields{"key_valid", "window",  "half_width",
                                                       "chunk",     "allowed", "add"};
/// Wider than any sequence; keeps sums of positions far from overflow.
constexpr std::int64_t largest_window = std::numeric_limits<std::int32_t>::max();

std::string shown(const json& value) {
    return shortened_json(value, 40);
}

const json& need(const json& rule, const char* field, const std::string& where) {
    const auto found = rule.find(field);
    if (found == rule.end())
        fail_input(tr("common.no_add", "{} has no \"{}\"; add it", where, field));
    return *found;
}

std::int64_t read_window(const json& rule, const char* field, std::int64_t smallest,
                         const std::string& where) {
    const json& value = need(rule, field, where);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{largest_window} ||
        value.get<std::int64_t>() < smallest)
        fail_input(tr("mask_json.give_whole_number", "{}: {} is {}; give a whole number from {} to {}", where,
                      field, shown(value), smallest, largest_window));
    return value.get<std::int64_t>();
}

/// The extents of nested lists, inferred from their first elements.
std::vector<std::int64_t> nested_extents(const json& value, int levels_min, int levels_max,
                                         const std::string& where) {
    std::vector<std::int64_t> extents;
    for (const json* level = &value; level->is_array(); level = &level->front()) {
        extents.push_back(static_cast<std::int64_t>(level->size()));
        if (level->empty())
            fail_input(tr("mask_json.holds_empty_list_give",
                          "{} holds an empty list; give one number for each query and key", where));
    }
    const auto levels = static_cast<int>(extents.size());
    if (levels < levels_min || levels > levels_max)
        fail_input(tr("mask_json.should_nested_lists_levels",
                      "{} should be nested lists of {} to {} levels; it has {}", where, levels_min,
                      levels_max, levels));
    return extents;
}

/// Appends the elements in row-major order; every list must have the extent of its level.
template<class Number, class Convert>
void flatten(const json& value, std::span<const std::int64_t> extents, const std::string& where,
             Convert convert, std::vector<Number>& out) {
    if (extents.empty()) {
        out.push_back(convert(value));
        return;
    }
    if (!value.is_array() || static_cast<std::int64_t>(value.size()) != extents.front())
        fail_input(tr(
            "mask_json.ragged_found_list_should",
            "{} is ragged: found {} where a list of {} should be; give all lists of a level the same length",
            where, shown(value), extents.front()));
    for (const json& element : value)
        flatten(element, extents.subspan(1), where, convert, out);
}

BoolTensorPtr read_bools(const json& rule, const char* field, int levels_min, int levels_max,
                         const std::string& rule_name) {
    const json& value = need(rule, field, rule_name);
    const std::string where = rule_name + ": " + field;
    const auto extents = nested_extents(value, levels_min, levels_max, where);
    auto out = std::make_shared<BoolTensor>();
    out->shape = Shape(extents);
    const auto convert = [&where](const json& element) -> std::uint8_t {
        if (element.is_boolean())
            return element.get<bool>() ? 1 : 0;
        if (element.is_number() && (element == 0 || element == 1))
            return element == 1 ? 1 : 0;
        fail_input(
            tr("mask_json.holds_use_1_may", "{} holds {}; use 1 (may attend) and 0", where, shown(element)));
    };
    flatten(value, std::span(extents), where, convert, out->values);
    return out;
}

TensorPtr read_numbers(const json& value, const std::string& where) {
    const auto extents = nested_extents(value, 1, Shape::max_rank, where);
    const auto convert = [&where](const json& element) -> float {
        if (element == "-inf")
            return -std::numeric_limits<float>::infinity();
        if (!element.is_number())
            fail_input(tr("mask_json.holds_use_numbers_inf",
                          "{} holds {}; use numbers, or \"-inf\" to forbid", where, shown(element)));
        const auto number = element.get<double>();
        if (std::abs(number) > std::numeric_limits<float>::max())
            fail_input(tr("mask_json.holds_float32_cannot_hold",
                          "{} holds {}, which float32 cannot hold; use \"-inf\" to forbid", where,
                          shown(element)));
        return static_cast<float>(number);
    };
    std::vector<float> numbers;
    flatten(value, std::span(extents), where, convert, numbers);
    return make_tensor(Shape(extents), numbers);
}

/// Rejects a parameter of another kind of rule, which would otherwise be ignored silently.
void refuse_other_fields(const json& rule, std::string_view own, const std::string& where) {
    for (const std::string_view field : known_fields)
        if (field != own && rule.contains(field))
            fail_input(tr("mask_json.takes_no_take_out",
                          "{} does not take \"{}\"; remove it or use another kind", where, field));
}

MaskRule read_rule(const json& rule, std::size_t index) {
    std::string where = tr("mask_json.mask_rule", "mask rule {}", index);
    if (!rule.is_object())
        fail_input(tr("mask_json.should_object_such",
                      "{} is {}; it should be an object such as {{\"kind\":\"causal\"}}", where,
                      shown(rule)));
    const json& kind_value = need(rule, "kind", where);
    const std::string kind = kind_value.is_string() ? kind_value.get<std::string>() : "";
    where += " (" + shown(kind_value) + ")";
    if (kind == "causal") {
        refuse_other_fields(rule, "", where);
        return CausalMask{};
    }
    if (kind == "key_padding") {
        refuse_other_fields(rule, "key_valid", where);
        BoolTensorPtr valid = read_bools(rule, "key_valid", 1, 2, where);
        if (valid->shape.rank() == 1)
            valid = std::make_shared<BoolTensor>(BoolTensor{{1, valid->shape[0]}, valid->values});
        return KeyPaddingMask{std::move(valid)};
    }
    if (kind == "sliding_window_causal") {
        refuse_other_fields(rule, "window", where);
        return SlidingWindowCausalMask{read_window(rule, "window", 1, where)};
    }
    if (kind == "sliding_window_symmetric") {
        refuse_other_fields(rule, "half_width", where);
        return SlidingWindowSymmetricMask{read_window(rule, "half_width", 0, where)};
    }
    if (kind == "chunked_causal") {
        refuse_other_fields(rule, "chunk", where);
        return ChunkedCausalMask{read_window(rule, "chunk", 1, where)};
    }
    if (kind == "explicit") {
        refuse_other_fields(rule, "allowed", where);
        return ExplicitMask{read_bools(rule, "allowed", 2, Shape::max_rank, where)};
    }
    if (kind == "additive") {
        refuse_other_fields(rule, "add", where);
        return AdditiveMask{rule.contains("add") ? read_numbers(rule["add"], where + ": add") : nullptr};
    }
    fail_input(tr("mask_json.unknown_kind_use_causal",
                  "{} is of an unknown kind; use causal, key_padding, sliding_window_causal, "
                  "sliding_window_symmetric, chunked_causal, explicit or additive",
                  where));
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
    return {shape.begin(), shape.end()};
}

json describe_rule(const MaskRule& rule) {
    struct Visitor {
        json operator()(const CausalMask&) const { return {{"kind", "causal"}}; }
        json operator()(const KeyPaddingMask& mask) const {
            json rows = json::array();
            const auto width = mask.key_valid->shape.back(0);
            for (auto at = mask.key_valid->values.begin(); at != mask.key_valid->values.end(); at += width)
                rows.push_back(std::vector<int>(at, at + width));
            return {{"kind", "key_padding"}, {"key_valid", rows}};
        }
        json operator()(const SlidingWindowCausalMask& mask) const {
            return {{"kind", "sliding_window_causal"}, {"window", mask.window}};
        }
        json operator()(const SlidingWindowSymmetricMask& mask) const {
            return {{"kind", "sliding_window_symmetric"}, {"half_width", mask.half_width}};
        }
        json operator()(const ChunkedCausalMask& mask) const {
            return {{"kind", "chunked_causal"}, {"chunk", mask.chunk}};
        }
        json operator()(const ExplicitMask& mask) const {
            return {{"kind", "explicit"}, {"shape", extents_of(mask.allowed->shape)}};
        }
        json operator()(const AdditiveMask& mask) const {
            return {{"kind", "additive"}, {"shape", extents_of(mask.add->shape())}};
        }
    };
    return std::visit(Visitor{}, rule);
}

} // namespace

Mask parse_mask(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    text = trimmed(text, blanks);
    if (text.empty())
        fail_input(
            tr("mask_json.mask_empty_give_word",
               "the mask is empty; give a word such as causal, or a list such as [{\"kind\":\"causal\"}]"));
    if (text == "causal")
        return {CausalMask{}};
    if (text == "none")
        return {};
    if (text.front() != '[' && text.front() != '{')
        fail_input(tr("mask_json.mask_not_known_use",
                      "the mask \"{}\" is not known; use the word causal or none, or a list such as "
                      "[{{\"kind\":\"sliding_window_causal\",\"window\":4}}]",
                      text.substr(0, 40)));
    const json rules = parse_json(text, tr("mask_json.mask", "the mask"));
    if (rules.is_object())
        return {read_rule(rules, 0)};
    Mask mask;
    for (const json& rule : rules)
        mask.push_back(read_rule(rule, mask.size()));
    return mask;
}

std::string describe_mask(const Mask& mask) {
    json rules = json::array();
    for (const MaskRule& rule : mask)
        rules.push_back(describe_rule(rule));
    return rules.dump();
}

} // namespace headscope::project
