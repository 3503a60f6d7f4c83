#include "app/draw/kit/format.h"
#include "app/state/block.h"
#include "app/views/action_context.h"
#include "app/views/controls/items.h"
#include "app/views/imgui_keys.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <imgui_internal.h>

#include <algorithm>
#include <vector>

namespace headscope::app {

namespace {

/// Records Tab inside the field, which ImGui reports only to a callback.
int note_tab(ImGuiInputTextCallbackData* data) {
    *static_cast<bool*>(data->UserData) = true;
    return 0;
}

/// Inserts characters before the keyboard input of this frame.
void type_first(const std::string& text) {
    ImGuiIO& io = ImGui::GetIO();
    const std::vector<ImWchar> later(io.InputQueueCharacters.begin(), io.InputQueueCharacters.end());
    io.InputQueueCharacters.resize(0);
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        unsigned int code_point = 0;
        at += ImTextCharFromUtf8(&code_point, at, end);
        io.InputQueueCharacters.push_back(static_cast<ImWchar>(code_point));
    }
    for (const ImWchar c : later)
        io.InputQueueCharacters.push_back(c);
}

/// The cell that is `by` cells away along an axis, or empty if it is outside the matrix.
std::optional<CellAddress> moved(const CellAddress& cell, int axis, std::int64_t by, const Dims& dims) {
    if (axis < 0)
        return std::nullopt;
    CellAddress out = cell;
    out.at[static_cast<std::size_t>(axis)] += by;
    const std::int64_t at = out.at[static_cast<std::size_t>(axis)];
    return at >= 0 && at < tensor_info(cell.tensor).shape(dims)[axis] ? std::optional(out) : std::nullopt;
}

/// Draws the address of the number in the field above its box. `aside`: the inspector below describes another
/// number, the hovered one.
void name_cell(figure::Scene& scene, const figure::Rect& box, const std::string& address, bool aside,
               const ViewTools& tools) {
    const Theme& theme = tools.theme;
    constexpr float size = 12.5F;
    constexpr int longest_address = 26;
    const std::string before =
        aside ? tr("number_field.selected", "Selected") : tr("number_field.edit_verb", "Edit");
    const float baseline = box.y - 8;
    add_text(scene, {box.x, baseline}, before, figure::Font::ui, size, theme.muted);
    const std::string shown = shortened(address, longest_address);
    tools.surface.need_glyphs(shown);
    add_text(scene, {box.x + tools.measure(before, figure::Font::ui, size) + 7, baseline}, shown,
             figure::Font::mono, size, aside ? theme.muted : theme.ink);
}

} // namespace

float view_number_field(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    NumberEdit& edit = *tools.number;
    const auto cell = state.view.drag ? std::optional(state.view.drag->cell) : state.view.selected;
    // A is read-only.
    const bool shows_a = side_on_screen(state) == Compare::baseline;
    if (!cell || !takes_number(cell->tensor) || state.shown.tensor(cell->tensor) == nullptr || shows_a) {
        edit = {};
        return 0;
    }
    if (!edit.active && !edit.take_keyboard)
        edit.text = shortest_number(state.shown.value(*cell));
    constexpr float height = 78;
    const figure::Rect box{area.x + panel_pad, area.y + 34, area.w - 2 * panel_pad, 34};
    const bool aside = !edit.active && !edit.take_keyboard && state.view.hover && state.view.hover != cell;
    const bool wrong = edit.active && !state.error.empty();
    figure::Scene scene;
    name_cell(scene, box, address_text(state.shown, *cell), aside, tools);
    paint_here(scene, tools);
    const TextFrame frame(box,
                          {.font = figure::Font::mono,
                           .size = 15,
                           .stroke = aside ? tools.theme.line2 : tools.theme.ink,
                           .stroke_width = aside ? 1.0F : 1.5F,
                           .invalid = wrong,
                           .muted = aside},
                          edit.text, tools);
    if (edit.take_keyboard && !edit.active)
        focus_next_item();
    const bool was_active = edit.active;
    // Input from before the field had the keyboard: a number, possibly Enter or Tab, and further input.
    char end = 0;
    std::string later;
    if (was_active && !edit.typed_before_focus.empty()) {
        const std::size_t at = edit.typed_before_focus.find_first_of("\n\t");
        if (at != std::string::npos) {
            end = edit.typed_before_focus[at];
            later = edit.typed_before_focus.substr(at + 1);
        }
        type_first(edit.typed_before_focus.substr(0, at));
        edit.typed_before_focus.clear();
    }
    bool tab = false;
    // Tab moves through the numbers while no field is open; ImGui's own tabbing would also open this field.
    ImGui::PushAllowKeyboardFocus(false);
    bool entered = input_text("##number", "", edit.text,
                              ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll |
                                  ImGuiInputTextFlags_CallbackCompletion,
                              note_tab, &tab, tools.surface);
    ImGui::PopAllowKeyboardFocus();
    if (!was_active && !edit.typed_before_focus.empty())
        entered = tab = false; // the number and the Enter or Tab after it are still to come
    tab = tab || end == '\t';
    if (end == '\n' && !entered) {
        entered = true;
        ImGui::ClearActiveID();
    }
    edit.active = ImGui::IsItemActive();
    if (edit.active)
        edit.take_keyboard = false;
    else if (!entered && !edit.take_keyboard)
        edit.text = shortest_number(state.shown.value(*cell));
    if (ImGui::IsItemHovered() && !edit.active)
        show_tip(tr("number_field.type_number_press_enter",
                    "Type a number and press Enter, or drag the cell sideways."),
                 tools);
    if (!entered && !tab)
        return height;
    // An unchanged number edits nothing, but clears the error about an invalid one.
    if (edit.text != shortest_number(state.shown.value(*cell)) || !state.error.empty())
        tools.send(TypedNumber{*cell, edit.text});
    try {
        parse_number(edit.text);
    } catch (const Error&) {
        // The command reports the error; the typed text stays so that the user can correct it.
        edit.take_keyboard = true;
        return height;
    }
    const Dims& dims = state.shown.dims();
    // Enter moves down. For parameters around a checkpoint's attention only one row is on screen, so Enter
    // moves along that row.
    const bool one_row = row_axis(cell->tensor) >= 0 && is_block_weight(cell->tensor);
    const auto next = tab ? moved(*cell, col_axis(cell->tensor), ImGui::GetIO().KeyShift ? -1 : 1, dims)
                          : moved(*cell, one_row ? col_axis(cell->tensor) : row_axis(cell->tensor), 1, dims);
    if (next)
        tools.send(Select{next});
    if (tab && next)
        ImGui::ClearActiveID();
    // The typed text belongs to the previous cell, even if Enter was pressed before the field was open.
    if (entered || next)
        edit = {.take_keyboard = !later.empty(), .typed_before_focus = std::move(later)};
    return height;
}

} // namespace headscope::app
