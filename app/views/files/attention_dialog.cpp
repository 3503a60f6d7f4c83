#include "app/state/attention_document.h"
#include "app/state/files/attention_question.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace headscope::app {

namespace {

constexpr float choice_width = 600, choice_pad = 28, choice_row = 30, choice_button = 34,
                choice_segments = 28;
constexpr std::int64_t most_rows = 10;

std::string text_line(const AttentionPart& part, std::int64_t text) {
    const auto n = static_cast<std::size_t>(text);
    const std::string number = text_number_text(text, part.texts);
    return n < part.text_names.size() ? number + "   " + text::plain_text(part.text_names[n]) : number;
}

/// The switch between the attentions of an encoder-decoder.
void draw_parts(const AttentionQuestion& question, figure::Point at, const ViewTools& tools) {
    std::vector<DialogOption> segments;
    for (const AttentionPart& part : question.options->parts)
        segments.push_back({attention_part_name(part.id), part.id == question.part});
    float width = 0;
    const int chosen = dialog_segments("attention part", at, segments, tools, width);
    if (chosen >= 0)
        tools.send(
            SelectAttention{question.options->parts[static_cast<std::size_t>(chosen)].id, question.text});
}

/// The list of texts, scrolled to the selected one when that changes. Returns true if one was double-clicked.
bool draw_texts(const AttentionQuestion& question, std::int64_t selected, const figure::Rect& area,
                const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const Theme& theme = tools.theme;
    const AttentionPart& part = question.selected();
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.canvas, .stroke = theme.line2, .radius = 6});
    dialog_paint(back, tools);
    ImGui::SetCursorScreenPos({origin.x + (area.x + 2) * scale, origin.y + (area.y + 4) * scale});
    ImGui::BeginChild("texts", {(area.w - 4) * scale, (area.h - 8) * scale});
    const float width = ImGui::GetContentRegionAvail().x / scale, row = choice_row * scale;
    const ImVec2 start = ImGui::GetCursorScreenPos();
    bool entered = false;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(part.texts), row);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const bool on = i == selected;
            const std::string line = text_line(part, i);
            const ImVec2 at{start.x, start.y + static_cast<float>(i) * row};
            ImGui::SetCursorScreenPos(at);
            ImGui::PushID(i);
            if (invisible_button(line, {width * scale, row}, tools.surface))
                tools.send(SelectAttention{question.part, i});
            entered =
                entered || (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left));
            ImGui::PopID();
            figure::Scene scene;
            if (on) {
                scene.add(figure::RectItem{.area = {0, 0, width, choice_row}, .fill = theme.highlight});
                scene.add(figure::RectItem{.area = {0, 0, 3, choice_row}, .fill = theme.ink});
            }
            tools.surface.need_glyphs(line);
            const figure::Font font = on ? figure::Font::ui_semibold : figure::Font::ui_medium;
            add_text(scene, {14, figure::baseline_for(choice_row / 2, 13)},
                     fitted(line, font, 13, width - 28, tools), font, 13, theme.ink);
            paint(scene, at.x, at.y, tools.surface, *ImGui::GetWindowDrawList());
        }
    if (selected != question.text || ImGui::IsWindowAppearing()) {
        const float y = static_cast<float>(selected) * row, height = ImGui::GetWindowHeight();
        if (y < ImGui::GetScrollY())
            ImGui::SetScrollY(y);
        if (y + row > ImGui::GetScrollY() + height)
            ImGui::SetScrollY(y + row - height);
    }
    ImGui::EndChild();
    return entered;
}

std::string question_sentence(const AttentionQuestion& question) {
    const AttentionPart& part = question.selected();
    if (question.options->parts.size() == 1)
        return tr("attention_dialog.texts", "The file holds {} texts. One is shown at a time.", part.texts);
    return part.texts > 1
               ? tr("attention_dialog.parts_and_texts",
                    "The file holds the attentions of an encoder-decoder for {} texts. One attention of one "
                    "text is shown at a time.",
                    part.texts)
               : tr("attention_dialog.parts", "The file holds the attentions of an encoder-decoder. One is "
                                              "shown at a time.");
}

} // namespace

void view_attention_dialog(const AttentionQuestion& question, const ViewTools& tools) {
    const AttentionPart& part = question.selected();
    const bool has_parts = question.options->parts.size() > 1, has_texts = part.texts > 1;
    const bool enter = enter_pressed(), escape = escape_pressed(), on_ring = tools.focus.visible();
    constexpr float line = 21;
    const std::vector<std::string> sentence = wrapped_lines(question_sentence(question), figure::Font::ui,
                                                            13.5F, choice_width - 2 * choice_pad, tools);
    const float list = has_texts ? choice_row * static_cast<float>(std::min(part.texts, most_rows)) + 8 : 0;
    const float above = 62 + line * static_cast<float>(sentence.size()) + 14;
    const float height = above + (has_parts ? choice_segments + 16 : 0) + (has_texts ? list + 20 : 0) +
                         choice_button + choice_pad;
    const figure::Rect card = begin_dialog("attention choice", choice_width, height, tools);
    move_focus_with_tab(tools);
    const figure::Rect inside{card.x + choice_pad, card.y, card.w - 2 * choice_pad, card.h};
    const std::string name = text::plain_text(std::filesystem::path(question.path).filename().string());
    dialog_text({inside.x, card.y + 44},
                fitted(tr("attention_dialog.title", "Choose what to show of {}", name),
                       figure::Font::ui_semibold, 17, inside.w, tools),
                figure::Font::ui_semibold, 17, tools.theme.ink, tools);
    float y = dialog_paragraph({inside.x, card.y + 76}, inside.w, question_sentence(question), 13.5F, line,
                               tools.theme.text, tools);
    y += 14 - line + 7;
    if (has_parts) {
        draw_parts(question, {inside.x, y}, tools);
        y += choice_segments + 16;
    }
    const float foot = card.bottom() - choice_pad - choice_button;
    std::int64_t text = question.text;
    if (has_texts) {
        const std::pair<KeyName, std::int64_t> steps[] = {
            {ImGuiKey_DownArrow, 1},       {ImGuiKey_UpArrow, -1},       {ImGuiKey_PageDown, most_rows},
            {ImGuiKey_PageUp, -most_rows}, {ImGuiKey_Home, -part.texts}, {ImGuiKey_End, part.texts}};
        for (const auto& [key, by] : steps)
            if (key_pressed(key))
                text = std::clamp<std::int64_t>(text + by, 0, part.texts - 1);
        if (text != question.text)
            tools.send(SelectAttention{question.part, text});
    }
    const bool entered =
        has_texts && draw_texts(question, text, {inside.x, y, inside.w, foot - 20 - y}, tools);
    const float open = button_width(tr("file_choosers.open_verb", "Open"), tools),
                cancel = button_width(tr("common.cancel", "Cancel"), tools);
    const bool cancelled = push_button(tr("common.cancel", "Cancel"),
                                       {inside.right() - open - 8 - cancel, foot, cancel, choice_button},
                                       ButtonLook::plain, tools, "Esc");
    const bool opened =
        push_button(tr("file_choosers.open_verb", "Open"), {inside.right() - open, foot, open, choice_button},
                    ButtonLook::primary, tools, "Enter");
    if (enter && on_ring)
        tools.focus.activate();
    else if (cancelled || escape)
        tools.send(AnswerAttention{false});
    else if (opened || entered || enter)
        tools.send(AnswerAttention{true});
    end_dialog();
}

} // namespace headscope::app
