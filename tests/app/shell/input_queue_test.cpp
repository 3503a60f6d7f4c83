#include "app/shell/input_queue.h"

#include "tests/catch.h"

#include <GLFW/glfw3.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace headscope::app {
namespace {

/// The frames of a Dear ImGui context of its own.
struct Frames {
    InputQueue queue;
    ImGuiContext* before = ImGui::GetCurrentContext();
    ImGuiContext* context = ImGui::CreateContext();
    ImGuiIO& io = (ImGui::SetCurrentContext(context), ImGui::GetIO());

    Frames() = default;
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;
    ~Frames() {
        ImGui::DestroyContext(context);
        ImGui::SetCurrentContext(before);
    }
    void next() {
        io.MouseWheel = io.MouseWheelH = 0;
        io.InputQueueCharacters.resize(0);
        queue.apply(io);
    }
};

} // namespace

TEST_CASE("a press and release between two frames arrive as two frames", "[input]") {
    Frames f;
    f.queue.push(MouseMoved{10, 20});
    f.queue.push(MouseButton{0, true});
    f.queue.push(MouseButton{0, false});
    f.next();
    CHECK(f.io.MousePos.x == 10);
    CHECK(f.io.MouseDown[0]);
    CHECK_FALSE(f.queue.empty());
    f.next();
    CHECK_FALSE(f.io.MouseDown[0]);
    CHECK(f.queue.empty());
}

TEST_CASE("a press stands where the mouse was, not where it went", "[input]") {
    Frames f;
    f.queue.push(MouseMoved{1, 1});
    f.queue.push(MouseButton{0, true});
    f.queue.push(MouseMoved{50, 50});
    f.queue.push(MouseButton{0, false});
    f.next();
    CHECK((f.io.MousePos.x == 1 && f.io.MouseDown[0]));
    f.next();
    CHECK((f.io.MousePos.x == 50 && !f.io.MouseDown[0]));
}

TEST_CASE("moves between two frames are one move", "[input]") {
    Frames f;
    for (int i = 0; i < 100; ++i)
        f.queue.push(MouseMoved{static_cast<float>(i), 0});
    f.next();
    CHECK(f.io.MousePos.x == 99);
    CHECK(f.queue.empty());
}

TEST_CASE("a modifier is down as long as what it modifies", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{GLFW_KEY_LEFT_CONTROL, true});
    f.queue.push(MouseButton{0, true});
    f.queue.push(MouseButton{0, false});
    f.queue.push(KeyChanged{GLFW_KEY_LEFT_CONTROL, false});
    f.next();
    CHECK((f.io.KeyCtrl && f.io.MouseDown[0]));
    f.next();
    CHECK((f.io.KeyCtrl && !f.io.MouseDown[0]));
    f.next();
    CHECK_FALSE(f.io.KeyCtrl);
}

TEST_CASE("text after an editing key waits for the next frame", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{GLFW_KEY_BACKSPACE, true});
    f.queue.push(CharacterTyped{'x'});
    f.next();
    CHECK(f.queue.down(GLFW_KEY_BACKSPACE));
    CHECK(f.io.InputQueueCharacters.empty());
    f.next();
    CHECK(f.io.InputQueueCharacters.size() == 1);
}

TEST_CASE("a letter's key and its character come in one frame", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{GLFW_KEY_X, true});
    f.queue.push(CharacterTyped{'x'});
    f.next();
    CHECK((f.queue.down(GLFW_KEY_X) && f.io.InputQueueCharacters.size() == 1));
    CHECK(f.queue.holding());
}

TEST_CASE("a text typed into a field takes one frame, and Escape behind it as well", "[input]") {
    Frames f;
    f.io.WantTextInput = true;
    for (int word = 0; word < 40; ++word) {
        f.queue.push(KeyChanged{GLFW_KEY_LEFT_SHIFT, true});
        for (const char letter : {'A', 'L', 'L'}) {
            f.queue.push(KeyChanged{letter, true});
            f.queue.push(CharacterTyped{static_cast<unsigned int>(letter)});
            f.queue.push(KeyChanged{letter, false});
        }
        f.queue.push(KeyChanged{GLFW_KEY_LEFT_SHIFT, false});
    }
    f.queue.push(KeyChanged{GLFW_KEY_ESCAPE, true});
    f.next();
    CHECK(f.io.InputQueueCharacters.size() == 120);
    CHECK(f.queue.down(GLFW_KEY_ESCAPE));
    CHECK_FALSE(f.io.KeyShift);
    CHECK(f.queue.empty());
}

TEST_CASE("in a field a key with Ctrl stays a key, and letters before it come first", "[input]") {
    Frames f;
    f.io.WantTextInput = true;
    f.queue.push(KeyChanged{GLFW_KEY_B, true});
    f.queue.push(CharacterTyped{'b'});
    f.queue.push(KeyChanged{GLFW_KEY_LEFT_CONTROL, true});
    f.queue.push(KeyChanged{GLFW_KEY_A, true});
    f.next();
    CHECK(f.io.InputQueueCharacters.size() == 1);
    CHECK_FALSE(f.queue.down(GLFW_KEY_A));
    f.next();
    CHECK((f.io.KeyCtrl && f.queue.down(GLFW_KEY_A)));
}

TEST_CASE("a key that was down before the field took the text is let go in it", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{GLFW_KEY_E, true});
    f.next();
    CHECK(f.queue.holding());
    f.io.WantTextInput = true;
    f.queue.push(KeyChanged{GLFW_KEY_E, false});
    f.next();
    CHECK_FALSE(f.queue.holding());
}

TEST_CASE("outside the window there is no mouse, except while dragging", "[input]") {
    Frames f;
    f.queue.push(MouseMoved{5, 5});
    f.queue.push(MouseButton{0, true});
    f.next();
    f.queue.push(MouseLeft{});
    f.next();
    CHECK(f.io.MousePos.x == 5);
    f.queue.push(MouseButton{0, false});
    f.next();
    CHECK(f.io.MousePos.x == -FLT_MAX);
}

TEST_CASE("losing the focus lets go of everything", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{GLFW_KEY_LEFT_SHIFT, true});
    f.queue.push(MouseButton{1, true});
    f.queue.push(FocusChanged{false});
    f.next();
    CHECK((f.io.KeyShift && f.io.MouseDown[1]));
    f.next();
    CHECK_FALSE((f.io.KeyShift || f.io.MouseDown[1]));
    CHECK_FALSE(f.queue.holding());
}

TEST_CASE("keys and buttons out of range are dropped", "[input]") {
    Frames f;
    f.queue.push(KeyChanged{-1, true});
    f.queue.push(KeyChanged{100000, true});
    f.queue.push(MouseButton{7, true});
    f.next();
    CHECK(f.queue.empty());
    CHECK_FALSE(f.queue.holding());
}

TEST_CASE("no event is lost or overtaken", "[input]") {
    // Any sequence of clicks, keys, letters and scrolling arrives change by change in its order.
    CHECK(rc::check("every change is seen, in order", [] {
        const auto script = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8));
        Frames f;
        std::vector<int> sent, seen;
        bool button = false, left = false, right = false;
        for (const int what : script) {
            if (what == 0)
                f.queue.push(MouseButton{0, button = !button});
            else if (what == 1)
                f.queue.push(KeyChanged{GLFW_KEY_LEFT, left = !left});
            else if (what == 2)
                f.queue.push(KeyChanged{GLFW_KEY_RIGHT, right = !right});
            else if (what == 3)
                f.queue.push(CharacterTyped{'a'});
            else if (what == 4)
                f.queue.push(MouseScrolled{0, 1});
            else
                f.queue.push(MouseMoved{static_cast<float>(what), 0});
            if (what < 5)
                sent.push_back(what);
        }
        std::size_t frames = 0;
        bool was_button = false, was_left = false, was_right = false;
        while (!f.queue.empty()) {
            RC_ASSERT(++frames <= script.size());
            f.next();
            std::vector<int> changes;
            if (f.io.MouseDown[0] != was_button)
                changes.push_back(0);
            if (f.queue.down(GLFW_KEY_LEFT) != was_left)
                changes.push_back(1);
            if (f.queue.down(GLFW_KEY_RIGHT) != was_right)
                changes.push_back(2);
            changes.insert(changes.end(), static_cast<std::size_t>(f.io.InputQueueCharacters.size()), 3);
            changes.insert(changes.end(), static_cast<std::size_t>(f.io.MouseWheel), 4);
            was_button = f.io.MouseDown[0];
            was_left = f.queue.down(GLFW_KEY_LEFT);
            was_right = f.queue.down(GLFW_KEY_RIGHT);
            // Within a frame the order is ImGui's own; across frames it is that of the events.
            RC_ASSERT(seen.size() + changes.size() <= sent.size());
            std::vector<int> expected(sent.begin() + static_cast<std::ptrdiff_t>(seen.size()),
                                      sent.begin() +
                                          static_cast<std::ptrdiff_t>(seen.size() + changes.size()));
            std::sort(expected.begin(), expected.end());
            RC_ASSERT(changes == expected);
            seen.insert(seen.end(), changes.begin(), changes.end());
        }
        RC_ASSERT(seen.size() == sent.size());
    }));
}

} // namespace headscope::app
