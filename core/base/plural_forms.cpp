#include "core/base/plural_forms.h"

#include "core/base/error.h"
#include "core/base/parse.h"

#include <algorithm>
#include <array>
#include <span>

namespace headscope {

namespace {

constexpr std::uint64_t most_forms = 100;
constexpr std::size_t longest_rule = 1000;
constexpr int deepest = 100; ///< parentheses, negations and conditions inside each other
constexpr std::string_view blanks = " \t\r\n", digits = "0123456789";

[[noreturn]] void refuse() {
    throw Error(ErrorKind::internal, "the Plural-Forms header of a catalogue is malformed");
}

using Apply = std::uint64_t (*)(std::uint64_t, std::uint64_t);
struct Operator {
    std::string_view sign;
    Apply apply;
};
// The levels of binary operators, from the weakest to the strongest. A longer sign precedes its prefix.
constexpr Operator disjunction[] = {{"||", [](auto a, auto b) -> std::uint64_t { return a != 0 || b != 0; }}};
constexpr Operator conjunction[] = {{"&&", [](auto a, auto b) -> std::uint64_t { return a != 0 && b != 0; }}};
constexpr Operator equality[] = {{"==", [](auto a, auto b) -> std::uint64_t { return a == b; }},
                                 {"!=", [](auto a, auto b) -> std::uint64_t { return a != b; }}};
constexpr Operator order[] = {{"<=", [](auto a, auto b) -> std::uint64_t { return a <= b; }},
                              {">=", [](auto a, auto b) -> std::uint64_t { return a >= b; }},
                              {"<", [](auto a, auto b) -> std::uint64_t { return a < b; }},
                              {">", [](auto a, auto b) -> std::uint64_t { return a > b; }}};
constexpr Operator sum[] = {{"+", [](auto a, auto b) -> std::uint64_t { return a + b; }},
                            {"-", [](auto a, auto b) -> std::uint64_t { return a - b; }}};
constexpr Operator product[] = {{"*", [](auto a, auto b) -> std::uint64_t { return a * b; }},
                                {"/", [](auto a, auto b) -> std::uint64_t { return b == 0 ? 0 : a / b; }},
                                {"%", [](auto a, auto b) -> std::uint64_t { return b == 0 ? 0 : a % b; }}};
constexpr std::array<std::span<const Operator>, 6> levels = {disjunction, conjunction, equality,
                                                             order,       sum,         product};

/// Evaluates a rule while reading it. Both sides of every operator are read, so that one evaluation checks
/// the whole rule.
class Reading {
public:
    Reading(std::string_view rule, std::uint64_t n) : rest_(rule), n_(n) {}

    std::uint64_t whole() {
        const std::uint64_t value = condition();
        skip_blanks();
        if (!rest_.empty())
            refuse();
        return value;
    }

private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

    bool take(std::string_view sign) {
        skip_blanks();
        if (!rest_.starts_with(sign))
            return false;
        rest_.remove_prefix(sign.size());
        return true;
    }

    void deeper() {
        if (++depth_ > deepest)
            refuse();
    }

    std::uint64_t condition() {
        deeper();
        std::uint64_t value = binary(0);
        if (take("?")) {
            const std::uint64_t yes = condition();
            if (!take(":"))
                refuse();
            const std::uint64_t no = condition();
            value = value != 0 ? yes : no;
        }
        --depth_;
        return value;
    }

    std::uint64_t binary(std::size_t level) {
        if (level == levels.size())
            return single();
        std::uint64_t value = binary(level + 1);
        while (const Operator* const found = taken(levels[level]))
            value = found->apply(value, binary(level + 1));
        return value;
    }

    const Operator* taken(std::span<const Operator> offered) {
        for (const Operator& one : offered)
            if (take(one.sign))
                return &one;
        return nullptr;
    }

    std::uint64_t single() {
        if (take("n"))
            return n_;
        if (take("!")) {
            deeper();
            const std::uint64_t value = single();
            --depth_;
            return value == 0;
        }
        if (take("(")) {
            const std::uint64_t value = condition();
            if (!take(")"))
                refuse();
            return value;
        }
        const std::string_view number =
            rest_.substr(0, std::min(rest_.find_first_not_of(digits), rest_.size()));
        const auto value = number_of<std::uint64_t>(number);
        if (!value)
            refuse();
        rest_.remove_prefix(number.size());
        return *value;
    }

    std::string_view rest_;
    std::uint64_t n_;
    int depth_ = 0;
};

/// The text after "name =", of a header such as "nplurals=2; plural=(n != 1);".
std::string_view value_of(std::string_view field, std::string_view name) {
    field = trimmed(field, blanks);
    if (!field.starts_with(name))
        refuse();
    field = trimmed(field.substr(name.size()), blanks);
    if (!field.starts_with('='))
        refuse();
    return trimmed(field.substr(1), blanks);
}

} // namespace

PluralForms::PluralForms(std::string_view header) {
    const std::size_t first = header.find(';');
    if (first == std::string_view::npos || header.size() > longest_rule)
        refuse();
    const std::string_view after = header.substr(first + 1);
    const std::size_t end = std::min(after.find(';'), after.size());
    if (!trimmed(after.substr(end), " \t\r\n;").empty())
        refuse();
    const auto count = number_of<std::uint64_t>(value_of(header.substr(0, first), "nplurals"));
    if (!count || *count == 0 || *count > most_forms)
        refuse();
    forms_ = *count;
    rule_ = value_of(after.substr(0, end), "plural");
    form(0);
}

std::uint64_t PluralForms::form(std::uint64_t n) const {
    const std::uint64_t index = Reading(rule_, n).whole();
    return index < forms_ ? index : 0;
}

} // namespace headscope
