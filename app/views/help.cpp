#include "app/views/given_weights.h"
#include "app/views/views.h"

#include <algorithm>
#include <span>

namespace headscope::app {

namespace {

struct Shortcut {
    const char* keys;
    const char* what;
};

constexpr Shortcut shortcuts[] = {
    {"→  ←", "next stage, stage before"},
    {"↓  ↑", "next row, row before"},
    {"Page down  Page up", "page of the lesson; layer of a checkpoint"},
    {"space", "play and pause"},
    {"Home  End", "first stage, output"},
    {"1 … 9  ,  .", "put head 0 … 8 in focus, the one before, the next"},
    {"A  T  G  W", "weights as arcs, text, graph, heatmap"},
    {"E  D  M", "each head, difference of two heads, mean"},
    {"Q  K  V", "which projection is shown"},
    {"S", "slide heads apart and together"},
    {"B  X", "flip between A (baseline) and B (now); show B − A"},
    {"Shift B", "mark what is on screen as A"},
    {"F  S  P  Shift M  Shift C", "how the weights of a checkpoint are read"},
    {"+  −", "zoom into a large map of a checkpoint, out of it"},
    {"N", "numbers in cells"},
    {"O", "same or own colour scale"},
    {"C", "next colour map"},
    {"[  ]", "fold or show the left panel, the inspector"},
    {"/", "type a sentence, the prompt of a checkpoint"},
    {"Tab  Enter", "walk through all controls, press one"},
    {"→ ← ↓ ↑  Tab", "on a selected number: the next; Shift: a block"},
    {"0 … 9  −  Enter", "type it; Enter: take it, go down; Esc: as it was"},
    {"wheel  drag", "change the selected number; Shift: finer"},
    {"Delete", "the selection becomes 0"},
    {"Ctrl A  Ctrl V", "select the whole matrix, paste numbers (TSV)"},
    {"0", "ablate the head in focus, and back"},
    {"Ctrl Z  Ctrl Shift Z", "undo, redo"},
    {"Ctrl +  Ctrl −  Ctrl 0", "larger, smaller, 100 %"},
    {"L", "light or dark theme"},
    {"Esc", "let go of the selection, close a note or this"},
    {"Ctrl N  Ctrl O", "new project, open one"},
    {"Ctrl S  Ctrl Shift S", "save, save as"},
    {"Ctrl E  Ctrl Shift E", "picture of this view, its numbers"},
    {"Ctrl C  Ctrl Shift T", "copy this block or matrix, this stage"},
    {"Ctrl Shift C", "copy as PyTorch"},
    {"Alt F", "the File menu"},
    {"Ctrl Q", "quit"},
};

/// While weights alone are shown: of a file, or a mean of a checkpoint.
constexpr Shortcut attention_shortcuts[] = {
    {"→  ←  ↓  ↑", "the head beside, the layer below or above"},
    {"Shift and arrows", "the next weight of the open head"},
    {"1 … 9", "open head 0 … 8 of the layer"},
    {"A  T  G  W", "weights as arcs, text, graph, heatmap"},
    {"E  D  M", "one head, difference of two heads, mean of the layer"},
    {"+  −  0", "zoom into a large map, out of it, all of it"},
    {"Ctrl wheel, wheel, drag", "zoom at the mouse; move a zoomed map"},
    {"B", "show or hide the board of all heads"},
    {"N", "numbers in cells"},
    {"O", "same or own colour scale"},
    {"C  Shift C", "next colour map; colours by the logarithm"},
    {"F  S", "hide the first token, the special tokens"},
    {"P", "merge the pieces of words"},
    {"Shift M", "means beside the heads and below the layers"},
    {"[  ]", "fold or show the left panel, the inspector"},
    {"Tab  Enter", "walk through all controls, press one"},
    {"Ctrl O", "open another file"},
    {"Ctrl N", "close it: back to a sentence of one's own"},
    {"Ctrl +  Ctrl −  Ctrl 0", "larger, smaller, 100 %"},
    {"L", "light or dark theme"},
    {"Esc", "let go of the selection, close this"},
    {"Ctrl Q", "quit"},
};

} // namespace

void view_help(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    constexpr float row = 27, column = 540;
    const std::size_t columns = area.w >= 2 * column + 16 ? 2 : 1;
    const std::span<const Shortcut> listed =
        weights_alone(state) ? std::span<const Shortcut>(attention_shortcuts) : shortcuts;
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
        const Shortcut& shortcut = listed[i];
        const float x = card.x + 28 + column * static_cast<float>(i / rows);
        const float y = card.y + 58 + row * static_cast<float>(i % rows);
        const float end = std::min(x + column - 28, card.right() - 28);
        picture.scene.add(figure::LineItem{{x, y}, {end, y}, theme.line, 1});
        const float baseline = figure::baseline_for(y + row / 2, 13);
        picture.scene.add(
            figure::TextItem{{x, baseline}, shortcut.keys, figure::Font::ui_semibold, 13, theme.ink});
        picture.scene.add(
            figure::TextItem{{x + 165, baseline}, shortcut.what, figure::Font::ui, 13, theme.text});
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
