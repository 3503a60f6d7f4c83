#include "app/views/controls/items.h"
#include "app/views/widgets.h"

namespace headscope::app {

float drag_edge(const char* id, float x, float top, float height, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    // The grip has its own window above the regions on both sides, which would otherwise take the mouse.
    const figure::Rect grip = physical({x - 3, top, 6, height}, tools);
    ImGui::SetCursorScreenPos({grip.x, grip.y});
    ImGui::BeginChild(id, {grip.w, grip.h});
    invisible_button(id, {grip.w, grip.h}, tools.surface);
    const bool held = ImGui::IsItemHovered() || ImGui::IsItemActive();
    if (held)
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    constexpr float mark = 56; // height of the visible part
    figure::Scene scene;
    scene.add(figure::RectItem{.area = {0.5F, (height - mark) / 2, 5, mark},
                               .fill = tools.theme.raise,
                               .stroke = held ? tools.theme.ink : tools.theme.line2,
                               .radius = 2.5F});
    if (height > 2 * mark)
        paint(scene, grip.x, grip.y, tools.surface, *ImGui::GetWindowDrawList());
    constexpr float coarse = 16;
    const ControlSteps steps = tools.focus.register_steppable(grip).steps;
    if (steps.any())
        x += static_cast<float>(steps.sum()) * (steps.fine ? 1 : coarse);
    else if (ImGui::IsItemActive())
        x = (ImGui::GetIO().MousePos.x - origin.x) / scale;
    ImGui::EndChild();
    return x;
}

} // namespace headscope::app
