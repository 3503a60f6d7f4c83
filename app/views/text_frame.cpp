#include "app/views/text_frame.h"

namespace headscope::app {

TextFrame::TextFrame(const figure::Rect& area, const FrameLook& look, const std::string& text,
                     const ViewTools& tools) {
    constexpr float pad = 6; // on either side, within what can be clicked
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area,
                               .fill = tools.theme.raise,
                               .stroke = look.wrong ? tools.theme.bad : look.stroke,
                               .stroke_width = look.wrong ? 2.0F : look.stroke_width,
                               .radius = 6});
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    tools.surface.need_glyphs(text);
    ImGui::PushFont(tools.surface.font(look.font, look.size));
    ImGui::SetCursorScreenPos({origin.x + (area.x + look.before - pad) * scale, origin.y + area.y * scale});
    ImGui::SetNextItemWidth((area.w - look.before) * scale);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {pad * scale, (area.h * scale - ImGui::GetFontSize()) / 2});
    for (const ImGuiCol colour : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive})
        ImGui::PushStyleColor(colour, ImVec4(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, look.muted ? ImGui::ColorConvertU32ToFloat4(tools.theme.muted)
                                                    : ImGui::GetStyleColorVec4(ImGuiCol_Text));
}

TextFrame::~TextFrame() {
    ImGui::PopStyleColor(4);
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

} // namespace headscope::app
