#include "app/views/style.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace headscope::app {

void apply_style(const Theme& theme, float scale) {
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowPadding = {0, 0};
    style.WindowBorderSize = 0;
    style.WindowRounding = 0;
    style.ChildBorderSize = 0;
    style.PopupBorderSize = std::max(std::floor(scale), 1.0F);
    style.PopupRounding = 6 * scale;
    style.FrameRounding = 4 * scale;
    style.ItemSpacing = {0, 0};
    style.ScrollbarSize = 10 * scale;
    style.ScrollbarRounding = 5 * scale;
    const auto set = [&](ImGuiCol id, figure::Color color) {
        style.Colors[id] = ImGui::ColorConvertU32ToFloat4(color);
    };
    set(ImGuiCol_WindowBg, theme.canvas);
    set(ImGuiCol_ChildBg, 0);
    set(ImGuiCol_PopupBg, theme.raise);
    set(ImGuiCol_Border, theme.line2);
    set(ImGuiCol_Text, theme.ink);
    set(ImGuiCol_TextDisabled, theme.muted);
    set(ImGuiCol_TextSelectedBg, figure::with_alpha(theme.muted, 90));
    set(ImGuiCol_Header, theme.highlight);
    set(ImGuiCol_HeaderHovered, theme.highlight);
    set(ImGuiCol_HeaderActive, theme.highlight);
    set(ImGuiCol_ScrollbarBg, 0);
    set(ImGuiCol_ScrollbarGrab, theme.line2);
    set(ImGuiCol_ScrollbarGrabHovered, theme.muted);
    set(ImGuiCol_ScrollbarGrabActive, theme.muted);
    set(ImGuiCol_NavHighlight, 0);
}

} // namespace headscope::app
