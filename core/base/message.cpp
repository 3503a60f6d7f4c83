#include "core/base/message.h"

#include "core/base/assets.h"
#include "core/base/catalogue.h"
#include "core/base/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace headscope {

namespace {

constexpr std::string_view folder = "languages/", ending = ".mo", english = "en";
// Translators: the name of your language in that language, for example "Deutsch".
constexpr Message own_name = translatable("language.name", "English");

struct InUse {
    std::string code = std::string(english);
    std::unique_ptr<const Catalogue> catalogue; ///< null: English
};
InUse& in_use() {
    static InUse language;
    return language;
}

std::vector<std::string> codes() {
    std::vector<std::string> codes;
    for (const std::string& name : asset_names(folder))
        if (name.ends_with(ending))
            codes.push_back(name.substr(folder.size(), name.size() - folder.size() - ending.size()));
    return codes;
}

Catalogue catalogue_of(std::string_view code) {
    return Catalogue(asset(std::string(folder) + std::string(code) + std::string(ending)));
}

} // namespace

void use_language(std::string_view language) {
    if (language == english) {
        in_use() = {};
        return;
    }
    const std::vector<std::string> known = codes();
    if (std::ranges::find(known, language) == known.end())
        fail_input(tr("message.program_not_speak_speaks",
                      "there is no language \"{}\"; the languages are {} and en", language,
                      fmt::format("{}", fmt::join(known, ", "))));
    in_use() = {std::string(language), std::make_unique<const Catalogue>(catalogue_of(language))};
}

std::string_view language_in_use() {
    return in_use().code;
}

std::vector<Language> languages() {
    std::vector<Language> all{{std::string(english), std::string(own_name.english)}};
    for (const std::string& code : codes())
        all.push_back({code, std::string(catalogue_of(code).find(own_name.id))});
    return all;
}

std::string_view language_code(std::string_view locale) {
    return locale.substr(0, locale.find_first_of("_.@-"));
}

std::string language_of_locale(std::string_view locale) {
    const std::string_view code = language_code(locale);
    const std::vector<std::string> known = codes();
    return std::string(std::ranges::find(known, code) == known.end() ? english : code);
}

Message find_message(std::span<const Message> messages, std::string_view english) {
    const auto found = std::ranges::find(messages, english, &Message::english);
    return found == messages.end() ? untranslated(english) : *found;
}

std::string tr(const Message& message) {
    const std::string_view translated = detail::translation(message.id);
    return std::string(translated.empty() ? message.english : translated);
}

namespace detail {

std::string_view translation(std::string_view id) {
    return in_use().catalogue == nullptr ? std::string_view() : in_use().catalogue->find(id);
}

std::string_view plural_translation(std::string_view id, std::int64_t count) {
    return in_use().catalogue == nullptr ? std::string_view() : in_use().catalogue->find_plural(id, count);
}

std::string format_translated(std::string_view translated, std::string_view english_form,
                              fmt::format_args values) {
    const auto fill = [&](std::string_view text) {
        return fmt::vformat(fmt::string_view(text.data(), text.size()), values);
    };
    if (translated.empty())
        return fill(english_form);
    try {
        return fill(translated);
    } catch (const fmt::format_error&) {
        return fill(english_form);
    }
}

} // namespace detail

} // namespace headscope
