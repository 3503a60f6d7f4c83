#include "core/base/parse.h"
#include "app/commands/edit_commands.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <charconv>
#include <cmath>

namespace headscope::app {

namespace {

constexpr std::string_view blanks_around_numbers = " \t\r\n";

} // namespace

float parse_number(const std::string& typed) {
    constexpr std::string_view minus = "−";
    std::string text(trimmed(typed, blanks_around_numbers));
    for (auto at = text.find(minus); at != std::string::npos; at = text.find(minus))
        text.replace(at, minus.size(), "-");
    const std::string_view digits = text.starts_with('+') ? std::string_view(text).substr(1) : text;
    float value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault == std::errc::result_out_of_range || (fault == std::errc() && !std::isfinite(value)))
        fail_input(tr("parse.beyond_float32s_range_type",
                      "“{}” is beyond float32's range; type a smaller number such as 0.25", typed));
    if (fault != std::errc() || end != digits.data() + digits.size())
        fail_input(tr("parse.not_number_type_one", "“{}” is not a number; type one such as 0.25", typed));
    return value;
}

std::uint64_t parse_seed(const std::string& typed) {
    const auto seed = number_of<std::uint64_t>(trimmed(typed, blanks_around_numbers));
    if (!seed)
        fail_input(tr("parse.not_seed_type_whole",
                      "“{}” is not a seed; type a whole number from 0 on, such as 7", typed));
    return *seed;
}

PasteBlock parse_paste(const CellAddress& cell, const std::string& text) {
    return {cell, format::parse_tsv(text)};
}

} // namespace headscope::app
