#include "app/commands/actions.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/imgui_keys.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float field_high = 52, foot_high = 58, list_pad = 6;
constexpr float roomy = 900; ///< from this window height on, the list is tall

/// The card with the field, the footer and at most ten rows, or twelve in a tall window. Logical pixels of
/// the window.
figure::Rect place_of(const std::vector<PaletteRow>& rows, const ViewTools& tools) {
    const ImVec2 size = ImGui::GetMainViewport()->Size;
    const float scale = tools.surface.scale(), window_w = size.x / scale, window_h = size.y / scale;
    const bool large = window_h >= roomy;
    const float width = std::min(large ? 656.0F : 560.0F, window_w - 24), top = large ? 112 : 60;
    const float frame = field_high + foot_high + 2 * list_pad;
    float list = rows.empty() ? 2 * palette_row : 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), large ? 12 : 10); ++i)
        list += palette_row + (rows[i].heading.empty() ? 0 : palette_heading);
    list = std::min(list, window_h - top - frame - 12);
    return {std::round((window_w - width) / 2), top, width, frame + list};
}

void draw_card(const figure::Rect& card, const Theme& theme, const ViewTools& tools) {
    figure::Scene scene;
    for (float by = 4; by > 0; by -= 1) // a soft shadow over the unchanged background
        scene.add(figure::RectItem{.area = {card.x - by * 2, card.y, card.w + by * 4, card.h + by * 3},
                                   .fill = figure::with_alpha(0, 12),
                                   .radius = 12});
    scene.add(figure::RectItem{.area = card, .fill = theme.raise, .stroke = theme.line2, .radius = 8});
    const float y = card.y + field_high, foot = card.bottom() - foot_high;
    scene.add(figure::LineItem{{card.x, y}, {card.right(), y}, theme.line, 1});
    scene.add(figure::LineItem{{card.x, foot}, {card.right(), foot}, theme.line, 1});
    dialog_paint(scene, tools);
}

/// The search field. Keeps what is typed before the field has the keyboard.
void type_into(Palette& palette, const figure::Rect& area, const ViewTools& tools) {
    const std::string before = palette.typed;
    if (!palette.has_keyboard)
        palette.typed += typed_ahead();
    const TextFrame frame(area, {.size = 15}, palette.typed, tools);
    Caret caret = palette.has_keyboard ? Caret::stays : Caret::at_end;
    // ImGui gives the mouse to a clicked row until the button is released.
    if (!palette.has_keyboard && !ImGui::IsMouseDown(ImGuiMouseButton_Left) &&
        !ImGui::IsMouseReleased(ImGuiMouseButton_Left))
        focus_next_item();
    ImGui::PushAllowKeyboardFocus(false);
    input_text("##palette",
               tr("palette.type_few_letters_head",
                  "Type a few letters; @ for a head, # for a token, ? for the manual"),
               palette.typed, ImGuiInputTextFlags_CallbackAlways, place_caret, &caret, tools.surface);
    ImGui::PopAllowKeyboardFocus();
    palette.has_keyboard = ImGui::IsItemActive();
    if (palette.typed != before) {
        palette.highlighted = 0;
        palette.follow = true;
    }
}

/// Arrow and page keys move through `count` rows.
void move_through_rows(Palette& palette, std::size_t count) {
    const std::pair<KeyName, int> steps[] = {
        {ImGuiKey_DownArrow, 1}, {ImGuiKey_UpArrow, -1}, {ImGuiKey_PageDown, 9}, {ImGuiKey_PageUp, -9}};
    const int last = static_cast<int>(count) - 1;
    int lit = std::min(static_cast<int>(palette.highlighted), last);
    for (const auto& [key, by] : steps)
        if (key_pressed(key)) {
            lit += by;
            palette.follow = true;
        }
    palette.highlighted = static_cast<std::size_t>(std::clamp(lit, 0, std::max(last, 0)));
}

/// Draws the visible rows. Returns the row that was clicked, or null.
const PaletteRow* draw_rows(const std::vector<PaletteRow>& rows, Palette& palette, const figure::Rect& area,
                            const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetMainViewport()->Pos;
    const ImGuiIO& io = ImGui::GetIO();
    const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
    const PaletteRow* clicked = nullptr;
    ImGui::SetCursorScreenPos({origin.x + area.x * scale, origin.y + area.y * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::BeginChild("entries", {area.w * scale, area.h * scale});
    ImGui::PopStyleVar();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float shown_from = ImGui::GetScrollY() / scale, shown_to = shown_from + area.h;
    float y = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PaletteRow& row = rows[i];
        const float top = y, heading = row.heading.empty() ? 0 : palette_heading;
        y += heading + palette_row;
        const bool lit = i == palette.highlighted;
        if (lit && palette.follow && (top < shown_from || y > shown_to))
            ImGui::SetScrollY((top < shown_from ? top : y - area.h) * scale);
        if (y < shown_from || top > shown_to)
            continue;
        figure::Scene scene;
        if (heading > 0)
            add_text(scene, {20, figure::baseline_for(top + heading / 2, 12.5F)}, row.heading,
                     figure::Font::ui, 12.5F, tools.theme.muted);
        tools.surface.need_glyphs(row.entry->title + row.entry->detail);
        scene.append(draw_palette_row(row, lit, area.w, tools.theme, tools.measure), 0, top + heading);
        paint(scene, start.x, start.y, tools.surface, *ImGui::GetWindowDrawList());
        ImGui::SetCursorScreenPos({start.x, start.y + (top + heading) * scale});
        if (invisible_button(row.entry->id, {area.w * scale, palette_row * scale}, tools.surface))
            clicked = &row;
        if (moved && ImGui::IsItemHovered())
            palette.highlighted = i;
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({1, y * scale});
    palette.follow = false;
    ImGui::EndChild();
    return clicked;
}

/// Draws the effect of Return and the list of keys.
void draw_foot(const PaletteEntry* entry, const figure::Rect& area, const ViewTools& tools) {
    const float x = area.x + 20, room = area.w - 40;
    if (entry != nullptr) {
        const std::string says = entry->disabled_reason.empty()
                                     ? entry->tip
                                     : tr("palette.not_now", "Not now: {}", entry->disabled_reason);
        dialog_text({x, figure::baseline_for(area.y + 19, 12.5F)},
                    fitted(says, figure::Font::ui, 12.5F, room, tools), figure::Font::ui, 12.5F,
                    tools.theme.text, tools);
    }
    dialog_text({x, figure::baseline_for(area.y + 40, 12)},
                tr("palette.move_enter_esc_closes", "↑ ↓ move    Enter does it    Esc closes"),
                figure::Font::ui, 12, tools.theme.muted, tools);
    dialog_text({x + room, figure::baseline_for(area.y + 40, 12)},
                tr("palette.heads_tokens_manual", "@ heads    # tokens    ? manual"), figure::Font::ui, 12,
                tools.theme.muted, tools, figure::Align::right);
}

} // namespace

void view_palette(const AppState& state, const ActionContext& now, Palette& palette, const ViewTools& tools) {
    if (state.files.dialog_open()) {
        palette.open = false;
        return;
    }
    const std::vector<PaletteEntry> entries =
        palette_entries({now, state.shown, *state.document, state.course, state.head_grid});
    PaletteEntry search;
    const auto rows_of = [&] {
        std::vector<PaletteRow> found = palette_rows(entries, palette.typed, palette.recent);
        search = search_entry(palette.typed);
        const bool anything = palette.typed.find_first_not_of(" @#?") != std::string::npos;
        if (found.empty() && anything)
            found.push_back({.entry = &search, .heading = no_match_message(palette.typed)});
        return found;
    };
    std::vector<PaletteRow> rows = rows_of();
    begin_modal_layer("palette", tools);
    const bool enter = enter_pressed(), escape = escape_pressed();
    const figure::Rect card = place_of(rows, tools);
    draw_card(card, tools.theme, tools);
    const std::string before = palette.typed;
    const bool searches = !rows.empty() && rows.front().entry == &search;
    const std::string count = tr("common.of_2", "{} of {}", searches ? 0 : rows.size(), entries.size());
    const float counted =
        dialog_text({card.right() - 20, figure::baseline_for(card.y + field_high / 2, 12.5F)}, count,
                    figure::Font::ui, 12.5F, tools.theme.muted, tools, figure::Align::right);
    type_into(palette, {card.x + 8, card.y + 9, card.w - 44 - counted, 34}, tools);
    if (palette.typed != before)
        rows = rows_of();
    move_through_rows(palette, rows.size());
    const figure::Rect area{card.x, card.y + field_high + list_pad, card.w,
                            card.h - field_high - foot_high - 2 * list_pad};
    const PaletteRow* chosen = draw_rows(rows, palette, area, tools);
    if (rows.empty())
        dialog_text({card.x + 20, figure::baseline_for(area.y + palette_row, 13.5F)},
                    fitted(no_match_message(palette.typed), figure::Font::ui, 13.5F, card.w - 40, tools),
                    figure::Font::ui, 13.5F, tools.theme.text, tools);
    const PaletteRow* const lit = rows.empty() ? nullptr : &rows[palette.highlighted];
    draw_foot(lit == nullptr ? nullptr : lit->entry, {card.x, card.bottom() - foot_high, card.w, foot_high},
              tools);
    if (enter)
        chosen = lit;
    const ImVec2 mouse = ImGui::GetIO().MousePos, origin = ImGui::GetMainViewport()->Pos;
    const float scale = tools.surface.scale();
    const bool outside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                         !card.contains((mouse.x - origin.x) / scale, (mouse.y - origin.y) / scale);
    if (chosen != nullptr && chosen->entry->disabled_reason.empty()) {
        for (const Action& action : chosen->entry->make_actions(now))
            tools.send(action);
        close_and_remember(palette, chosen->entry->id);
    } else if (escape || outside) {
        palette.open = false;
    }
    if (!palette.open)
        leave_field();
    end_dialog();
}

} // namespace headscope::app
