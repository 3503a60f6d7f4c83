#pragma once

#include <cstdint>
#include <fmt/core.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope {

// The messages of the program in the user's language. The sources hold the English text and, next to it, the
// id of the message; assets/languages has a catalogue of GNU gettext for every other language. A translation
// is found by the id alone, so the English text can be mended without touching the catalogues. A message
// without a translation stays English.

/// Chooses the language of all messages made from now on: "en", or one of languages(). Call it before the
/// first thread starts: earlier messages stay as they are. Throws Error(input) for another name.
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
/// The language that a locale in the environment asks for ("de_DE.UTF-8" and "de-AT" ask for "de"); "en" if
/// it has no catalogue.
std::string language_of_locale(std::string_view locale);

/// The id of a message, a literal such as "stage.scores": lower-case letters, digits, "_" and ".", at most 40
/// characters. It names the message in the catalogues, so it stays when the English text changes.
class MessageId {
public:
    template<std::size_t size>
    consteval MessageId(const char (&id)[size]) : id_(id, size - 1) {
        constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_.";
        if (id_.empty() || id_.size() > 40 || id_.find_first_not_of(allowed) != std::string_view::npos ||
            id_.find('.') == std::string_view::npos)
            throw "the id of a message has a character that is not allowed, or a wrong length";
    }
    constexpr operator std::string_view() const { return id_; }

private:
    std::string_view id_;
};

/// The English text of a message, a literal.
class English {
public:
    template<std::size_t size>
    consteval English(const char (&text)[size]) : text_(text, size - 1) {}
    constexpr operator std::string_view() const { return text_; }

private:
    std::string_view text_;
};

/// A message that tr() translates later, for example in a table. Without an id, it is the same in every
/// language.
struct Message {
    std::string_view id, english;

    constexpr bool empty() const { return english.empty(); }
    bool operator==(const Message&) const = default;
};

/// Marks a message in a table: translatable("stage.scores", "scores").
constexpr Message translatable(MessageId id, English english) {
    return {id, english};
}
/// A symbol or a name that is the same in every language, in a table of messages: untranslated("W_Q").
constexpr Message untranslated(std::string_view text) {
    return {{}, text};
}

/// The message with this English text, for text that is also a key; untranslated() if there is none.
Message find_message(std::span<const Message> messages, std::string_view english);

/// The message in the user's language. Braces have no meaning.
std::string tr(const Message& message);
inline std::string tr(MessageId id, English english) {
    return tr(translatable(id, english));
}

/// The message in the user's language, with the values in place of its {}: tr("trace.rows", "{} has {} rows",
/// name, rows). A translation may reorder them, by {0} and {1}. The compiler checks the English form. Numbers
/// with decimals, units or thousands are passed as text (format.h).
template<class... Values>
requires(sizeof...(Values) > 0) std::string
    tr(MessageId id, fmt::format_string<Values...> english, Values&&... values);

/// A message with a form for each kind of count: tr_n("heads.count", "{} head", "{} heads", heads, heads).
/// The count chooses the form (English has two, other languages as many as their catalogue says) and is
/// printed only if it is also among the values.
template<class... Values>
std::string tr_n(MessageId id, fmt::format_string<Values...> one, fmt::format_string<Values...> many,
                 std::int64_t count, Values&&... values);

namespace detail {
/// The translation, or an empty view.
std::string_view translation(std::string_view id);
std::string_view plural_translation(std::string_view id, std::int64_t count);
/// Falls back to the English form if the fields of the translation do not fit the values.
std::string format_translated(std::string_view translated, std::string_view english, fmt::format_args values);
} // namespace detail

template<class... Values>
requires(sizeof...(Values) > 0) std::string
    tr(MessageId id, fmt::format_string<Values...> english, Values&&... values) {
    const fmt::string_view text = english;
    return detail::format_translated(detail::translation(id), {text.data(), text.size()},
                                     fmt::make_format_args(values...));
}

template<class... Values>
std::string tr_n(MessageId id, fmt::format_string<Values...> one, fmt::format_string<Values...> many,
                 std::int64_t count, Values&&... values) {
    const fmt::string_view text = count == 1 ? one : many;
    return detail::format_translated(detail::plural_translation(id, count), {text.data(), text.size()},
                                     fmt::make_format_args(values...));
}

} // namespace headscope
