#pragma once

#include "app/shell/input_queue.h"
#include "app/shell/ui.h"
#include "tests/gui/support/null_surface.h"

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::test {

using namespace headscope::app;

/// Runs a Ui frame by frame without a display and operates it as a user does, through the same input queue as
/// the real window. Positions are in physical pixels. Only one object may exist at a time: it owns the ImGui
/// context.
class Driver {
public:
    explicit Driver(Ui& ui, float width = 1600, float height = 1000, float scale = 1);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    static constexpr double frame_seconds = 1.0 / 60;
    /// Draws frames without new input. Consecutive frames differ by this many seconds on the Ui's clock.
    void wait(int frames = 1, double seconds = frame_seconds);
    /// Draws until `done` returns true. Returns true if it did within `frames`, or within half a minute if
    /// workers are slower.
    template<class Done>
    bool wait_until(Done done, int frames = 600, double seconds = frame_seconds) {
        const auto patient = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        for (; !done() && (frames > 0 || std::chrono::steady_clock::now() < patient); --frames)
            wait(1, seconds);
        return done();
    }
    /// Draws until all input so far has reached the Ui, then one more frame.
    void settle();

    void move(float x, float y);
    void press(int button = 0);
    void release(int button = 0);
    void click(float x, float y, int button = 0);
    void double_click(float x, float y);
    void drag(float from_x, float from_y, float to_x, float to_y, int steps = 8);
    /// Drags so fast that the move and the release reach the Ui in the same frame, as on a slow machine.
    void flick(float from_x, float from_y, float to_x, float to_y);
    void scroll(float lines, float columns = 0);
    /// Presses GLFW_KEY_* for one frame, with the GLFW_MOD_* bits.
    void key(int key, int modifiers = 0);
    /// Presses keys one after the other within a frame, with the letters that they type.
    void keys(std::initializer_list<int> keys);
    void hold(int key, bool down);
    void type(std::string_view utf8);
    void resize(float width, float height);

    /// Returns the area of the widget with this label in the last frame; the label as in the code, "##" part
    /// included. `path` names the windows and PushID strings around it, outermost first, joined by '/'.
    /// Without a path any item whose label was drawn directly in a window matches.
    std::optional<figure::Rect> find(const std::string& path) const;
    /// Clicks the middle of a widget. Returns true if the widget was there.
    bool click_item(const std::string& path);

    NullSurface& surface() { return surface_; }
    double now() const { return now_; }
    std::string clipboard;

private:
    Ui& ui_;
    NullSurface surface_;
    ImGuiContext* context_;
    InputQueue input_;
    float width_, height_, scale_;
    double now_ = 0;
};

} // namespace headscope::test
