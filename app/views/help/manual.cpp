#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/imgui_keys.h"
#include "app/views/scrolled.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/message.h"
#include "core/manual/search.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float search_high = 32, trail_high = 30, button_wide = 30;

/// A button with an arrow head that points left or right; gray if there is no page in that direction.
void arrow_button(Picture& picture, const figure::Rect& area, bool left, bool possible,
                  const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const figure::Color colour = possible ? theme.ink : theme.line2;
    const float x = area.x + area.w / 2 + (left ? -3.0F : 3.0F), y = area.y + area.h / 2;
    const float back = left ? 6.0F : -6.0F;
    picture.scene.add(
        figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    picture.scene.add(figure::LineItem{{x + back, y - 6}, {x, y}, colour, 2});
    picture.scene.add(figure::LineItem{{x, y}, {x + back, y + 6}, colour, 2});
    if (possible)
        picture.add_hotspot(area, left ? "manual back" : "manual forward", StepManual{left ? -1 : 1},
                            left ? with_key(tr("common.back", "Back"), "manual back")
                                 : with_key(tr("manual.forward", "Forward"), "manual forward"));
}

/// The title of the panel, a link to the contents and the closing button.
Picture manual_header(const figure::Rect& area, const DrawContext& context) {
    const Theme& theme = context.theme;
    Picture picture;
    const float baseline = figure::baseline_for(area.y + strip_height / 2 - 1, 13);
    picture.scene.add(figure::LineItem{
        {area.x, area.y + strip_height}, {area.right(), area.y + strip_height}, theme.line, 1});
    const auto words = [&](float x, const std::string& text, bool on, const manual::Place& place) {
        const float width = draw_text(picture, context, x, baseline, text,
                                      on ? figure::Font::ui_semibold : figure::Font::ui_medium, 13,
                                      on ? theme.ink : theme.muted);
        if (on)
            picture.scene.add(
                figure::RectItem{.area = {x, area.y + strip_height - 2, width, 2}, .fill = theme.ink});
        else
            picture.add_hotspot({x - 6, area.y, width + 12, strip_height}, text, OpenManual{place},
                                tr("manual.all_pages_manual", "All pages of the manual"));
        return x + width + 20;
    };
    words(words(area.x + manual_pad, tr("common.manual", "Manual"), true, {}),
          tr("common.contents", "Contents"), false, {});
    const figure::Point cross{area.right() - 26, area.y + strip_height / 2};
    picture.scene.add(
        figure::LineItem{{cross.x - 5, cross.y - 5}, {cross.x + 5, cross.y + 5}, theme.muted, 1.5F});
    picture.scene.add(
        figure::LineItem{{cross.x - 5, cross.y + 5}, {cross.x + 5, cross.y - 5}, theme.muted, 1.5F});
    picture.add_hotspot({cross.x - 16, area.y + 6, 32, 32}, "close manual", CloseManual{},
                        with_key(tr("manual.close_manual", "Close the manual"), "let go"));
    return picture;
}

void search_field(const figure::Rect& area, ManualPanel& panel, const ViewTools& tools) {
    if (tools.focus.register_item(physical(area, tools)))
        panel.take_keyboard = true;
    const bool waits = panel.take_keyboard && !panel.typing;
    if (waits)
        panel.search += typed_ahead();
    const TextFrame frame(area, {.size = 13.5F, .stroke = tools.theme.line2}, panel.search, tools);
    Caret caret = waits ? Caret::at_end : Caret::stays;
    if (waits)
        focus_next_item();
    const std::string before = panel.search, hint = tr("common.search_manual", "Search the manual"),
                      with_its_key = with_key(hint, "search manual");
    const bool fits_key = tools.measure(with_its_key, figure::Font::ui, 13.5F) + 28 <= area.w;
    ImGui::PushAllowKeyboardFocus(false); // Tab moves the focus ring
    input_text("##search manual", fits_key ? with_its_key : hint, panel.search,
               ImGuiInputTextFlags_CallbackAlways, place_caret, &caret, tools.surface);
    ImGui::PopAllowKeyboardFocus();
    // In a text field Esc restores the previous text; here it has another meaning, see CloseManual.
    if (ImGui::IsItemDeactivated() && escape_pressed())
        panel.search = before;
    if (ImGui::IsItemDeactivated() && enter_pressed())
        if (const std::vector<manual::SearchResult>& found = look_up(panel); !found.empty())
            tools.send(OpenManual{{found.front().page->name, found.front().section->anchor}});
    panel.typing = ImGui::IsItemActive();
    if (panel.typing)
        panel.take_keyboard = false;
    if (panel.search != before)
        panel.scroll_to = 0.0F;
}

} // namespace

void view_manual(const AppState& state, const figure::Rect& place, ManualPanel& panel,
                 const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const float scale = tools.surface.scale();
    // Its own region keeps the mouse from items underneath.
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    begin_region("manual", place, tools, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    const ImVec2 origin = ImGui::GetWindowPos();
    const figure::Rect area{0, 0, place.w, place.h};
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.panel});
    back.add(
        figure::LineItem{{area.right() - 0.5F, area.y}, {area.right() - 0.5F, area.bottom()}, theme.line, 1});
    paint_here(back, tools);
    if (state.shown.document == nullptr)
        return ImGui::EndChild();
    const DrawContext context = draw_context(state, tools, area.w, area.h);
    Picture picture = manual_header(area, context);
    const float y = area.y + strip_height + 12, right = area.right() - manual_pad;
    arrow_button(picture, {right - button_wide, y, button_wide, search_high}, false, !panel.forward.empty(),
                 tools);
    arrow_button(picture, {right - 2 * button_wide - 6, y, button_wide, search_high}, true,
                 !panel.back.empty(), tools);
    const float below = y + search_high + 6;
    const std::string screen = tr("manual.screen", "This screen");
    const float taken = tools.measure(screen, figure::Font::ui, 12.5F);
    const float baseline = figure::baseline_for(below + trail_high / 2, 12.5F);
    draw_text(
        picture, context, area.x + manual_pad, baseline,
        fitted(breadcrumb(panel), figure::Font::ui, 12.5F, right - taken - 16 - area.x - manual_pad, tools),
        figure::Font::ui, 12.5F, theme.muted);
    draw_text(picture, context, right - taken, baseline, screen, figure::Font::ui, 12.5F, theme.text);
    picture.scene.add(
        figure::LineItem{{right - taken, baseline + 3.5F}, {right, baseline + 3.5F}, theme.muted, 1});
    picture.add_hotspot({right - taken - 4, below, taken + 8, trail_high}, screen,
                        OpenManual{manual_place_of_screen(state.shown, state.view)},
                        tr("manual.manual_says_screen", "Opens the manual at this screen"));
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    search_field({area.x + manual_pad, y, area.w - 2 * manual_pad - 2 * button_wide - 14, search_high}, panel,
                 tools);

    const figure::Rect page{area.x, below + trail_high, area.w - 1, area.bottom() - below - trail_high};
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    begin_region("manual page", page, tools);
    ImGui::PopStyleVar();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (!panel.search.empty())
        look_up(panel);
    const Picture text = draw_manual(draw_context(state, tools, page.w, page.h), panel);
    show_picture(text, at.x, at.y, tools, nullptr);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({0, text.scene.height * scale});
    panel.scroll = ImGui::GetScrollY() / scale;
    if (panel.scroll_to) { // the region applies it once it knows the height of this page
        panel.scroll = *panel.scroll_to < 0 ? std::max(text.pointed_area.y - 8, 0.0F) : *panel.scroll_to;
        ImGui::SetScrollY(panel.scroll * scale);
    }
    panel.scroll_to.reset();
    ImGui::EndChild();
    ImGui::EndChild();
}

} // namespace headscope::app
