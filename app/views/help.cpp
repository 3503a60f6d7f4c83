#include "app/views/views.h"

namespace headscope {

namespace {

struct Shortcut {
    const char* keys;
    const char* what;
};

constexpr Shortcut shortcuts[] = {
    {"→  ←", "next stage, stage before"},
    {"↓  ↑", "next row, row before: the arithmetic row by row"},
    {"Page down  Page up", "next page of the lesson, page before"},
    {"space", "play and pause"},
    {"Home  End", "first stage, output"},
    {"1 … 9", "put head 0 … 8 in focus"},
    {"A  T  G  W", "weights as arcs, text, graph, heatmap"},
    {"E  D  M", "each head, difference of two heads, mean"},
    {"Q  K  V", "which projection is shown"},
    {"S", "slide heads apart and together"},
    {"N", "numbers in cells"},
    {"O", "same or own colour scale"},
    {"C", "next colour map"},
    {"[  ]", "fold or show the left panel, the inspector"},
    {"/", "type a sentence"},
    {"Tab  Enter", "walk through all controls, press one"},
    {"Ctrl Z  Ctrl Shift Z", "undo, redo"},
    {"Ctrl +  Ctrl −  Ctrl 0", "larger, smaller, 100 %"},
    {"L", "light or dark theme"},
    {"Esc", "let go of the selection, close this"},
    {"Ctrl Q", "quit"},
};

} // namespace

void view_help(const AppState&, const Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    constexpr float row = 27;
    constexpr float width = 520;
    const float height = 78 + row * static_cast<float>(std::size(shortcuts));
    const Rect card{(area.w - width) / 2, std::max((area.h - height) / 2, 8.0F), width, height};
    ImGui::SetNextWindowPos(origin);
    ImGui::SetNextWindowSize({area.w * scale, area.h * scale});
    ImGui::SetNextWindowFocus();
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImVec4(0, 0, 0, 0.35F));
    ImGui::Begin("keyboard", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    Picture picture;
    picture.scene.add(RectItem{.area = card, .fill = theme.raise, .stroke = theme.line2, .radius = 8});
    picture.scene.add(TextItem{{card.x + 28, card.y + 42}, "Keyboard", Font::ui_semibold, 20, theme.ink});
    picture.scene.add(TextItem{{card.right() - 28, card.y + 42},
                               "Headscope " HEADSCOPE_VERSION,
                               Font::ui,
                               12.5F,
                               theme.muted,
                               Align::right});
    float y = card.y + 58;
    for (const Shortcut& shortcut : shortcuts) {
        picture.scene.add(LineItem{{card.x + 28, y}, {card.right() - 28, y}, theme.line, 1});
        picture.scene.add(TextItem{
            {card.x + 28, baseline_for(y + row / 2, 13)}, shortcut.keys, Font::ui_semibold, 13, theme.ink});
        picture.scene.add(
            TextItem{{card.x + 200, baseline_for(y + row / 2, 13)}, shortcut.what, Font::ui, 13, theme.text});
        y += row;
    }
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        tools.send(ViewChange(ShowHelp{false}));
    ImGui::End();
    ImGui::PopStyleColor();
}

} // namespace headscope
