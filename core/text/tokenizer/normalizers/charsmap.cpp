#include "core/text/tokenizer/normalizers/charsmap.h"

#include "core/base/message.h"
#include "core/text/tokenizer/unicode.h"

namespace headscope::text {

Charsmap::Charsmap(const std::string& bytes, const Refuse& refuse) {
    constexpr std::size_t width = 4;
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::size_t i = width; i-- > 0;)
            value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
        return value;
    };
    const std::size_t size = bytes.size() < width ? 0 : number(0);
    if (size == 0 || size % width != 0 || size > bytes.size() - width)
        refuse(
            tr("precompiled.bytes_should_hold_length",
               "its {} bytes should hold the length of a trie and the whole trie; save the tokenizer again",
               bytes.size()));
    for (std::size_t at = width; at <= size; at += width)
        units_.push_back(number(at));
    replacements_ = bytes.substr(width + size);
    if (to_utf8_lossy(replacements_) != replacements_)
        refuse(tr("precompiled.replacements_should_utf_8",
                  "its replacements should be UTF-8; save the tokenizer again"));
    check(refuse);
}

std::optional<Charsmap::Match> Charsmap::match(std::string_view text, bool longest) const {
    std::optional<Match> found;
    std::size_t at = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto next = child(at, static_cast<unsigned char>(text[i]));
        if (!next)
            break;
        at = *next;
        if (!has_value(at))
            continue;
        const std::string_view rest = std::string_view(replacements_).substr(value(at));
        found = Match{i + 1, rest.substr(0, rest.find('\0'))};
        if (!longest)
            break;
    }
    return found;
}

std::optional<Charsmap::Match> Charsmap::shortest(std::string_view text) const {
    return match(text, false);
}

std::optional<Charsmap::Match> Charsmap::longest(std::string_view text) const {
    return match(text, true);
}

/// The index that a unit's children and value are relative to.
std::size_t Charsmap::base(std::size_t at) const {
    const std::uint32_t unit = units_[at];
    return at ^ std::size_t{(unit >> 10U) << ((unit & 0x200U) >> 6U)};
}

std::optional<std::size_t> Charsmap::child(std::size_t at, unsigned byte) const {
    const std::size_t place = base(at) ^ byte;
    const bool is_child = byte != 0 && place < units_.size() && (units_[place] & 0x800000FFU) == byte;
    return is_child ? std::optional(place) : std::nullopt;
}

/// Visits all keys, depth first.
void Charsmap::check(const Refuse& refuse) const {
    enum class State : std::uint8_t { unseen, open, done };
    std::vector<State> states(units_.size());
    struct Place {
        std::size_t at;
        unsigned next_byte = 1;
    };
    std::vector<Place> path{{0}};
    while (!path.empty()) {
        auto& [at, byte] = path.back();
        if (byte == 1)
            check_unit(at, refuse);
        states[at] = byte <= 0xFF ? State::open : State::done;
        if (byte > 0xFF) {
            path.pop_back();
            continue;
        }
        const auto next = child(at, byte++);
        if (next && states[*next] == State::open)
            refuse(tr("precompiled.trie_leads_unit_back",
                      "its trie leads from unit {} back to unit {}, so that a key has no end; save "
                      "the tokenizer again",
                      at, *next));
        if (next && states[*next] == State::unseen)
            path.push_back({*next});
    }
}

void Charsmap::check_unit(std::size_t at, const Refuse& refuse) const {
    if (base(at) >= units_.size())
        refuse(tr("precompiled.trie_units_points_outside",
                  "its trie of {} units points outside at unit {}; save the tokenizer again", units_.size(),
                  at));
    if (!has_value(at))
        return;
    const std::size_t begin = value(at);
    if (begin > replacements_.size() ||
        (begin < replacements_.size() && (static_cast<unsigned char>(replacements_[begin]) & 0xC0U) == 0x80U))
        refuse(
            tr("precompiled.trie_names_replacement_byte",
               "its trie names a replacement at byte {} of {}, where none begins; save the tokenizer again",
               begin, replacements_.size()));
}

} // namespace headscope::text
