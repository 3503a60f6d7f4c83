#include "app/commands/keys.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

std::string key_text(Key key) {
    constexpr std::pair<Key, const char*> names[] = {{Key::space, "space"},
                                                     {Key::minus, "−"},
                                                     {Key::plus, "+"},
                                                     {Key::left, "←"},
                                                     {Key::right, "→"},
                                                     {Key::up, "↑"},
                                                     {Key::down, "↓"},
                                                     {Key::page_up, "Page up"},
                                                     {Key::page_down, "Page down"},
                                                     {Key::home, "Home"},
                                                     {Key::end, "End"},
                                                     {Key::tab, "Tab"},
                                                     {Key::enter, "Enter"},
                                                     {Key::escape, "Esc"},
                                                     {Key::erase, "Delete"},
                                                     {Key::backspace, "Backspace"},
                                                     {Key::F1, "F1"},
                                                     {Key::F5, "F5"},
                                                     {Key::F10, "F10"},
                                                     {Key::F11, "F11"},
                                                     {Key::menu, "Menu"}};
    const auto* named = std::ranges::find(names, key, &std::pair<Key, const char*>::first);
    return named == std::end(names) ? std::string(1, static_cast<char>(key)) : named->second;
}

std::string held_text(const Chord& chord) {
    return std::string(chord.ctrl ? "Ctrl " : "") + (chord.alt ? "Alt " : "") + (chord.shift ? "Shift " : "");
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
    // What is held with all of many keys is written once.
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
