#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A number with `decimals` decimals and a true minus sign (U+2212); "−∞" and "∞" for infinities. A number
/// that rounds to zero has no sign.
std::string number(double value, int decimals);
/// A number like number(), with "+" before positive numbers.
std::string signed_number(double value, int decimals);
/// Separates thousands as the user's language does: "2,560".
std::string grouped(std::int64_t count);
/// A count with its noun: "1 head", "2,560 heads". In English only, for the command line; the window uses
/// tr_n().
std::string counted(std::int64_t count, std::string_view one);
/// FLOP in a suitable unit: "2.6 kFLOP".
std::string flops_text(std::int64_t flops);
/// Bytes in a suitable unit: "4.0 kB" (powers of 1000).
std::string bytes_text(std::int64_t bytes);
/// A probability: "23 %", "4.2 %", "< 0.1 %".
std::string percent_text(double probability);
/// A time in a suitable unit: "12 µs", "0.42 ms".
std::string time_text(double seconds);

/// The fewest digits that read back as the same float32, with an ASCII minus: the text of a number field.
std::string shortest_number(float value);

/// The fewest decimals (2 to 4) for which the printed terms add up to the printed total. `approximate`: 4
/// decimals are still too few; the total is then printed with ≈.
struct SumFormat {
    int decimals = 2;
    bool approximate = false;
};
SumFormat sum_format(const std::vector<double>& terms, double total);

/// Returns true if the printed terms add up to the printed total.
bool adds_up(const std::vector<double>& terms, double total, int decimals);
/// The number that number() prints; differs from `value` by rounding.
double as_printed(double value, int decimals);

/// The number of code points: the columns of a number in a monospaced font.
int columns(std::string_view utf8);

/// At most `most` code points; "…" replaces the middle of a longer text.
std::string shortened(std::string_view utf8, int most);

} // namespace headscope::app
