#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headscope::app {

/// A key of the keyboard. Letters, digits and punctuation have their ASCII code.
enum class Key : std::uint8_t {
    space = ' ',
    comma = ',',
    minus = '-',
    period = '.',
    slash = '/',
    digit_0 = '0',
    plus = '=', ///< the key that carries + on a US keyboard
    A = 'A',
    left_bracket = '[',
    right_bracket = ']',
    left = 128,
    right,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    tab,
    enter,
    escape,
    erase, ///< Delete
    backspace,
    F1,
    F5,
    F10,
    F11,
    menu ///< the key that opens a context menu
};

constexpr Key letter(char capital) {
    return static_cast<Key>(capital);
}
constexpr Key digit(int value) {
    return static_cast<Key>('0' + value);
}

/// A key and its modifiers.
struct Chord {
    Key key{};
    bool ctrl = false, shift = false, alt = false;
    bool operator==(const Chord&) const = default;
};

constexpr Chord ctrl(Key key) {
    return {key, true};
}
constexpr Chord ctrl(char capital) {
    return {letter(capital), true};
}
constexpr Chord ctrl_shift(char capital) {
    return {letter(capital), true, true};
}
constexpr Chord shift(Key key) {
    return {key, false, true};
}
constexpr Chord alt(Key key) {
    return {key, false, false, true};
}
constexpr Chord alt(char capital) {
    return {letter(capital), false, false, true};
}

/// Returns every key that an action may use.
std::span<const Key> all_keys();

/// "Ctrl Shift S", "Page down", "→", with the key names of the user's language.
std::string chord_text(const Chord& chord);
/// Several of them for a list: "→  ←", "1 … 9", "Shift → ← ↓ ↑".
std::string chords_text(std::span<const Chord> chords);

} // namespace headscope::app
