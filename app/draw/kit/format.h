#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// A number with that many decimals and a true minus sign (U+2212); "−∞" and "∞" for infinities. A number
/// that rounds to zero has no sign.
std::string number(double value, int decimals);
/// The same with "+" before positive numbers.
std::string signed_number(double value, int decimals);
/// With thousands separated: "2,560".
std::string grouped(std::int64_t count);
/// FLOP in the unit that fits: "2.6 kFLOP".
std::string flops_text(std::int64_t flops);
/// Bytes in the unit that fits: "4.0 kB" (powers of 1000).
std::string bytes_text(std::int64_t bytes);
/// A time in the unit that fits: "12 µs", "0.42 ms".
std::string time_text(double seconds);

/// The fewest digits that read back as the same float32, with an ASCII minus: what a number field holds.
std::string shortest_number(float value);

/// The fewest decimals (2 to 4) with which the printed terms add up to the printed total, and whether even 4
/// did not suffice (then the total is to be written with ≈).
struct SumFormat {
    int decimals = 2;
    bool approximate = false;
};
SumFormat sum_format(const std::vector<double>& terms, double total);

/// Whether the terms as printed add up to the total as printed.
bool adds_up(const std::vector<double>& terms, double total, int decimals);
/// The number that number() prints, which differs from the value by its rounding.
double as_printed(double value, int decimals);

/// Number of code points, which is the number of columns in a monospaced font for the text of numbers.
int columns(std::string_view utf8);

/// The characters that the window's fonts cannot hold (beyond U+FFFF), as "U+1F600 U+1F601"; empty when there
/// is none.
std::string beyond_fonts(std::string_view utf8);

/// At most `most` code points: a longer text loses its middle to "…".
std::string shortened(std::string_view utf8, int most);

} // namespace headscope::app
