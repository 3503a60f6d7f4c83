#include "core/base/catalogue.h"

#include "core/base/error.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headscope {

namespace {

constexpr std::uint32_t magic = 0x950412de;
constexpr char after_id = '\x04'; ///< between the id and the English text
constexpr std::string_view plural_header = "Plural-Forms:";

std::uint32_t word_at(const std::string& bytes, std::size_t offset) {
    std::uint32_t word = 0;
    if (offset > bytes.size() || bytes.size() - offset < sizeof word)
        throw Error(ErrorKind::internal, "a catalogue of messages ends early");
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

/// The text of a table row, which holds its length and its offset.
std::string_view text_at(const std::string& bytes, std::size_t row) {
    const std::size_t length = word_at(bytes, row), begin = word_at(bytes, row + 4);
    if (begin > bytes.size() || bytes.size() - begin < length)
        throw Error(ErrorKind::internal, "a catalogue of messages ends early");
    return {bytes.data() + begin, length};
}

/// The text between the separators `\0` at an index; empty after the last.
std::string_view piece(std::string_view texts, std::uint64_t index) {
    for (; index > 0; --index) {
        const std::size_t end = texts.find('\0');
        if (end == std::string_view::npos)
            return {};
        texts.remove_prefix(end + 1);
    }
    return texts.substr(0, texts.find('\0'));
}

PluralForms plural_forms_of(std::string_view header) {
    while (!header.empty()) {
        const std::string_view line = header.substr(0, header.find('\n'));
        if (line.starts_with(plural_header))
            return PluralForms(line.substr(plural_header.size()));
        header.remove_prefix(std::min(line.size() + 1, header.size()));
    }
    return {};
}

} // namespace

Catalogue::Catalogue(std::string bytes) : bytes_(std::move(bytes)) {
    if (word_at(bytes_, 0) != magic)
        throw Error(ErrorKind::internal, "a catalogue of messages does not begin as one");
    const std::size_t count = word_at(bytes_, 8), originals = word_at(bytes_, 12),
                      translations = word_at(bytes_, 16);
    for (std::size_t i = 0; i < count; ++i)
        messages_.emplace_back(text_at(bytes_, originals + 8 * i), text_at(bytes_, translations + 8 * i));
    if (!std::ranges::is_sorted(messages_, {}, &std::pair<std::string_view, std::string_view>::first))
        throw Error(ErrorKind::internal, "a catalogue of messages is not sorted");
    if (!messages_.empty() && messages_.front().first.empty())
        plural_forms_ = plural_forms_of(messages_.front().second);
}

std::string_view Catalogue::forms_of(std::string_view id) const {
    const std::string begin = std::string(id) + after_id;
    const auto found = std::ranges::lower_bound(messages_, std::string_view(begin), {},
                                                &std::pair<std::string_view, std::string_view>::first);
    return found == messages_.end() || !found->first.starts_with(begin) ? std::string_view() : found->second;
}

std::string_view Catalogue::find(std::string_view id) const {
    return piece(forms_of(id), 0);
}

std::string_view Catalogue::find_plural(std::string_view id, std::int64_t count) const {
    return piece(forms_of(id), plural_forms_.form(static_cast<std::uint64_t>(count)));
}

} // namespace headscope
