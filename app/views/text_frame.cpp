#include "app/views/text_frame.h"

#include "app/views/controls/items.h"
#include "app/views/imgui_keys.h"

#include <imgui_internal.h>

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

struct InputEvents {
    Caret caret;
    const std::optional<std::string>& removed; ///< empty: Esc removed nothing from this field
    const std::string& before;                 ///< the text of the field when the frame began
};

bool undo_pressed() {
    const ImGuiIO& io = ImGui::GetIO();
    return io.KeyCtrl && !io.KeyShift && !io.KeyAlt && letter_pressed('Z');
}

/// Restores the text that Esc removed, when the user presses Ctrl Z in a field in which ImGui has nothing to
/// undo.
int on_input_event(ImGuiInputTextCallbackData* data) {
    InputEvents& events = *static_cast<InputEvents*>(data->UserData);
    const std::string_view now(data->Buf, static_cast<std::size_t>(data->BufTextLen));
    if (events.removed && now == events.before && now != *events.removed && undo_pressed()) {
        data->DeleteChars(0, data->BufTextLen);
        data->InsertChars(0, events.removed->c_str());
        return 0;
    }
    data->UserData = &events.caret;
    return place_caret(data);
}

/// The font of an input. Sizes above those of the window's fields are baked as they are needed, with the
/// characters that are usually typed.
ImFont* input_font(const FrameLook& look, const std::string& text, const ViewTools& tools) {
    if (look.size <= usual_field_size)
        return tools.surface.font(look.font, look.size);
    std::string characters = text;
    for (char c = ' '; c <= '~'; ++c)
        characters += c;
    return tools.surface.font_for(characters, look.font, look.size);
}

/// Limits the scroll position of a text input to its text, for example after the field became wider for a
/// pasted text.
void keep_in_sight(const std::string& text) {
    if (!ImGui::IsItemActive())
        return;
    ImGuiInputTextState* const state = ImGui::GetInputTextState(ImGui::GetActiveID());
    if (state == nullptr)
        return;
    const float visible = ImGui::GetItemRectSize().x - 2 * ImGui::GetStyle().FramePadding.x,
                hidden = ImGui::CalcTextSize(text.c_str()).x - visible;
    // Dear ImGui leaves up to a quarter of the field empty after the caret.
    const float most = hidden <= 0 ? 0 : hidden + visible / 4;
    state->ScrollX = std::min(state->ScrollX, most);
}

} // namespace

TypedText text_input(const std::string& id, const std::string& hint, std::string& text, int flags,
                     Caret caret, bool live, text::ControlCharacters controls, const ViewTools& tools) {
    RemovedTexts* const removed = tools.removed_texts;
    const bool was_active = ImGui::GetActiveID() == ImGui::GetID(id.c_str());
    std::optional<std::string> former;
    const std::string* known = nullptr;
    if (removed != nullptr) {
        if (removed->restoring == id) {
            removed->restoring.clear();
            if (!was_active) // the user has not started typing again
                former = removed->restored;
        }
        if (const auto at = removed->by_field.find(id); at != removed->by_field.end())
            known = &at->second;
    }
    const std::string before = text, shown_before = text::to_field(text, controls);
    std::string shown = shown_before;
    const std::optional<std::string> known_shown =
        known == nullptr ? std::nullopt : std::optional(text::to_field(*known, controls));
    InputEvents events{caret, known_shown, shown_before};
    const bool reported = input_text(id, hint, shown, flags | ImGuiInputTextFlags_CallbackAlways,
                                     on_input_event, &events, tools.surface, controls);
    keep_in_sight(shown);
    if (shown != shown_before)
        text = text::from_field(shown, controls);
    if (former) {
        text = *former;
        return {.changed = true, .removed = *known};
    }
    const bool escaped = was_active && !ImGui::IsItemActive() && key_pressed(ImGuiKey_Escape, false);
    if (removed != nullptr && escaped && text != before) {
        removed->by_field[id] = before;
        if (live) {
            removed->restoring = id;
            removed->restored = std::exchange(text, before);
        }
    }
    const bool enters = (flags & ImGuiInputTextFlags_EnterReturnsTrue) != 0;
    return {.changed = text != before, .entered = enters && reported};
}

void undo_retypes(const Action& types, const ViewTools& tools) {
    if (tools.removed_texts == nullptr)
        return;
    tools.removed_texts->retype = types;
    tools.removed_texts->restore_pending = true;
}

int place_caret(ImGuiInputTextCallbackData* data) {
    const Caret caret = *static_cast<const Caret*>(data->UserData);
    if (caret == Caret::stays)
        return 0;
    data->SelectionStart = caret == Caret::all_selected ? 0 : data->BufTextLen;
    data->SelectionEnd = data->CursorPos = data->BufTextLen;
    return 0;
}

std::string typed_ahead() {
    const ImGuiIO& io = ImGui::GetIO();
    std::string text;
    if (io.KeyCtrl || io.KeyAlt)
        return text;
    for (const ImWchar c : io.InputQueueCharacters) {
        char letter[5] = {};
        text += ImTextCharToUtf8(letter, c);
    }
    return text;
}

void show_typing_error(const std::string& error, const figure::Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale(), width = std::max(area.w, 260 * scale), pad = 8 * scale;
    ImFont* font = tools.surface.font(figure::Font::ui, 13);
    tools.surface.need_glyphs(error);
    const float room = width - 2 * pad;
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, room, room, error.c_str());
    const float left = std::min(area.x, ImGui::GetIO().DisplaySize.x - width - pad);
    const ImVec2 from{left, area.bottom() + 4 * scale}, to{left + width, from.y + size.y + 2 * pad};
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    list.AddRectFilled(from, to, tools.theme.bad_back, 6 * scale);
    list.AddRect(from, to, tools.theme.bad, 6 * scale);
    list.AddText(font, font->FontSize, {from.x + pad, from.y + pad}, tools.theme.ink, error.c_str(), nullptr,
                 room);
}

TextFrame::TextFrame(const figure::Rect& area, const FrameLook& look, const std::string& in_field,
                     const ViewTools& tools) {
    const std::string text = look.controls == text::ControlCharacters::kept
                                 ? text::with_control_signs(in_field)
                                 : text::to_field(in_field, look.controls);
    constexpr float pad = 6; // on both sides, inside the clickable area
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area,
                               .fill = tools.theme.raise,
                               .stroke = look.invalid ? tools.theme.bad : look.stroke,
                               .stroke_width = look.invalid ? 2.0F : look.stroke_width,
                               .radius = 6});
    // ImGui's input places text letter by letter, which is correct for typing but hard to read.
    const bool typed_into = look.id.empty() || ImGui::GetActiveID() == ImGui::GetID(look.id.c_str());
    const bool shaped = !typed_into && tools.surface.shaped(text, look.font, look.size * scale) != nullptr;
    if (shaped) {
        scene.add(figure::ClipItem{{area.x + look.before, area.y, area.w - look.before - pad, area.h}});
        add_text(scene, {area.x + look.before, figure::baseline_for(area.y + area.h / 2, look.size)}, text,
                 look.font, look.size, look.muted ? tools.theme.muted : tools.theme.ink);
    }
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    tools.surface.need_glyphs(text);
    ImGui::PushFont(input_font(look, text, tools));
    ImGui::SetCursorScreenPos({origin.x + (area.x + look.before - pad) * scale, origin.y + area.y * scale});
    ImGui::SetNextItemWidth((area.w - look.before) * scale);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {pad * scale, (area.h * scale - ImGui::GetFontSize()) / 2});
    for (const ImGuiCol colour : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive})
        ImGui::PushStyleColor(colour, ImVec4(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, shaped       ? ImVec4(0, 0, 0, 0)
                                         : look.muted ? ImGui::ColorConvertU32ToFloat4(tools.theme.muted)
                                                      : ImGui::GetStyleColorVec4(ImGuiCol_Text));
}

TextFrame::~TextFrame() {
    ImGui::PopStyleColor(4);
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

} // namespace headscope::app
