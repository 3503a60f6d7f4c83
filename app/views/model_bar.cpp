#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/views/file_views.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"

#include <imgui_stdlib.h>

#include <algorithm>

namespace headscope::app {

namespace {

std::string facts_text(const checkpoint::TextModel& text) {
    const checkpoint::Architecture& c = text.model->architecture();
    std::string out = text.model->path() + "\n" + c.family + ": " + counted(c.layers, "layer") + ", D " +
                      grouped(c.D) + ", H " + std::to_string(c.H);
    if (c.Hkv != c.H)
        out += ", Hkv " + std::to_string(c.Hkv);
    return out + ", dk " + std::to_string(c.dk) + ", " + grouped(c.vocab) + " tokens in the vocabulary" +
           (text.tokenizer == nullptr ? "\nNo tokenizer: type token ids. " + text.no_tokenizer : "");
}

/// A text field in a border; the prompt of the checkpoint.
void prompt_field(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const Theme& theme = tools.theme;
    const ImVec2 origin = ImGui::GetWindowPos();
    const bool wrong = !state.model.error.empty();
    const TextFrame frame(area, {.stroke = theme.line2, .wrong = wrong}, state.model.prompt, tools);
    if (state.asked.sentence)
        ImGui::SetKeyboardFocusHere();
    ImGui::PushAllowKeyboardFocus(false);
    const bool ids = state.document->part()->model->tokenizer == nullptr;
    std::string text = state.model.prompt;
    if (ImGui::InputTextWithHint("##prompt", ids ? "Type token ids" : "Type a text", &text))
        tools.send(ModelAction(TypePrompt{text}));
    ImGui::PopAllowKeyboardFocus();
    if (tools.focus.offer(
            {origin.x + area.x * scale, origin.y + area.y * scale, area.w * scale, area.h * scale}))
        tools.send(WindowAction(TypeSentence{}));
    if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
        show_tip(wrong ? state.model.error
                 : ids ? "Token ids, as this checkpoint has no tokenizer. " +
                             state.document->part()->model->no_tokenizer
                       : with_key("What the model reads", "sentence"),
                 tools);
}

} // namespace

void view_model_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const DrawContext context{state.shown, state.drawn_view(), theme, tools.measure, area.w, 0};
    const checkpoint::TextModel& text = *state.document->part()->model;
    const std::string title = shortened(text.name(), 26);
    tools.surface.need_glyphs(title);
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.panel});
    back.add(figure::LineItem{{0, area.bottom() - 0.5F}, {area.w, area.bottom() - 0.5F}, theme.line, 1});
    paint(back, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    Picture picture;
    const float file = view_file_button(state, {16, 10}, tools);
    const float name_width = tools.measure(title, figure::Font::ui_medium, 13.5F);
    const figure::Rect name{16 + file + 8, 10, name_width + 24, 32};
    picture.scene.add(figure::RectItem{.area = name, .stroke = theme.line2, .radius = 6});
    draw_text(picture, context, name.x + 12, figure::baseline_for(26, 13.5F), title, figure::Font::ui_medium,
              13.5F, theme.ink);
    picture.tips.push_back({name, facts_text(text)});
    add_icon_buttons(state, picture, tools, area.w - 16);
    const float badge = view_engine_badge(state, area.w - 16 - 80, tools);
    constexpr float board_width = 108, gap = 8;
    const bool board = state.view.attention.board;
    const figure::Rect board_button{area.w - 16 - 80 - badge - 8 - board_width, 10, board_width, 32};
    draw_button(picture, context, board_button, board ? "Hide board" : "Show board",
                ViewChange(AttentionChange(ShowBoard{!board})), false,
                "The heads of all layers; " + key_hint("layer before") + " and " + key_hint("next layer") +
                    " change the layer, comma and full stop the head");
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    const float left = name.right() + gap;
    const float room = board_button.x - gap - left;
    prompt_field(state, {left, 10, std::min(room, 860.0F), 32}, tools);
}

} // namespace headscope::app
