#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

/// The rule by which a language chooses among the forms of a counted message: the Plural-Forms header of a
/// gettext catalogue ("nplurals=2; plural=(n != 1);"). The rule is a C expression of the count n and whole
/// numbers, with ?:, ||, &&, comparisons, + - * / %, ! and parentheses. Immutable.
class PluralForms {
public:
    /// The default of gettext: the first form for 1, the second for any other count.
    PluralForms() = default;
    /// Throws Error(internal) if the header is malformed.
    explicit PluralForms(std::string_view header);

    std::uint64_t forms() const { return forms_; }
    /// The index of the form, below forms(). As in gettext, arithmetic wraps around, and a result that is too
    /// large selects the first form; division by zero gives 0.
    std::uint64_t form(std::uint64_t n) const;

private:
    std::uint64_t forms_ = 2;
    std::string rule_ = "n != 1";
};

} // namespace headscope
