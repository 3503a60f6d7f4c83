#include "core/base/error.h"
#include "core/text/tokenizer/regex.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace headscope::text {

namespace {

/// Rewrites what Oniguruma (doc/RE of its source) and PCRE2 read differently:
/// \s and \w (PCRE2 10.42 counts U+180E as white and marks as no word letters), \h (a hexadecimal digit, not
/// a blank), {n,m}+ (repeated, not possessive), && and [ inside a class (set operations).
class Translator {
public:
    Translator(std::string_view pattern, const std::string& place) : pattern_(pattern), place_(place) {}

    std::string run() {
        while (at_ < pattern_.size())
            if (pattern_[at_] == '\\')
                escape(outside);
            else if (pattern_[at_] == '[')
                character_class();
            else if (pattern_[at_] == '{')
                interval();
            else
                out_ += pattern_[at_++];
        return std::move(out_);
    }

private:
    enum Place { outside, inside_class };

    [[noreturn]] void refuse(const std::string& what) const {
        fail_input(place_ + " holds " + what + ", which this program does not read; write it another way");
    }

    char next(std::size_t distance) const {
        return at_ + distance < pattern_.size() ? pattern_[at_ + distance] : '\0';
    }

    void escape(Place where) {
        const bool in_class = where == inside_class;
        const auto put = [&](std::string_view text) {
            out_ += text;
            at_ += 2;
        };
        switch (next(1)) {
        case 's':
            return put("\\p{White_Space}");
        case 'S':
            return put("\\P{White_Space}");
        case 'w':
            return put(in_class ? "\\p{L}\\p{M}\\p{Nd}\\p{Pc}" : "[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]");
        case 'W':
            if (in_class)
                refuse("\\W inside a character class");
            return put("[^\\p{L}\\p{M}\\p{Nd}\\p{Pc}]");
        case 'h':
            return put(in_class ? "0-9A-Fa-f" : "[0-9A-Fa-f]");
        case 'H':
            if (in_class)
                refuse("\\H inside a character class");
            return put("[^0-9A-Fa-f]");
        case '\0':
            if (at_ + 1 == pattern_.size()) {
                out_ += pattern_[at_++];
                return;
            }
            [[fallthrough]];
        default:
            put(pattern_.substr(at_, 2));
        }
    }

    /// The name of a POSIX bracket such as [:alpha:] that begins here.
    std::optional<std::string_view> posix_bracket() const {
        const std::string_view rest = pattern_.substr(at_);
        if (!rest.starts_with("[:"))
            return std::nullopt;
        const auto end = rest.find(":]");
        if (end == std::string_view::npos || end > 20)
            return std::nullopt;
        return rest.substr(0, end + 2);
    }

    void character_class() {
        out_ += pattern_[at_++];
        if (next(0) == '^')
            out_ += pattern_[at_++];
        if (next(0) == ']') {
            out_ += "\\]";
            ++at_;
        }
        while (at_ < pattern_.size() && pattern_[at_] != ']') {
            if (pattern_[at_] == '\\') {
                escape(inside_class);
            } else if (const auto bracket = posix_bracket()) {
                out_ += *bracket;
                at_ += bracket->size();
            } else if (pattern_[at_] == '[') {
                refuse("a character class inside another");
            } else if (pattern_[at_] == '&' && next(1) == '&') {
                refuse("an intersection (&&) of character classes");
            } else {
                out_ += pattern_[at_++];
            }
        }
        if (at_ < pattern_.size())
            out_ += pattern_[at_++];
    }

    void interval() {
        const std::size_t end = pattern_.find('}', at_);
        const std::string_view inner =
            end == std::string_view::npos ? "" : pattern_.substr(at_ + 1, end - at_ - 1);
        const auto digit = [](char c) {
            return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == ',';
        };
        const bool repeats = !inner.empty() && std::ranges::all_of(inner, digit);
        if (!repeats || end + 1 >= pattern_.size() || pattern_[end + 1] != '+') {
            out_ += pattern_[at_++];
            return;
        }
        const std::string_view least = inner.substr(0, inner.find(','));
        if (!least.empty() && least != "0" && least != "1")
            refuse("{" + std::string(inner) + "}+");
        // Any number of times from 0 or 1 up to m is, in the end, any number of times.
        out_ += least == "1" ? "+" : "*";
        at_ = end + 2;
    }

    std::string_view pattern_;
    const std::string& place_;
    std::size_t at_ = 0;
    std::string out_;
};

} // namespace

std::string oniguruma_to_pcre(std::string_view pattern, const std::string& place) {
    return Translator(pattern, place).run();
}

} // namespace headscope::text
