#include "core/base/catalogue.h"

#include "core/base/error.h"

#include <cstring>
#include <utility>

namespace headscope {

namespace {

constexpr std::uint32_t magic = 0x950412de;
constexpr char after_context = '\x04'; ///< separates the context from the message

std::uint32_t word_at(const std::string& bytes, std::size_t offset) {
    std::uint32_t word = 0;
    if (offset > bytes.size() || bytes.size() - offset < sizeof word)
        throw Error(ErrorKind::internal, "a catalogue of messages ends early");
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

/// The text of a table row, which holds the text's length and its offset.
std::string_view text_at(const std::string& bytes, std::size_t row) {
    const std::size_t length = word_at(bytes, row), begin = word_at(bytes, row + 4);
    if (begin > bytes.size() || bytes.size() - begin < length)
        throw Error(ErrorKind::internal, "a catalogue of messages ends early");
    return {bytes.data() + begin, length};
}

} // namespace

Catalogue::Catalogue(std::string bytes) : bytes_(std::move(bytes)) {
    if (word_at(bytes_, 0) != magic)
        throw Error(ErrorKind::internal, "a catalogue of messages does not begin as one");
    const std::size_t count = word_at(bytes_, 8), originals = word_at(bytes_, 12),
                      translations = word_at(bytes_, 16);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view message = text_at(bytes_, originals + 8 * i);
        // A counted message has both forms as its key; the first form alone is sufficient.
        messages_.emplace(message.substr(0, message.find('\0')), text_at(bytes_, translations + 8 * i));
    }
}

std::string_view Catalogue::find(std::string_view message) const {
    // The empty message is the header of the catalog.
    const auto found = message.empty() ? messages_.end() : messages_.find(message);
    return found == messages_.end() ? std::string_view() : found->second.substr(0, found->second.find('\0'));
}

std::string_view Catalogue::find_in(std::string_view context, std::string_view message) const {
    return find(std::string(context) + after_context + std::string(message));
}

std::string_view Catalogue::find_plural(std::string_view one, std::int64_t count) const {
    const auto found = messages_.find(one);
    if (found == messages_.end())
        return {};
    const std::size_t end = found->second.find('\0');
    return count == 1 || end == std::string_view::npos ? found->second.substr(0, end)
                                                       : found->second.substr(end + 1);
}

} // namespace headscope
