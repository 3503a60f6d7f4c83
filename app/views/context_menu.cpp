#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/views/controls/items.h"
#include "app/views/imgui_keys.h"
#include "app/views/views.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float item_high = 30, item_reason = 18, item_edge = 14, item_gap = 32, item_text = 13,
                item_small = 12;

float item_height(const std::string& missing) {
    return item_high + (missing.empty() ? 0 : item_reason);
}

/// One row at `y`: its title, its key at the right, and below them the reason why it is disabled.
figure::Scene item_scene(const ActionInfo& info, const std::string& missing, bool lit, float y, float width,
                         const Theme& theme) {
    figure::Scene scene;
    if (lit)
        scene.add(figure::RectItem{
            .area = {4, y, width - 8, item_height(missing)}, .fill = theme.highlight, .radius = 4});
    const float baseline = figure::baseline_for(y + item_high / 2, item_text);
    const figure::Color colour = missing.empty() ? theme.ink : theme.muted;
    add_text(scene, {item_edge, baseline}, info.title, figure::Font::ui, item_text, colour);
    add_text(scene, {width - item_edge, baseline}, info.keys.empty() ? "" : chord_text(info.keys.front()),
             figure::Font::mono, item_small, theme.muted, figure::Align::right);
    if (!missing.empty())
        add_text(scene, {item_edge, y + item_high + 8}, missing, figure::Font::ui, item_small, theme.muted);
    return scene;
}

/// Arrow keys move to the next enabled row.
void move_through_items(ContextMenu& menu, const std::vector<std::string>& missing) {
    const std::size_t count = missing.size();
    const int by = list_step();
    if (by == 0)
        return;
    const bool down = by > 0;
    std::size_t row = menu.highlighted < count ? menu.highlighted : down ? count - 1 : 0;
    for (std::size_t tried = 0; tried < count; ++tried) {
        row = (row + (down ? 1 : count - 1)) % count;
        if (missing[row].empty()) {
            menu.highlighted = row;
            return;
        }
    }
}

/// Draws the rows and handles mouse and keys. A row that the keys move to is scrolled into view. Returns the
/// chosen row, or null.
const ActionInfo* choose_item(const std::vector<const ActionInfo*>& rows,
                              const std::vector<std::string>& missing, float width, ContextMenu& menu,
                              const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const bool moved = ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0;
    const ActionInfo* chosen = nullptr;
    const std::size_t lit = menu.highlighted;
    move_through_items(menu, missing);
    float y = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const float height = item_height(missing[i]);
        paint(item_scene(*rows[i], missing[i], i == menu.highlighted, y, width, tools.theme), start.x,
              start.y, tools.surface, *ImGui::GetWindowDrawList());
        if (i == menu.highlighted)
            draw_list_focus({start.x + 4 * scale, start.y + y * scale, (width - 8) * scale, height * scale},
                            tools);
        ImGui::SetCursorScreenPos({start.x, start.y + y * scale});
        if (invisible_button(rows[i]->id, {width * scale, height * scale}, tools.surface) &&
            missing[i].empty())
            chosen = rows[i];
        if (i == menu.highlighted && i != lit)
            ImGui::SetScrollHereY(0.5F);
        if (ImGui::IsItemHovered()) {
            if (moved)
                menu.highlighted = missing[i].empty() ? i : ContextMenu::no_row;
            show_tip(rows[i]->tip, tools);
        }
        y += height;
    }
    if (menu.highlighted < rows.size() && key_pressed(ImGuiKey_Enter, false))
        chosen = rows[menu.highlighted];
    return chosen;
}

constexpr float menu_pad = 6, window_edge = 8;

float menu_height(const std::vector<std::string>& missing) {
    float height = 2 * menu_pad;
    for (const std::string& why : missing)
        height += item_height(why);
    return height;
}

/// Opens the menu inside the window, as near to the requested corner as it fits. A menu higher than the
/// window scrolls.
void place_menu(const ContextMenu& menu, ImVec2 size, float scale) {
    const ImGuiViewport& window = *ImGui::GetMainViewport();
    const float edge = window_edge * scale, most = window.Size.y - 2 * edge;
    ImGui::SetNextWindowSizeConstraints({0, 0}, {window.Size.x, most});
    if (!menu.opens_next_frame)
        return;
    const ImVec2 corner = menu.at
                              ? ImVec2(window.Pos.x + menu.at->x * scale, window.Pos.y + menu.at->y * scale)
                              : ImGui::GetIO().MousePos;
    const auto inside = [&](float at, float from, float room, float length) {
        return std::max(from, std::min(at, from + room - length));
    };
    if (size.y > most) // room for the scroll bar
        size.x += ImGui::GetStyle().ScrollbarSize;
    ImGui::SetNextWindowPos({inside(corner.x, window.Pos.x + edge, window.Size.x - 2 * edge, size.x),
                             inside(corner.y, window.Pos.y + edge, most, std::min(size.y, most))});
}

} // namespace

void view_context_menu(const ActionContext& now, ContextMenu& menu, const ViewTools& tools) {
    if (!menu.thing)
        return;
    const char* const id = "context menu";
    const float scale = tools.surface.scale();
    const std::vector<const ActionInfo*> rows = menu_of(menu.thing->kind, now);
    std::vector<std::string> missing;
    float width = 220;
    for (const ActionInfo* row : rows) {
        missing.push_back(why_not(*row, now));
        const std::string keys = row->keys.empty() ? "" : chord_text(row->keys.front());
        width = std::max({width,
                          2 * item_edge + item_gap + tools.measure(row->title, figure::Font::ui, item_text) +
                              tools.measure(keys, figure::Font::mono, item_small),
                          2 * item_edge + tools.measure(missing.back(), figure::Font::ui, item_small)});
    }
    if (menu.opens_next_frame)
        ImGui::OpenPopup(id);
    place_menu(menu, {width * scale, menu_height(missing) * scale}, scale);
    menu.opens_next_frame = false;
    // Whole pixels: ImGui shows a scroll bar for a fraction of a pixel even if all rows fit.
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, std::round(menu_pad * scale)});
    if (ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove)) {
        const ActionInfo* const chosen = choose_item(rows, missing, width, menu, tools);
        if (chosen != nullptr)
            for (const Action& action : chosen->make_actions(now))
                tools.send(action);
        if (chosen != nullptr || key_pressed(ImGuiKey_Escape, false))
            ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
    } else {
        menu.thing.reset();
    }
    ImGui::PopStyleVar();
}

} // namespace headscope::app
