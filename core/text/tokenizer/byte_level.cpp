#include "core/text/tokenizer/byte_level.h"

#include "core/text/tokenizer/unicode.h"

#include <array>
#include <unordered_map>

namespace headscope::text {

namespace {

bool stands_for_itself(unsigned byte) {
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
    Alphabet() {
        char32_t next = 0x100;
        for (unsigned byte = 0; byte < letters.size(); ++byte) {
            const char32_t letter = stands_for_itself(byte) ? byte : next++;
            append_utf8(letters[byte], letter);
            bytes.emplace(letter, static_cast<char>(byte));
        }
    }
    std::array<std::string, 256> letters;
    std::unordered_map<char32_t, char> bytes;
};

const Alphabet& alphabet() {
    static const Alphabet the_alphabet;
    return the_alphabet;
}

} // namespace

std::string_view byte_level_character(unsigned char byte) {
    return alphabet().letters[byte];
}

std::optional<std::string> bytes_of_byte_level_text(std::string_view utf8) {
    std::string bytes;
    bool known = true;
    for_each_code_point(utf8, [&](char32_t letter, std::size_t, std::size_t) {
        const auto found = alphabet().bytes.find(letter);
        known = known && found != alphabet().bytes.end();
        if (known)
            bytes += found->second;
    });
    return known ? std::optional(bytes) : std::nullopt;
}

} // namespace headscope::text
