#include "app/draw/kit/controls.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

void view_command_notice(const AppState& state, const figure::Rect& canvas, const ViewTools& tools) {
    if (state.notice.empty() || !state.error.empty())
        return;
    const DrawContext context{state.shown,   state.drawn_view(), tools.theme,
                              tools.measure, canvas.w,           canvas.h};
    const Theme& theme = tools.theme;
    const float width = std::min(canvas.w - 40, 720.0F);
    Picture text, picture;
    const float end = draw_paragraph(text, context, 18, 27, width - 62, state.notice, figure::Font::ui, 13.5F,
                                     20, theme.text);
    const figure::Rect box{0, 0, width, end};
    picture.scene.add(figure::RectItem{.area = box, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    picture.append(text, 0, 0);
    const figure::Point centre{width - 22, 22};
    for (const float side : {-1.0F, 1.0F})
        picture.scene.add(figure::LineItem{
            {centre.x - 5 * side, centre.y - 5}, {centre.x + 5 * side, centre.y + 5}, theme.muted, 1.5F});
    picture.hotspots.push_back(
        {{centre.x - 14, centre.y - 14, 28, 28}, "dismiss notice", DismissNotice{}, tr("Close (Esc)")});
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    ImGui::SetCursorScreenPos(
        {origin.x + (canvas.x + 20) * scale, origin.y + (canvas.bottom() - end - 14) * scale});
    ImGui::BeginChild("told", {width * scale, end * scale}, false, ImGuiWindowFlags_NoScrollbar);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    tools.surface.need_glyphs(state.notice);
    show_picture(picture, at.x, at.y, tools, nullptr);
    ImGui::EndChild();
}

} // namespace headscope::app
