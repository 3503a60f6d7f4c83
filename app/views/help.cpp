#include "app/commands/actions.h"
#include "app/views/situation.h"
#include "app/views/views.h"

#include <algorithm>

namespace headscope::app {

void view_help(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    constexpr float row = 27, column = 540;
    const std::size_t columns = area.w >= 2 * column + 16 ? 2 : 1;
    const std::vector<KeyLine> listed = key_lines(situation(state));
    const std::size_t rows = (listed.size() + columns - 1) / columns;
    const float width = std::min(column * static_cast<float>(columns), area.w - 16);
    const float height = 78 + row * static_cast<float>(rows);
    const figure::Rect card{(area.w - width) / 2, std::max((area.h - height) / 2, 8.0F), width, height};
    ImGui::SetNextWindowPos(origin);
    ImGui::SetNextWindowSize({area.w * scale, area.h * scale});
    ImGui::SetNextWindowFocus();
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImVec4(0, 0, 0, 0.35F));
    ImGui::Begin("keyboard", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    Picture picture;
    picture.scene.add(
        figure::RectItem{.area = card, .fill = theme.raise, .stroke = theme.line2, .radius = 8});
    picture.scene.add(
        figure::TextItem{{card.x + 28, card.y + 42}, "Keyboard", figure::Font::ui_semibold, 20, theme.ink});
    picture.scene.add(figure::TextItem{{card.right() - 28, card.y + 42},
                                       "Headscope " HEADSCOPE_VERSION,
                                       figure::Font::ui,
                                       12.5F,
                                       theme.muted,
                                       figure::Align::right});
    for (std::size_t i = 0; i < listed.size(); ++i) {
        const KeyLine& line = listed[i];
        const float x = card.x + 28 + column * static_cast<float>(i / rows);
        const float y = card.y + 58 + row * static_cast<float>(i % rows);
        const float end = std::min(x + column - 28, card.right() - 28);
        picture.scene.add(figure::LineItem{{x, y}, {end, y}, theme.line, 1});
        const float baseline = figure::baseline_for(y + row / 2, 13);
        picture.scene.add(
            figure::TextItem{{x, baseline}, line.keys, figure::Font::ui_semibold, 13, theme.ink});
        picture.scene.add(figure::TextItem{{x + 165, baseline}, line.what, figure::Font::ui, 13, theme.text});
    }
    // In a window too low for it, the card scrolls.
    const ImVec2 start = ImGui::GetCursorScreenPos();
    show_picture(picture, start.x, start.y, tools, nullptr);
    ImGui::SetCursorScreenPos(start);
    if (card.bottom() + 8 > area.h)
        ImGui::Dummy({0, (card.bottom() + 8) * scale});
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        tools.send(ViewChange(ShowHelp{false}));
    ImGui::End();
    ImGui::PopStyleColor();
}

} // namespace headscope::app
