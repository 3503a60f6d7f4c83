#include "app/commands/keys.h"

#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

/// Returns the name printed on keyboards of the user's language.
std::string key_text(Key key) {
    switch (key) {
    case Key::space:
        return tr("keys.space_key", "space");
    case Key::minus:
        return "−";
    case Key::plus:
        return "+";
    case Key::left:
        return "←";
    case Key::right:
        return "→";
    case Key::up:
        return "↑";
    case Key::down:
        return "↓";
    case Key::page_up:
        return tr("keys.page_up_key", "Page up");
    case Key::page_down:
        return tr("keys.page_down_key", "Page down");
    case Key::home:
        return tr("keys.home_key", "Home");
    case Key::end:
        return tr("keys.end_key", "End");
    case Key::tab:
        return tr("keys.tab_key", "Tab");
    case Key::enter:
        return tr("keys.enter_key", "Enter");
    case Key::escape:
        return tr("keys.esc_key", "Esc");
    case Key::erase:
        return tr("keys.delete_key", "Delete");
    case Key::backspace:
        return tr("keys.backspace_key", "Backspace");
    case Key::F1:
        return "F1";
    case Key::F5:
        return "F5";
    case Key::F10:
        return "F10";
    case Key::F11:
        return "F11";
    case Key::menu:
        return tr("keys.menu_key", "Menu");
    case Key::comma:
    case Key::period:
    case Key::slash:
    case Key::digit_0:
    case Key::A:
    case Key::left_bracket:
    case Key::right_bracket:
        break;
    }
    return {static_cast<char>(key)};
}

std::string held_text(const Chord& chord) {
    std::string held;
    for (const auto& [is_held, name] : {std::pair(chord.ctrl, tr("keys.ctrl_key", "Ctrl")),
                                        {chord.alt, tr("keys.alt_key", "Alt")},
                                        {chord.shift, tr("keys.shift_key", "Shift")}})
        if (is_held)
            held += name + " ";
    return held;
}

bool is_digit(Key key) {
    return key >= digit(0) && key <= digit(9);
}

} // namespace

std::span<const Key> all_keys() {
    static const std::vector<Key> keys = [] {
        std::vector<Key> all{Key::space, Key::comma, Key::minus,        Key::period,
                             Key::slash, Key::plus,  Key::left_bracket, Key::right_bracket};
        for (int value = 0; value <= 9; ++value)
            all.push_back(digit(value));
        for (char capital = 'A'; capital <= 'Z'; ++capital)
            all.push_back(letter(capital));
        for (int key = static_cast<int>(Key::left); key <= static_cast<int>(Key::menu); ++key)
            all.push_back(static_cast<Key>(key));
        return all;
    }();
    return keys;
}

std::string chord_text(const Chord& chord) {
    return held_text(chord) + key_text(chord.key);
}

std::string chords_text(std::span<const Chord> chords) {
    if (chords.empty())
        return {};
    if (chords.size() > 2 && std::ranges::all_of(chords, [](const Chord& one) { return is_digit(one.key); }))
        return chord_text(chords.front()) + " … " + chord_text(chords.back());
    // Write a common modifier of many keys only once.
    const std::string held = held_text(chords.front());
    const bool once = chords.size() > 3 && !held.empty() &&
                      std::ranges::all_of(chords, [&](const Chord& one) { return held_text(one) == held; });
    std::string text;
    for (const Chord& chord : chords)
        text += text.empty() ? chord_text(chord)
                : once       ? " " + key_text(chord.key)
                             : "  " + chord_text(chord);
    return text;
}

} // namespace headscope::app
