#include "app/views/dialog.h"

#include "app/draw/kit/format.h"
#include "app/views/controls/items.h"
#include "app/views/imgui_keys.h"
#include "app/views/text_frame.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace headscope::app {

namespace {

constexpr float control_text = 13;

void begin_overlay(const char* id, figure::Color back) {
    const ImGuiViewport& window = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(window.Pos);
    ImGui::SetNextWindowSize(window.Size);
    // Above all other windows; a popup such as a tooltip still appears above it.
    ImGui::SetNextWindowFocus();
    ImGui::PushStyleColor(ImGuiCol_WindowBg, back);
    ImGui::Begin(id, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    ImGui::PopStyleColor();
}

struct FieldKeys {
    const std::function<std::string(const std::string&)>& complete;
    bool select = false;
    int selected = 0;
    bool move_focus = false;
};

int on_field_event(ImGuiInputTextCallbackData* data) {
    FieldKeys& keys = *static_cast<FieldKeys*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackAlways) {
        if (keys.select) {
            data->SelectionStart = 0;
            data->SelectionEnd = data->CursorPos = std::min(keys.selected, data->BufTextLen);
        }
        return 0;
    }
    const std::string typed(data->Buf, static_cast<std::size_t>(data->CursorPos));
    const std::string behind(data->Buf + data->CursorPos, data->Buf + data->BufTextLen);
    const std::string grown = ImGui::GetIO().KeyShift || !keys.complete ? typed : keys.complete(typed);
    if (grown == typed) {
        keys.move_focus = true; // nothing to complete: Tab moves on as usual
        return 0;
    }
    // "less|.headscope" becomes "lesson.headscope", not "lesson.headscope.headscope".
    data->DeleteChars(0, grown.ends_with(behind) ? data->BufTextLen : data->CursorPos);
    data->InsertChars(0, grown.c_str());
    return 0;
}

} // namespace

figure::Rect begin_dialog(const char* id, float width, float height, const ViewTools& tools) {
    begin_overlay(id, figure::with_alpha(0, 90));
    const ImVec2 size = ImGui::GetMainViewport()->Size;
    const float scale = tools.surface.scale();
    const float room_x = size.x / scale, room_y = size.y / scale;
    width = std::min(width, room_x - 24);
    height = std::min(height, room_y - 24);
    const figure::Rect card{std::round((room_x - width) / 2), std::round((room_y - height) / 2), width,
                            height};
    figure::Scene scene;
    scene.add(
        figure::RectItem{.area = card, .fill = tools.theme.panel, .stroke = tools.theme.line2, .radius = 8});
    dialog_paint(scene, tools);
    return card;
}

void begin_modal_layer(const char* id, const ViewTools&) {
    begin_overlay(id, 0);
}

void end_dialog() {
    ImGui::End();
}

void dialog_paint(const figure::Scene& scene, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
}

figure::Rect dialog_to_screen(const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const float scale = tools.surface.scale();
    return {origin.x + area.x * scale, origin.y + area.y * scale, area.w * scale, area.h * scale};
}

float dialog_text(figure::Point at, const std::string& text, figure::Font font, float size,
                  figure::Color color, const ViewTools& tools, figure::Align align) {
    tools.surface.need_glyphs(text);
    figure::Scene scene;
    add_text(scene, at, text, font, size, color, align);
    dialog_paint(scene, tools);
    return tools.measure(text, font, size);
}

std::vector<std::string> wrapped_lines(const std::string& text, figure::Font font, float size, float width,
                                       const ViewTools& tools) {
    std::istringstream words(text);
    std::vector<std::string> lines(1);
    for (std::string word; words >> word;) {
        // A path without spaces may be longer than a line.
        word = fitted(word, font, size, width, tools);
        std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
        if (tools.measure(longer, font, size) <= width)
            lines.back() = std::move(longer);
        else
            lines.push_back(std::move(word));
    }
    return lines;
}

float dialog_paragraph(figure::Point at, float width, const std::string& text, float size, float line_height,
                       figure::Color color, const ViewTools& tools) {
    for (const std::string& line : wrapped_lines(text, figure::Font::ui, size, width, tools)) {
        dialog_text(at, line, figure::Font::ui, size, color, tools);
        at.y += line_height;
    }
    return at.y;
}

float button_width(const std::string& label, const ViewTools& tools) {
    return std::max(tools.measure(label, figure::Font::ui_semibold, control_text) + 32, 84.0F);
}

bool push_button(const std::string& label, const figure::Rect& area, ButtonLook look, const ViewTools& tools,
                 const std::string& tip) {
    const Theme& theme = tools.theme;
    const figure::Rect place = dialog_to_screen(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button(label, {place.w, place.h}, tools.surface);
    const bool hovered = ImGui::IsItemHovered();
    const bool primary = look == ButtonLook::primary;
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area,
                               .fill = primary   ? (hovered ? theme.text : theme.ink)
                                       : hovered ? theme.highlight
                                                 : theme.raise,
                               .stroke = primary ? 0 : theme.line2,
                               .radius = 6});
    add_text(scene, {area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, control_text)},
             label.substr(0, label.find("##")), figure::Font::ui_semibold, control_text,
             primary ? theme.canvas : theme.ink, figure::Align::center);
    dialog_paint(scene, tools);
    if (hovered)
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (hovered && !tip.empty())
        show_tip(tip, tools);
    return tools.focus.register_item(place) || clicked;
}

TextBox text_box(const char* id, std::string& text, const figure::Rect& area, bool focus,
                 const ViewTools& tools, const char* hint, std::size_t selected,
                 const std::function<std::string(const std::string&)>& on_tab) {
    const bool entered_by_ring = tools.focus.register_item(dialog_to_screen(area, tools));
    const TextFrame frame(area, {.stroke = tools.theme.ink, .stroke_width = 1.5F}, text, tools);
    if (focus || entered_by_ring)
        focus_next_item();
    TextBox box;
    FieldKeys keys{on_tab, focus, static_cast<int>(selected)};
    // ImGui's own tabbing would jump between text fields and skip the other items of the focus ring.
    ImGui::PushAllowKeyboardFocus(false);
    box.edited = input_text(id, hint, text,
                            ImGuiInputTextFlags_CallbackCompletion | ImGuiInputTextFlags_CallbackAlways,
                            on_field_event, &keys, tools.surface);
    ImGui::PopAllowKeyboardFocus();
    box.active = ImGui::IsItemActive();
    if (keys.move_focus) {
        leave_field();
        tools.focus.move(ImGui::GetIO().KeyShift ? -1 : 1);
    }
    return box;
}

bool enter_pressed() {
    return key_pressed(ImGuiKey_Enter, false) || key_pressed(keypad_enter, false);
}

bool escape_pressed() {
    return key_pressed(ImGuiKey_Escape, false);
}

void move_focus_with_tab(const ViewTools& tools) {
    if (key_pressed(ImGuiKey_Tab) && !ImGui::GetIO().WantTextInput)
        tools.focus.move(ImGui::GetIO().KeyShift ? -1 : 1);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        tools.focus.clear();
}

void leave_field() {
    ImGui::ClearActiveID();
}

std::string fitted(const std::string& text, figure::Font font, float size, float width,
                   const ViewTools& tools) {
    std::string out = text;
    for (int most = columns(text); tools.measure(out, font, size) > width && most > 3;) {
        const float share = width / tools.measure(out, font, size);
        most = std::min(most - 1, static_cast<int>(static_cast<float>(columns(out)) * share) + 1);
        out = shortened(text, most);
    }
    return out;
}

int dialog_segments(const std::string& id, figure::Point at, const std::vector<DialogOption>& options,
                    const ViewTools& tools, float& width) {
    const Theme& theme = tools.theme;
    const auto width_of = [&](const DialogOption& one) {
        return tools.measure(one.label, figure::Font::ui_semibold, 13) + 22;
    };
    width = 4;
    for (const DialogOption& option : options)
        width += width_of(option);
    figure::Scene scene;
    scene.add(figure::RectItem{
        .area = {at.x, at.y, width, 28}, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    float x = at.x + 2;
    int chosen = -1;
    for (int i = 0; i < static_cast<int>(options.size()); ++i) {
        const DialogOption& option = options[static_cast<std::size_t>(i)];
        const figure::Rect area{x, at.y + 2, width_of(option), 24};
        if (option.on)
            scene.add(figure::RectItem{.area = area, .fill = theme.ink, .radius = 4});
        add_text(scene, {area.x + area.w / 2, figure::baseline_for(at.y + 14, 13)}, option.label,
                 option.on ? figure::Font::ui_semibold : figure::Font::ui_medium, 13,
                 option.on ? theme.canvas : theme.muted, figure::Align::center);
        const figure::Rect place = dialog_to_screen(area, tools);
        ImGui::SetCursorScreenPos({place.x, place.y});
        if (invisible_button(id + " " + option.label, {place.w, place.h}, tools.surface) ||
            tools.focus.register_item(place))
            chosen = i;
        x += area.w;
    }
    dialog_paint(scene, tools);
    return chosen;
}

} // namespace headscope::app
