#include "tests/bench/typing.h"

#include "app/shell/window.h"

#include <chrono>
#include <string_view>
#include <thread>

namespace headscope::bench {

namespace {

constexpr std::string_view typed_text = "And the old man reads a paper near her house";
constexpr std::chrono::milliseconds pause(33); // 30 characters a second
constexpr int keys_for_focus = 10;             // the field gets the keyboard a frame or two later

} // namespace

void Typist::press_keys(const std::atomic<bool>& stop) {
    start_ = BenchClock::now();
    for (int key = 0; key < keys_for_focus + static_cast<int>(typed_text.size()) && !stop; ++key) {
        std::this_thread::sleep_until(start_ + key * pause);
        ++pressed_;
        app::wake_window();
    }
}

char32_t Typist::before_frame() {
    if (taken_ == pressed_)
        return 0;
    if (++taken_ == 1)
        program_.act(app::TypeSentence{});
    const int character = taken_ - 1 - keys_for_focus;
    return character < 0 ? 0 : static_cast<unsigned char>(typed_text[static_cast<std::size_t>(character)]);
}

void Typist::after_frame() {
    // Typing begins with an empty field: its previous text is selected.
    const std::string& shown = program_.state().shown.document->recipe.sentence;
    while (!done() && shown.starts_with(typed_text.substr(0, seconds_.size() + 1)))
        seconds_.push_back(since(start_ + (keys_for_focus + static_cast<int>(seconds_.size())) * pause));
}

bool Typist::done() const {
    return seconds_.size() == typed_text.size();
}

} // namespace headscope::bench
