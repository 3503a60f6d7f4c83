#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/views/action_context.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/files/file_views.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>

namespace headscope::app {

namespace {

struct MenuRow {
    std::string label, keys;
    Actions commands; ///< empty: a heading
    std::string tip;
    std::string missing; ///< reason why the row is disabled; empty: it is enabled
};

constexpr std::size_t most_recent = 5;

/// The file actions, with the recent paths between opening and saving, and exporting.
std::vector<MenuRow> menu_rows(const AppState& state) {
    const FilesState& files = state.files;
    const ActionContext now = action_context(state);
    std::vector<MenuRow> rows;
    const auto add = [&](std::string_view id) {
        const ActionInfo& info = action(id);
        if (info.applies(now))
            rows.push_back({info.title, key_hint(id), info.make_actions(now), info.tip, why_not(info, now)});
    };
    for (const char* id : {"new", "open", "open hub", "compare with", "save", "save as"})
        add(id);
    if (!files.recent.empty())
        rows.push_back({tr("common.recent", "Recent"), {}, {}, {}, {}});
    for (std::size_t i = 0; i < std::min(files.recent.size(), most_recent); ++i)
        rows.push_back({text::plain_text(std::filesystem::path(files.recent[i]).filename().string()),
                        {},
                        {OpenPath{files.recent[i]}},
                        text::plain_text(files.recent[i]),
                        why_not(action("open"), now)});
    rows.push_back({tr("file_menu.export", "Export"), {}, {}, {}, {}});
    for (const char* id : {"picture", "copy picture", "save numbers", "copy stage", "copy far weights",
                           "copy script", "save script", "copy step", "append step", "record"})
        add(id);
    rows.push_back({{}, {}, {}, {}, {}});
    add("choose attention");
    add("sentences");
    add("drop sentences");
    add("prompts");
    add("list of prompts");
    add("close prompts");
    rows.push_back({{}, {}, {}, {}, {}});
    add("start page");
    add("palette");
    add("settings");
    add("full screen");
    add("present");
    add("quit");
    return rows;
}

bool can_choose(const MenuRow& row) {
    return !row.commands.empty() && row.missing.empty();
}

/// The next enabled row.
int step(const std::vector<MenuRow>& rows, int from, int by) {
    const int count = static_cast<int>(rows.size());
    for (int i = from + by; i >= 0 && i < count; i += by)
        if (can_choose(rows[static_cast<std::size_t>(i)]))
            return i;
    return from;
}

struct MenuLook {
    float width, row = 28, heading = 28, line = 13;
    float height(const MenuRow& row_of) const {
        return !row_of.commands.empty() ? row : row_of.label.empty() ? line : heading;
    }
};

void draw_row(const MenuRow& row, bool lit, const figure::Rect& area, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const float scale = tools.surface.scale();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    figure::Scene scene;
    const float baseline = figure::baseline_for(area.h / 2, 13);
    if (row.commands.empty()) {
        const float y = row.label.empty() ? area.h / 2 : 4;
        scene.add(figure::LineItem{{0, y}, {area.w, y}, theme.line, 1});
        add_text(scene, {14, baseline + 4}, row.label, figure::Font::ui, 12.5F, theme.muted);
    } else {
        const bool on = can_choose(row);
        if (lit && on)
            scene.add(
                figure::RectItem{.area = {5, 0, area.w - 10, area.h}, .fill = theme.highlight, .radius = 4});
        const float keys = row.keys.empty() ? 0 : tools.measure(row.keys, figure::Font::ui, 12.5F) + 24;
        add_text(scene, {14, baseline},
                 fitted(row.label, figure::Font::ui_medium, 13, area.w - 28 - keys, tools),
                 figure::Font::ui_medium, 13, on ? theme.ink : theme.line2);
        add_text(scene, {area.w - 14, baseline}, row.keys, figure::Font::ui, 12.5F,
                 on ? theme.muted : theme.line2, figure::Align::right);
    }
    tools.surface.need_glyphs(row.label);
    paint(scene, at.x, at.y, tools.surface, *ImGui::GetWindowDrawList());
    ImGui::Dummy({area.w * scale, area.h * scale});
    ImGui::SetCursorScreenPos(at);
}

/// Scrolls a menu that is higher than the window. Physical pixels from the top of its first row.
void bring_row_into_sight(float from, float to) {
    const float room = ImGui::GetWindowHeight() - 2 * ImGui::GetStyle().WindowPadding.y;
    ImGui::SetScrollY(std::min(std::max(ImGui::GetScrollY(), to - room), from));
}

void menu(const AppState& state, const ViewTools& tools) {
    const std::vector<MenuRow> rows = menu_rows(state);
    const float scale = tools.surface.scale();
    const MenuLook look{290};
    ImGuiStorage* storage = ImGui::GetStateStorage();
    const ImGuiID key = ImGui::GetID("row");
    int lit = ImGui::IsWindowAppearing() ? -1 : storage->GetInt(key, -1);
    const int by = ImGui::IsWindowAppearing() ? 0 : list_step();
    if (by != 0)
        lit = step(rows, by < 0 && lit < 0 ? static_cast<int>(rows.size()) : lit, by);
    const bool enter = enter_pressed() && !ImGui::IsWindowAppearing();
    if (escape_pressed())
        ImGui::CloseCurrentPopup();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    float y = 0;
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        const MenuRow& row = rows[static_cast<std::size_t>(i)];
        const float height = look.height(row);
        ImGui::SetCursorScreenPos({start.x, start.y + y * scale});
        draw_row(row, lit == i, {0, 0, look.width, height}, tools);
        if (lit == i)
            draw_list_focus(
                {start.x + 5 * scale, start.y + y * scale, (look.width - 10) * scale, height * scale}, tools);
        y += height;
        if (by != 0 && lit == i)
            bring_row_into_sight((y - height) * scale, y * scale);
        if (row.commands.empty())
            continue;
        // Two recent projects may have the same name.
        ImGui::PushID(i);
        const bool clicked = invisible_button(row.label, {look.width * scale, height * scale}, tools.surface);
        ImGui::PopID();
        if (ImGui::IsItemHovered()) {
            if (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)
                lit = i;
            if (!row.missing.empty() || !row.tip.empty())
                show_tip(row.missing.empty() ? row.tip : row.missing + ".", tools);
        }
        if (can_choose(row) && (clicked || (enter && lit == i))) {
            for (const Action& command : row.commands)
                tools.send(command);
            ImGui::CloseCurrentPopup();
        }
    }
    storage->SetInt(key, lit);
}

} // namespace

float view_file_button(const AppState& state, figure::Point at, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const Theme& theme = tools.theme;
    const float text = tools.measure(tr("file_menu.file", "File"), figure::Font::ui_medium, 13);
    const figure::Rect area{at.x, at.y, text + 24 + 15, 32};
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    add_text(scene, {area.x + 12, figure::baseline_for(area.y + area.h / 2, 13)},
             tr("file_menu.file", "File"), figure::Font::ui_medium, 13, theme.ink);
    const figure::Point chevron{area.right() - 15, area.y + area.h / 2 + 2};
    draw_chevron(scene, chevron, Pointing::down, theme.muted);
    paint_here(scene, tools);
    const figure::Rect place = physical(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button("File", {place.w, place.h}, tools.surface);
    if (ImGui::IsItemHovered())
        show_tip(with_key(tr("common.new_open_save_export", "New, open, save and export"), "file menu"),
                 tools);
    if (tools.focus.register_item(place) || clicked || state.requests.file_menu)
        ImGui::OpenPopup("File menu");
    const float top = place.bottom() + 4 * scale, foot = ImGui::GetIO().DisplaySize.y - 8 * scale;
    ImGui::SetNextWindowPos({place.x, top});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {ImGui::GetIO().DisplaySize.x, foot - top});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 6 * scale});
    if (ImGui::BeginPopup("File menu")) {
        menu(state, tools);
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar();
    return area.w;
}

std::string dialog_name(const FilesState& files) {
    return files.question              ? "unsaved changes"
           : files.damaged             ? "damaged project"
           : files.chooser             ? "file chooser"
           : files.hub                 ? "hub"
           : files.attention           ? "attention choice"
           : !files.recoveries.empty() ? "recovery"
                                       : "";
}

SaveStatus save_status(const FilesState& files) {
    if (files.lesson)
        return {
            tr("common.lesson", "lesson"),
            tr("file_menu.lesson_plays_problem_own", "The lesson uses a problem of its own.") + " " +
                (files.save_state == SaveState::changed || files.save_state == SaveState::failed
                     ? tr("file_menu.project_left_not_saved",
                          "Your project is as you left it, and not saved yet.")
                 : files.save_state == SaveState::autosaved
                     ? tr("file_menu.project_left_autosaved", "Your project is as you left it (autosaved).")
                     : tr("file_menu.project_left", "Your project is as you left it."))};
    switch (files.save_state) {
    case SaveState::untouched:
        return {};
    case SaveState::changed:
        return {tr("common.not_saved", "not saved"),
                tr("file_menu.last_changes_not_stored", "The last changes are not saved yet. {} saves them.",
                   key_hint("save"))};
    case SaveState::autosaved:
        return {tr("common.autosaved", "autosaved"),
                tr("file_menu.changed_would_offered_back",
                   "Your changes can be recovered after a crash. {} saves them in a file of your own.",
                   key_hint("save"))};
    case SaveState::saved:
        return {tr("file_menu.saved", "saved"), text::plain_text(files.path)};
    case SaveState::failed:
        return {tr("common.not_saved", "not saved"), files.save_error, true};
    }
    return {};
}

} // namespace headscope::app
