#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/imgui_keys.h"
#include "app/views/scrolled.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float bar_width = 340, bar_high = 26;

std::string counted_text(const Find& find, std::size_t count) {
    if (find.typed.empty())
        return "";
    return count == 0 ? tr("find.not_found", "not found")
                      : tr("common.of_2", "{} of {}", find.selected + 1, count);
}

} // namespace

void view_find(const AppState& state, const figure::Rect& canvas, const Picture& drawn, Find& find,
               const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const float scale = tools.surface.scale(), width = std::min(bar_width, canvas.w - 16);
    const figure::Rect place = canvas_below_bars(state, canvas);
    const figure::Rect area{place.right() - width - 8, place.y + 1, width, bar_high};
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    ImGui::SetCursorScreenPos({origin.x + area.x * scale, origin.y + area.y * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::BeginChild("find", {area.w * scale, area.h * scale});
    ImGui::PopStyleVar();
    const bool enter = enter_pressed();
    constexpr float counted = 84;
    const std::string before = find.typed;
    bool active = false;
    if (const std::string ahead = typed_ahead(); !find.has_keyboard() && !ahead.empty()) {
        find.typed = find.keyboard == Find::Keyboard::take_select_all ? ahead : find.typed + ahead;
        find.keyboard = Find::Keyboard::take_at_end;
    }
    {
        // The frame also contains the match count, after the text.
        const TextFrame frame({0, 0, area.w, area.h}, {.size = 13.5F, .stroke = theme.muted}, find.typed,
                              tools);
        ImGui::SetNextItemWidth((area.w - counted) * scale);
        Caret caret = find.keyboard == Find::Keyboard::take_select_all ? Caret::all_selected
                      : find.keyboard == Find::Keyboard::take_at_end   ? Caret::at_end
                                                                       : Caret::stays;
        if (!find.has_keyboard())
            focus_next_item();
        ImGui::PushAllowKeyboardFocus(false);
        input_text("##find", tr("find.find_token_number", "Find a token or a number"), find.typed,
                   ImGuiInputTextFlags_CallbackAlways, place_caret, &caret, tools.surface);
        ImGui::PopAllowKeyboardFocus();
        active = ImGui::IsItemActive();
    }
    const bool entered = enter && (active || ImGui::IsItemDeactivated());
    if (entered)
        find.keyboard = Find::Keyboard::take_at_end; // Return took the keyboard away
    else if (active)
        find.keyboard = Find::Keyboard::stays;
    const std::vector<FindMatch> found = find_in_view(state.shown, drawn, find.typed);
    const std::size_t count = std::max<std::size_t>(found.size(), 1);
    const bool changed = find.typed != before;
    if (changed)
        find.selected = 0;
    else if (entered)
        find.selected += ImGui::GetIO().KeyShift ? count - 1 : 1;
    find.selected %= count;
    find.follow = (changed || entered) && !found.empty();
    if (find.follow)
        for (const Action& action : select_match(state.shown, state.view, found[find.selected]))
            tools.send(action);
    dialog_text({area.right() - 12, figure::baseline_for(area.y + area.h / 2, 12.5F)},
                counted_text(find, found.size()), figure::Font::ui, 12.5F,
                found.empty() ? theme.bad : theme.muted, tools, figure::Align::right);
    ImGui::EndChild();
}

} // namespace headscope::app
