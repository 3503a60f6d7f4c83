#include "app/draw/kit/controls.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/views/controls/items.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// A button over the bottom of the text that points to a task below. Returns true if it was clicked.
bool view_task_below(const figure::Rect& text, const ViewTools& tools) {
    constexpr float height = 40;
    const Theme& theme = tools.theme;
    begin_region("task below", {text.x, text.bottom() - height, text.w, height}, tools);
    const figure::Rect button{course_pad, 6, text.w - 2 * course_pad, height - 12};
    const std::string words = tr("common.turn", "Your turn");
    const float width = tools.measure(words, figure::Font::ui_medium, 13);
    const figure::Point tip{button.x + button.w / 2 + width / 2 + 6, button.y + button.h / 2 + 2};
    figure::Scene scene;
    scene.add(figure::RectItem{.area = {0, 0, text.w, height}, .fill = theme.panel});
    scene.add(figure::LineItem{{0, 0.5F}, {text.w, 0.5F}, theme.line, 1});
    scene.add(figure::RectItem{.area = button, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    add_text(scene, {tip.x - 14, figure::baseline_for(button.y + button.h / 2, 13)}, words,
             figure::Font::ui_medium, 13, theme.ink, figure::Align::right);
    draw_chevron(scene, tip, Pointing::down, theme.ink);
    paint_here(scene, tools);
    const figure::Rect place = physical(button, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button("Your turn", {place.w, place.h}, tools.surface);
    if (ImGui::IsItemHovered()) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        show_tip(tr("course.task_page_further_down", "The task of this page is further down"), tools);
    }
    const bool entered = tools.focus.register_item(place);
    ImGui::EndChild();
    return clicked || entered;
}

/// Scrolls a presented lesson's text by most of the visible part; at its end, turns to the next page.
void read_on(int by, const ViewTools& tools) {
    constexpr float most = 0.85F, edge = 1, below_text = 22; // the empty end of a page need not be visible
    const float now = ImGui::GetScrollY(), last = ImGui::GetScrollMaxY() - below_text * tools.surface.scale();
    if (by > 0 ? now < last : now > edge)
        ImGui::SetScrollY(now + static_cast<float>(by) * most * ImGui::GetWindowHeight());
    else
        tools.send(TurnPage{by});
}

/// Scrolls to a task that has too little room below for its result.
void show_task(const figure::Rect& task, float height, float scale) {
    constexpr float above = 20, room_for_result = 150;
    const float top = ImGui::GetScrollY() / scale;
    if (task.w > 0 && (task.bottom() + room_for_result > top + height || task.y < top))
        ImGui::SetScrollY(std::max(task.y - above, 0.0F) * scale);
}

} // namespace

void show_footer(const Picture& picture, const figure::Rect& page, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    Picture foot;
    foot.append(picture, page.x, page.bottom());
    show_picture(foot, origin.x, origin.y, tools, nullptr);
}

// Each page starts at its top.
void view_course(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const bool foot = state.course.open != nullptr;
    const figure::Rect text{area.x, area.y, area.w, area.h - (foot ? course_foot : 0)};
    const std::string id =
        "course " + (foot ? state.course.open->id : "") + std::to_string(state.course.page);
    // The scroll position and a request to scroll exist only in this window.
    ImGuiStorage& asked = *ImGui::GetStateStorage();
    const ImGuiID to_task = ImGui::GetID("to the task");
    Picture page;
    scrolled_picture(id.c_str(), text, tools, nullptr, &page,
                     [&](float width, float height) {
                         if (foot && state.requests.pages_to_turn != 0)
                             read_on(state.requests.pages_to_turn, tools);
                         Picture drawn = draw_course(draw_context(state, tools, width, height), state.course);
                         if (state.requests.to_task)
                             show_task(drawn.pointed_area, height, tools.surface.scale());
                         return drawn;
                     },
                     {.pointing = asked.GetBool(to_task) ? at_once : 1});
    asked.SetBool(to_task, false);
    if (!foot)
        return;
    constexpr float task_begins = 60; // the title and the first line of the task
    if (page.pointed_area.w > 0 && page.pointed_area.y + task_begins > text.bottom())
        asked.SetBool(to_task, view_task_below(text, tools));
    const Picture buttons = draw_course_foot(draw_context(state, tools, area.w, course_foot), state.course);
    show_footer(buttons, text, tools);
    // Tab moves from the canvas to the page's open task, otherwise to the button that turns the page.
    figure::Rect first = page.pointed_area;
    if (first.w == 0 && !buttons.hotspots.empty()) {
        first = buttons.hotspots.back().area;
        first = {first.x + text.x, first.y + text.bottom(), first.w, first.h};
    }
    const float scale = tools.surface.scale();
    const ImVec2 window = ImGui::GetMainViewport()->Pos;
    tools.focus.set_start_area(
        {window.x + first.x * scale, window.y + first.y * scale, first.w * scale, first.h * scale});
}

void view_presented_lesson(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    draw_panel_background(area, tools, true);
    if (state.shown.ready())
        view_course(state, {area.x, area.y, area.w - 1, area.h}, tools);
}

} // namespace headscope::app
