#pragma once

#include "app/views/surface.h"
#include "core/text/one_line.h"

#include <string>

namespace headscope::app {

/// Is told what a frame puts on screen, in the order of drawing, on the window's thread.
class ScreenObserver {
public:
    ScreenObserver() = default;
    ScreenObserver(const ScreenObserver&) = delete;
    ScreenObserver& operator=(const ScreenObserver&) = delete;
    virtual ~ScreenObserver() = default;

    /// ImGui's last item is the one with this label ("##" part included).
    virtual void item(const std::string& label) = 0;
    /// A text field shows this text, before what is typed in this frame.
    virtual void field(const std::string& label, const std::string& text) = 0;
    /// The baseline begins, is centred or ends at (x, y) physical pixels of the window.
    virtual void text(const std::string& text, float x, float y, const ImDrawList& list) = 0;
};

/// ImGui's items of the same names, made known to the surface's observer.
bool invisible_button(const std::string& label, const ImVec2& size, Surface& surface);
bool selectable(const std::string& label, bool selected, ImGuiSelectableFlags flags, Surface& surface);
/// A text of bytes that are not UTF-8 keeps them until something is typed.
bool input_text(const std::string& label, const std::string& hint, std::string& text,
                ImGuiInputTextFlags flags, ImGuiInputTextCallback callback, void* data, Surface& surface,
                text::ControlCharacters controls = text::ControlCharacters::trimmed);

} // namespace headscope::app
