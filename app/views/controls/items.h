#pragma once

#include "app/views/surface.h"
#include "core/text/one_line.h"

#include <string>

namespace headscope::app {

/// Observes what a frame puts on screen, in drawing order, on the window's thread.
class ScreenObserver {
public:
    ScreenObserver() = default;
    ScreenObserver(const ScreenObserver&) = delete;
    ScreenObserver& operator=(const ScreenObserver&) = delete;
    virtual ~ScreenObserver() = default;

    /// Reports that ImGui's last item has this label ("##" part included).
    virtual void item(const std::string& label) = 0;
    /// Reports that a text field shows this text, before the input of this frame.
    virtual void field(const std::string& label, const std::string& text) = 0;
    /// Reports a text. Its baseline starts, is centered or ends at (x, y) physical pixels of the window.
    virtual void text(const std::string& text, float x, float y, const ImDrawList& list) = 0;
};

/// ImGui's items of the same names, reported to the surface's observer.
bool invisible_button(const std::string& label, const ImVec2& size, Surface& surface);
bool selectable(const std::string& label, bool selected, ImGuiSelectableFlags flags, Surface& surface);
/// A text that is not valid UTF-8 keeps its bytes until the user types.
bool input_text(const std::string& label, const std::string& hint, std::string& text,
                ImGuiInputTextFlags flags, ImGuiInputTextCallback callback, void* data, Surface& surface,
                text::ControlCharacters controls = text::ControlCharacters::trimmed);

} // namespace headscope::app
