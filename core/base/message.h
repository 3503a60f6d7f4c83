#pragma once

#include <cstdint>
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope {

// The program's sentences in the user's language. The sources contain English; assets/languages has a GNU
// gettext catalog for every other language. A sentence without a translation stays English.

/// Sets the language of all sentences created from now on: "en", or one of languages(). Call it before the
/// first thread starts: existing sentences are not translated. Throws Error(input) for another name.
void use_language(std::string_view language);
/// The current language, "en" by default.
std::string_view language_in_use();

struct Language {
    std::string code; ///< "de"
    std::string name; ///< in the language itself: "Deutsch"
};
/// English first, then the languages with a catalog, sorted by code.
std::vector<Language> languages();
/// The language part of a locale, without country, character set and variant: "de" for "de_DE.UTF-8" and
/// "de-AT".
std::string_view language_code(std::string_view locale);
/// The language that a locale requests ("de" for "de_DE.UTF-8" and "de-AT"), or "en" if there is no catalog
/// for it.
std::string language_of_locale(std::string_view locale);

/// Marks a literal that is passed to tr() later, for example in a constexpr table. Returns the literal
/// itself.
constexpr std::string_view translatable(std::string_view message) {
    return message;
}

/// The message in the user's language. Braces are literal.
std::string tr(std::string_view message);

/// The message in the user's language, with the values in place of its {}: tr("{} has {} rows", name, rows).
/// A translation may reorder them with {0} and {1}. The compiler checks the English form. Numbers with
/// decimals, units or thousands separators are passed as formatted text (format.h).
template<class... Values>
requires(sizeof...(Values) > 0) std::string tr(fmt::format_string<Values...> message, Values&&... values);

/// One of two forms, selected by a count: tr_n("{} head", "{} heads", heads, heads). The count is printed
/// only if it is also among the values.
template<class... Values>
std::string tr_n(fmt::format_string<Values...> one, fmt::format_string<Values...> many, std::int64_t count,
                 Values&&... values);

/// For an English word that is used with different meanings: tr_in("verb", "Open"). The context distinguishes
/// them for the translator.
std::string tr_in(std::string_view context, std::string_view message);

namespace detail {
/// The translation, or an empty view.
std::string_view translation(std::string_view message);
std::string_view plural_translation(std::string_view one, std::int64_t count);
/// Falls back to the English form if the translation's fields do not match the values.
std::string filled(std::string_view translated, std::string_view english, fmt::format_args values);
} // namespace detail

template<class... Values>
requires(sizeof...(Values) > 0) std::string tr(fmt::format_string<Values...> message, Values&&... values) {
    const fmt::string_view english = message;
    const std::string_view text(english.data(), english.size());
    return detail::filled(detail::translation(text), text, fmt::make_format_args(values...));
}

template<class... Values>
std::string tr_n(fmt::format_string<Values...> one, fmt::format_string<Values...> many, std::int64_t count,
                 Values&&... values) {
    const fmt::string_view key = one, english = count == 1 ? key : fmt::string_view(many);
    return detail::filled(detail::plural_translation({key.data(), key.size()}, count),
                          {english.data(), english.size()}, fmt::make_format_args(values...));
}

} // namespace headscope
