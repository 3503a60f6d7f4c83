#include "tests/gui/support/driver.h"

#include "app/shell/gl/imgui_lock.h"
#include "tests/gui/support/screen.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>
#include <utf8proc.h>

#include <algorithm>
#include <utility>

namespace headscope::test {

using namespace headscope::app;

Driver::Driver(Ui& ui, float width, float height, float scale)
    : ui_(ui), surface_(scale * ui.zoom()), context_(ImGui::CreateContext(&surface_.fonts().atlas())),
      width_(width), height_(height), scale_(scale) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_HasMouseCursors;
    io.ClipboardUserData = this;
    io.GetClipboardTextFn = [](void* self) { return static_cast<Driver*>(self)->clipboard.c_str(); };
    io.SetClipboardTextFn = [](void* self, const char* text) {
        static_cast<Driver*>(self)->clipboard = text;
    };
    wait(3);
}

Driver::~Driver() {
    ImGui::DestroyContext(context_);
}

void Driver::wait(int frames, double seconds) {
    for (; frames > 0; --frames) {
        const ImGuiLock turn(context_);
        surface_.refresh(scale_ * ui_.zoom());
        ImGuiIO& io = ImGui::GetIO();
        io.Fonts = &surface_.fonts().atlas();
        io.FontDefault = surface_.font(figure::Font::ui, 13);
        io.DisplaySize = {width_, height_};
        io.DeltaTime = static_cast<float>(seconds);
        update_want_text_input();
        input_.apply(io);
        begin_recording();
        ImGui::NewFrame();
        ui_.frame(surface_, now_);
        ImGui::Render();
        surface_.end_frame();
        end_recording();
        now_ += seconds;
    }
}

void Driver::settle() {
    do
        wait();
    while (!input_.empty());
    wait();
}

void Driver::move(float x, float y) {
    input_.push(MouseMoved{x, y});
    settle();
}

void Driver::press(int button) {
    input_.push(MouseButton{button, true});
    settle();
}

void Driver::release(int button) {
    input_.push(MouseButton{button, false});
    settle();
}

void Driver::click(float x, float y, int button) {
    move(x, y);
    press(button);
    release(button);
}

void Driver::double_click(float x, float y) {
    move(x, y);
    for (int i = 0; i < 2; ++i) {
        input_.push(MouseButton{0, true});
        input_.push(MouseButton{0, false});
    }
    settle();
}

void Driver::drag(float from_x, float from_y, float to_x, float to_y, int steps) {
    move(from_x, from_y);
    press();
    for (int i = 1; i <= steps; ++i) {
        const float part = static_cast<float>(i) / static_cast<float>(steps);
        move(from_x + (to_x - from_x) * part, from_y + (to_y - from_y) * part);
    }
    release();
}

void Driver::flick(float from_x, float from_y, float to_x, float to_y) {
    move(from_x, from_y);
    press();
    input_.push(MouseMoved{to_x, to_y});
    input_.push(MouseButton{0, false});
    settle();
}

void Driver::scroll(float lines, float columns) {
    input_.push(MouseScrolled{columns, lines});
    settle();
}

void Driver::hold(int key, bool down) {
    input_.push(KeyChanged{key, down});
    settle();
}

void Driver::key(int key, int modifiers) {
    constexpr std::pair<int, int> held[] = {{GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT},
                                            {GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL},
                                            {GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT},
                                            {GLFW_MOD_SUPER, GLFW_KEY_LEFT_SUPER}};
    for (const auto& [bit, modifier] : held)
        if (modifiers & bit)
            input_.push(KeyChanged{modifier, true});
    input_.push(KeyChanged{key, true});
    input_.push(KeyChanged{key, false});
    for (const auto& [bit, modifier] : held)
        if (modifiers & bit)
            input_.push(KeyChanged{modifier, false});
    settle();
}

void Driver::keys(std::initializer_list<int> keys) {
    for (const int key : keys) {
        input_.push(KeyChanged{key, true});
        if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z)
            input_.push(CharacterTyped{static_cast<unsigned int>(key - GLFW_KEY_A + 'a')});
        input_.push(KeyChanged{key, false});
    }
    settle();
}

void Driver::type(std::string_view utf8) {
    const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(utf8.data());
    auto left = static_cast<utf8proc_ssize_t>(utf8.size());
    while (left > 0) {
        utf8proc_int32_t code_point = 0;
        const auto used = utf8proc_iterate(at, left, &code_point);
        if (used <= 0)
            break;
        input_.push(CharacterTyped{static_cast<unsigned int>(code_point)});
        at += used;
        left -= used;
    }
    settle();
}

void Driver::resize(float width, float height) {
    width_ = width;
    height_ = height;
    wait(2);
}

std::optional<figure::Rect> Driver::find(const std::string& path) const {
    const auto rect_of = [](ImGuiID id) -> std::optional<figure::Rect> {
        const auto item = std::ranges::find(screen_items(), id, &ScreenItem::id);
        return item == screen_items().end() ? std::nullopt : std::optional(item->area);
    };
    // The first part may be a window's name; ids of items in a window are derived from its id.
    for (const ImGuiWindow* window : context_->Windows) {
        if (!window->WasActive)
            continue;
        const std::string name = window->Name;
        const bool inside = path.starts_with(name + '/');
        ImGuiID id = window->ID;
        std::string rest = inside ? path.substr(name.size() + 1) : path;
        for (std::size_t slash = rest.find('/'); slash != std::string::npos; slash = rest.find('/')) {
            id = ImHashStr(rest.c_str(), slash, id);
            rest.erase(0, slash + 1);
        }
        if (const auto found = rect_of(ImHashStr(rest.c_str(), 0, id)))
            return found;
    }
    return std::nullopt;
}

bool Driver::click_item(const std::string& path) {
    const auto area = find(path);
    if (!area)
        return false;
    click(area->x + area->w / 2, area->y + area->h / 2);
    return true;
}

} // namespace headscope::test
