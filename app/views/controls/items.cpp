#include "app/views/controls/items.h"

#include <imgui_stdlib.h>

namespace headscope::app {

namespace {

bool observed(bool result, const std::string& label, Surface& surface) {
    if (ScreenObserver* const observer = surface.observer())
        observer->item(label);
    return result;
}

} // namespace

bool invisible_button(const std::string& label, const ImVec2& size, Surface& surface) {
    return observed(ImGui::InvisibleButton(label.c_str(), size), label, surface);
}

bool selectable(const std::string& label, bool selected, ImGuiSelectableFlags flags, Surface& surface) {
    return observed(ImGui::Selectable(label.c_str(), selected, flags), label, surface);
}

bool input_text(const std::string& label, const std::string& hint, std::string& text,
                ImGuiInputTextFlags flags, ImGuiInputTextCallback callback, void* data, Surface& surface) {
    if (ScreenObserver* const observer = surface.observer())
        observer->field(label, text);
    return observed(ImGui::InputTextWithHint(label.c_str(), hint.c_str(), &text, flags, callback, data),
                    label, surface);
}

} // namespace headscope::app
