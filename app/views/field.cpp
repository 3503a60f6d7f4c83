#include "app/views/imgui_keys.h"
#include "app/views/text_frame.h"

#include "core/base/error.h"

#include <imgui_internal.h>

namespace headscope::app {

namespace {

/// A bar and a sign below a field, so that valid and invalid input differ without colors too.
void show_mark(bool right, const figure::Rect& area, const ViewTools& tools) {
    const figure::Color color = right ? tools.theme.good : tools.theme.bad;
    const float scale = tools.surface.scale(), w = area.w / scale;
    figure::Scene scene;
    scene.add(figure::RectItem{.area = {0, 2, w - 14, 3}, .fill = color});
    add_text(scene, {w - 6, 10}, right ? "✓" : "×", figure::Font::ui_semibold, 13, color,
             figure::Align::center);
    paint(scene, area.x, area.bottom(), tools.surface, *ImGui::GetWindowDrawList());
}

} // namespace

void show_field(const TextField& field, const figure::Rect& area, const ViewTools& tools) {
    if (tools.field == nullptr)
        return;
    FieldEdit& edit = *tools.field;
    const bool mine = edit.label == field.label;
    const bool wrong = mine && !edit.error.empty();
    const float scale = tools.surface.scale();
    std::string text = mine ? edit.text : field.text;
    const ImVec2 origin = ImGui::GetWindowPos();
    const TextFrame frame(
        {(area.x - origin.x) / scale, (area.y - origin.y) / scale, area.w / scale, area.h / scale},
        {.font = figure::Font::mono,
         .size = 13,
         .stroke = tools.theme.line2,
         .invalid = wrong,
         .before = 8,
         .id = "##" + field.label,
         .controls = field.controls},
        text, tools);
    const bool appears = field.close && !mine; // it has not had the keyboard yet
    const bool waits = edit.next == field.label || appears;
    // In a field that keeps the keyboard after Enter, the caret was at the end.
    const bool to_end = waits && (field.acts_on_each_letter || field.keeps_keyboard || field.caret_at_end);
    if (tools.focus.register_text_field(area) || waits) {
        focus_next_item();
        if (waits && !to_end)
            edit = {};
    }
    // Tab moves the focus ring; ImGui's own tabbing would jump here and stay.
    ImGui::PushAllowKeyboardFocus(false);
    const Caret caret = to_end ? Caret::at_end : Caret::stays;
    const bool entered =
        text_input("##" + field.label, "", text,
                   ImGuiInputTextFlags_EnterReturnsTrue |
                       (field.caret_at_end ? ImGuiInputTextFlags_None : ImGuiInputTextFlags_AutoSelectAll),
                   caret, false, field.controls, tools)
            .entered;
    // Dear ImGui scrolls only the field into view, one frame earlier, but its mark is below it. With the
    // mouse the user already sees the field.
    constexpr float mark_room = 20;
    if (ImGui::IsItemActivated() && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
        scroll_to({area.x, area.y, area.w, area.h + mark_room * scale});
    if (to_end && ImGui::IsItemActive())
        edit = field.keeps_keyboard || wrong ? FieldEdit{field.label, text, edit.error} : FieldEdit{};
    ImGui::PopAllowKeyboardFocus();
    const bool left = ImGui::IsItemDeactivatedAfterEdit() && !entered;
    const bool active = ImGui::IsItemActive();
    const bool back = ImGui::GetIO().KeyShift;
    const bool tabbed = active && key_pressed(ImGuiKey_Tab, false);
    if (field.mark != TextField::Mark::none && text == field.text)
        show_mark(field.mark == TextField::Mark::right, area, tools);
    if (ImGui::IsItemHovered() && !active && !wrong && !field.tip.empty())
        show_tip(field.tip, tools);
    if (!edit.next.empty())
        return; // another field takes the keyboard next
    const auto take = [&](const auto& action) {
        try {
            tools.send(action(text));
            edit = {};
        } catch (const Error& fault) {
            edit = {field.label, text, fault.what()};
        }
    };
    if (tabbed) {
        edit = {};
        if (text != field.text)
            take(field.action);
        if (!edit.error.empty())
            return;
        if (field.next) {
            ImGui::ClearActiveID();
            return tools.send(field.next(back ? -1 : 1));
        }
        if (!tools.focus.visible()) {
            edit.next = back ? field.before : field.after;
            if (edit.next.empty())
                ImGui::ClearActiveID();
            return;
        }
        ImGui::ClearActiveID();
        tools.focus.move(back ? -1 : 1);
        return;
    }
    if (active && (!mine || text != edit.text)) {
        edit = {field.label, text, {}};
        if (field.acts_on_each_letter && text != field.text)
            try {
                tools.send(field.action(text));
            } catch (const Error&) {
                // Do not report an error while a word is incomplete; Enter reports it.
            }
    }
    if (entered || (left && text != field.text)) {
        take(left && field.leave ? field.leave : field.action);
        if (entered && field.keeps_keyboard)
            edit = {field.label, text, edit.error, field.label};
        else if (entered && field.acts_on_each_letter)
            edit.next = field.label;
        if (field.close && edit.error.empty())
            tools.send(field.close());
    } else if (!active && mine &&
               (edit.error.empty() || ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
                key_pressed(ImGuiKey_Escape, false))) {
        edit = {};
        if (field.close)
            tools.send(field.close());
    }
    if (wrong)
        show_typing_error(edit.error, area, tools);
}

} // namespace headscope::app
