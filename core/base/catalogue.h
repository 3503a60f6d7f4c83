#pragma once

#include "core/base/plural_forms.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope {

/// A catalogue of translated messages: the binary form (.mo) of GNU gettext's manual, "The Format of GNU MO
/// Files". The context (msgctxt) of a message is its id, and a message is found by its id alone. Immutable.
class Catalogue {
public:
    /// Throws Error(internal) if the bytes are not a sorted catalogue in this machine's byte order, or its
    /// Plural-Forms header is malformed.
    explicit Catalogue(std::string bytes);

    /// Views into the catalogue; empty if the message has no translation.
    std::string_view find(std::string_view id) const;
    /// The form for a count, as the Plural-Forms header chooses it.
    std::string_view find_plural(std::string_view id, std::int64_t count) const;

    /// "id\4English" or "id\4one\0many", sorted, with the translation, whose forms are separated by '\0'. The
    /// header is the entry with an empty first text.
    const std::vector<std::pair<std::string_view, std::string_view>>& messages() const { return messages_; }
    const PluralForms& plural_forms() const { return plural_forms_; }

private:
    /// All forms of a translation.
    std::string_view forms_of(std::string_view id) const;

    std::string bytes_;
    std::vector<std::pair<std::string_view, std::string_view>> messages_;
    PluralForms plural_forms_;
};

} // namespace headscope
