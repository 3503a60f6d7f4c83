#include "app/draw/kit/format.h"

#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace headscope::app {

namespace {

constexpr std::string_view minus = "−";

/// Same result as printf's %.*f and %.*e in a third of the time.
std::string printed(double magnitude, std::chars_format format, int decimals) {
    std::array<char, 400> buffer;
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format, decimals);
    return {buffer.data(), result.ptr};
}

std::string plain(double magnitude, int decimals) {
    return printed(magnitude, std::chars_format::fixed, decimals);
}

/// The digits of a magnitude: fixed point, or scientific from 1e7 on.
std::string digits_of(double magnitude, int decimals) {
    return magnitude < 1e7 ? plain(magnitude, decimals)
                           : printed(magnitude, std::chars_format::scientific, decimals);
}

bool all_zero(std::string_view digits) {
    return digits.find_first_not_of("0.") == std::string_view::npos;
}

std::string with_unit(double value, const char* unit) {
    return plain(value, value < 9.95 ? 1 : 0) + " " + unit;
}

/// The printed value in units of its last digit, an integer. Computed from the printed digits, because
/// multiplying and rounding differs from printf for ties such as 1.125.
double printed_units(double value, int decimals) {
    return std::round(as_printed(value, decimals) * std::pow(10.0, decimals));
}

} // namespace

std::string number(double value, int decimals) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return std::string(value < 0 ? minus : "") + "∞";
    const std::string digits = digits_of(std::abs(value), decimals);
    return std::string(value < 0 && !all_zero(digits) ? minus : "") + digits;
}

std::string shortest_number(float value) {
    std::array<char, 64> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), result.ptr};
}

std::string signed_number(double value, int decimals) {
    const std::string text = number(value, decimals);
    return value > 0 && !all_zero(text) ? "+" + text : text;
}

std::string grouped(std::int64_t count) {
    std::string digits = std::to_string(std::abs(count));
    if (digits.size() <= 3)
        return (count < 0 ? std::string(minus) : std::string()) + digits;
    // Translators: between the thousands of a count: 10,000. No point: decimals have one in every language.
    const std::string mark = tr("format.between_thousands", ",");
    for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3)
        digits.insert(static_cast<std::size_t>(place), mark);
    return std::string(count < 0 ? minus : "") + digits;
}

std::string counted(std::int64_t count, std::string_view one) {
    return grouped(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string flops_text(std::int64_t flops) {
    const auto value = static_cast<double>(flops);
    if (value < 1e3)
        return grouped(flops) + " FLOP";
    if (value < 1e6)
        return with_unit(value / 1e3, "kFLOP");
    if (value < 1e9)
        return with_unit(value / 1e6, "MFLOP");
    return value < 1e12 ? with_unit(value / 1e9, "GFLOP") : with_unit(value / 1e12, "TFLOP");
}

std::string bytes_text(std::int64_t bytes) {
    const auto value = static_cast<double>(bytes);
    if (value < 1e3)
        return grouped(bytes) + " B";
    if (value < 1e6)
        return with_unit(value / 1e3, "kB");
    return value < 1e9 ? with_unit(value / 1e6, "MB") : with_unit(value / 1e9, "GB");
}

std::string percent_text(double probability) {
    const double p = 100 * probability;
    return p >= 9.95 ? number(p, 0) + " %" : p >= 0.095 ? number(p, 1) + " %" : p > 0 ? "< 0.1 %" : "0 %";
}

std::string time_text(double seconds) {
    if (seconds < 1e-3)
        return with_unit(seconds * 1e6, "µs");
    return seconds < 1.0 ? with_unit(seconds * 1e3, "ms") : with_unit(seconds, "s");
}

double as_printed(double value, int decimals) {
    return std::copysign(std::strtod(digits_of(std::abs(value), decimals).c_str(), nullptr), value);
}

bool adds_up(const std::vector<double>& terms, double total, int decimals) {
    double sum = 0;
    for (const double term : terms)
        sum += printed_units(term, decimals);
    return sum == printed_units(total, decimals);
}

SumFormat sum_format(const std::vector<double>& terms, double total) {
    for (int decimals = 2; decimals <= 4; ++decimals)
        if (adds_up(terms, total, decimals))
            return {decimals, false};
    return {4, true};
}

int columns(std::string_view utf8) {
    return static_cast<int>(
        std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shortened(std::string_view utf8, int most) {
    const int length = columns(utf8);
    if (length <= most)
        return std::string(utf8);
    const int tail = (most - 1) / 2;
    const int head = most - 1 - tail;
    std::string out;
    int place = 0;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const bool starts = (static_cast<unsigned char>(utf8[i]) & 0xC0U) != 0x80U;
        place += starts ? 1 : 0;
        if (starts && place == head + 1)
            out += "…";
        if (place <= head || place > length - tail)
            out += utf8[i];
    }
    return out;
}

} // namespace headscope::app
