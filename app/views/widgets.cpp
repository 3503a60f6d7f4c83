#include "app/views/widgets.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/views/controls/items.h"
#include "app/views/imgui_keys.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

ImVec4 as_vec4(figure::Color color) {
    return ImGui::ColorConvertU32ToFloat4(color);
}

bool mouse_in(const figure::Rect& area, float x, float y, float scale) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    return area.contains((mouse.x - x) / scale, (mouse.y - y) / scale);
}

figure::Rect physical(const figure::Rect& area, float x, float y, float scale) {
    return {x + area.x * scale, y + area.y * scale, area.w * scale, area.h * scale};
}

/// The next enabled row, down or up; the same row if there is none.
int next_row(const std::vector<Choice>& choices, int row, int by) {
    const int count = static_cast<int>(choices.size());
    for (int next = std::max(row + by, row < 0 ? 0 : -1); next >= 0 && next < count; next += by < 0 ? -1 : 1)
        if (choices[static_cast<std::size_t>(next)].enabled)
            return next;
    return row;
}

/// Draws the rows of an open drop-down list. The row with keyboard focus is kept in ImGui's storage of the
/// popup. from_chosen: the focus starts at the chosen row, for a list opened by the keyboard.
void popup_rows(const std::vector<Choice>& choices, bool from_chosen, const ViewTools& tools) {
    ImGuiStorage* storage = ImGui::GetStateStorage();
    const ImGuiID key = ImGui::GetID("row");
    int row = storage->GetInt(key, -1);
    const int count = static_cast<int>(choices.size());
    const bool appears = ImGui::IsWindowAppearing();
    const int step = appears ? 0 : list_step();
    if (appears)
        row = from_chosen
                  ? static_cast<int>(std::ranges::find(choices, true, &Choice::on) - choices.begin()) % count
                  : -1;
    else if (step != 0)
        row = next_row(choices, row, step);
    storage->SetInt(key, row);
    const bool enter = key_pressed(ImGuiKey_Enter, false);
    if (key_pressed(ImGuiKey_Escape, false))
        ImGui::CloseCurrentPopup();
    for (int i = 0; i < count; ++i) {
        const Choice& choice = choices[static_cast<std::size_t>(i)];
        tools.surface.need_glyphs(choice.label);
        const bool chosen = selectable(
            (choice.on ? "✓  " : "     ") + choice.label, i == row,
            choice.enabled ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_Disabled, tools.surface);
        if (i == row) {
            const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
            draw_list_focus({from.x, from.y, to.x - from.x, to.y - from.y}, tools);
        }
        // A list higher than its popup scrolls.
        if (appears ? choice.on : step != 0 && i == row)
            ImGui::SetScrollHereY();
        if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) && !choice.tip.empty())
            show_tip(choice.tip, tools);
        if (choice.enabled && (chosen || (enter && i == row))) {
            tools.send(choice.action);
            ImGui::CloseCurrentPopup();
        }
    }
}

/// Shows the open list of that name below `place` (physical pixels), or above it if there is more space.
/// Returns false once the list is closed.
bool show_list(const char* popup, const figure::Rect& place, const std::vector<Choice>& choices,
               bool from_chosen, const ViewTools& tools) {
    constexpr float pad = 8, apart = 4, between = 10;
    const float scale = tools.surface.scale();
    ImGui::PushFont(tools.surface.font(figure::Font::ui_medium, 13));
    const float wanted = static_cast<float>(choices.size()) * (ImGui::GetFontSize() + between * scale) +
                         2 * pad * scale,
                below = ImGui::GetIO().DisplaySize.y - place.bottom() - (apart + pad) * scale,
                above = place.y - (apart + pad) * scale;
    const bool up = wanted > below && above > below;
    ImGui::SetNextWindowPos({place.x, up ? place.y - apart * scale : place.bottom() + apart * scale},
                            ImGuiCond_Always, {0, up ? 1.0F : 0.0F});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, std::max(up ? above : below, 60 * scale)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {pad * scale, pad * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {pad * scale, between * scale});
    const bool open = ImGui::BeginPopup(popup);
    if (open) {
        popup_rows(choices, from_chosen, tools);
        ImGui::EndPopup();
    }
    ImGui::PopStyleVar(2);
    ImGui::PopFont();
    return open;
}

/// Shows a list that is open according to the state. ImGui closes it when the mouse is pressed elsewhere.
void show_drop_down(const DropDown& list, const figure::Rect& place, const ViewTools& tools) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID key = ImGui::GetID(list.label.c_str());
    const int frame = ImGui::GetFrameCount();
    const bool was_open = storage.GetInt(key, -1) == frame - 1;
    if (!was_open)
        ImGui::OpenPopup(list.label.c_str());
    if (show_list(list.label.c_str(), place, list.choices, true, tools))
        storage.SetInt(key, frame);
    else if (was_open)
        tools.send(list.close);
}

} // namespace

void scroll_to(const figure::Rect& area) {
    constexpr float margin = 12;
    const ImVec2 corner = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    const auto by = [](float from, float to, float low, float high) {
        return from < low ? from - low : std::max(0.0F, std::min(to - high, from - low));
    };
    const float x = by(area.x, area.right(), corner.x + margin, corner.x + size.x - margin),
                y = by(area.y, area.bottom(), corner.y + margin, corner.y + size.y - margin);
    if (x != 0 && ImGui::GetScrollMaxX() > 0)
        ImGui::SetScrollX(std::max(ImGui::GetScrollX() + x, 0.0F));
    if (y != 0 && ImGui::GetScrollMaxY() > 0)
        ImGui::SetScrollY(std::max(ImGui::GetScrollY() + y, 0.0F));
}

namespace {

/// Returns true while the mouse is over the slider.
bool show_slider(const Slider& slider, const figure::Rect& area, const ViewTools& tools) {
    ImGui::SetCursorScreenPos({area.x, area.y});
    invisible_button(slider.label, {area.w, area.h}, tools.surface);
    const KeyboardInput keyed = tools.focus.register_steppable(area);
    const ImGuiIO& io = ImGui::GetIO();
    const auto send = [&](float value) {
        value = std::clamp(round_to_grain(value, slider.grain), slider.low, slider.high);
        if (value != slider.value)
            tools.send(slider.action(value));
    };
    if (keyed.pressed || (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)))
        send(slider.default_value);
    else if (keyed.steps.any())
        send(slider.stepped(keyed.steps));
    else if (ImGui::IsItemActive())
        send(slider.low + (slider.high - slider.low) * (io.MousePos.x - area.x) / area.w);
    else if (ImGui::IsItemHovered() && io.MouseWheel != 0 && ImGui::GetScrollMaxY() == 0)
        // In a scrolling panel, the wheel scrolls: the mouse may be over a slider only in passing.
        send(slider.value + io.MouseWheel * std::max(0.05F, slider.grain));
    if (!ImGui::IsItemHovered())
        return false;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (!slider.tip.empty() && !ImGui::IsItemActive())
        show_tip(slider.tip, tools);
    return true;
}

/// Returns true while the mouse is over the area.
bool show_drag(const DragArea& drag, float x, float y, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const figure::Rect area = physical(drag.area, x, y, scale),
                       frame = physical(drag.reference_area, x, y, scale);
    ImGui::SetCursorScreenPos({area.x, area.y});
    invisible_button(drag.label, {area.w, area.h}, tools.surface);
    const KeyboardInput keyed = drag.stepped ? tools.focus.register_steppable(area)
                                             : KeyboardInput{.pressed = tools.focus.register_item(area)};
    const bool clicked = ImGui::IsItemDeactivated();
    const ImGuiIO& io = ImGui::GetIO();
    const auto share = [&](const ImVec2& at) {
        return figure::Point{std::clamp((at.x - frame.x) / frame.w, 0.0F, 1.0F),
                             std::clamp((at.y - frame.y) / frame.h, 0.0F, 1.0F)};
    };
    constexpr float trembles = 4;
    const float moved = trembles * scale;
    const bool far = io.MouseDragMaxDistanceSqr[0] > moved * moved;
    if (ImGui::IsItemActive() && far && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0))
        tools.send(drag.dragged(share(io.MouseClickedPos[0]), share(io.MousePos)));
    else if (drag.clicked && (keyed.pressed || (clicked && !far)))
        tools.send(drag.clicked(keyed.pressed ? figure::Point{0.5F, 0.5F} : share(io.MousePos)));
    else if (keyed.steps.any())
        tools.send(drag.stepped(keyed.steps));
    if (!ImGui::IsItemHovered())
        return false;
    if (!drag.tip.empty() && !ImGui::IsItemActive())
        show_tip(drag.tip, tools);
    return true;
}

} // namespace

constexpr int frames_of_scrolling = 3;

void FocusRing::begin_frame() {
    const bool seen = std::exchange(found_focused_, false);
    previous_count_ = count_;
    count_ = 0;
    // Keep input for an item that did not register in the previous frame.
    activated_now_ = std::exchange(activate_, false) || (activated_now_ && !seen && visible());
    if (seen || !visible())
        steps_now_ = {};
    steps_now_.across += steps_.across;
    steps_now_.up += steps_.up;
    steps_now_.fine = steps_.any() ? steps_.fine : steps_now_.fine;
    steps_ = {};
    if (seen || !visible())
        takes_steps_ = took_steps_;
    took_steps_ = false;
    arriving_ = move_ != 0;
    scrolling_frames_ = arriving_ ? frames_of_scrolling : std::max(scrolling_frames_ - 1, 0);
    by_number_ =
        scrolling_frames_ > 0 || !seen; // while a list scrolls, the previous position may show another row
    alike_passed_ = 0;
    if (move_ != 0 && previous_count_ > 0) {
        index_ = index_ < 0 ? (move_ > 0 ? first_item() : previous_count_ - 1)
                            : (index_ + move_ + previous_count_) % previous_count_;
    }
    move_ = 0;
    if (index_ >= previous_count_)
        index_ = -1;
    items_.clear();
    beginning_ = {};
}

int FocusRing::first_item() const {
    const auto there = [&](const auto& place) {
        const figure::Rect& area = place.first;
        return beginning_.contains(area.x + area.w / 2, area.y + area.h / 2);
    };
    auto first =
        std::ranges::find_if(items_, [&](const auto& place) { return place.second && there(place); });
    if (first == items_.end())
        first = std::ranges::find_if(items_, there);
    return first == items_.end() ? 0 : static_cast<int>(first - items_.begin());
}

bool FocusRing::has_focus(const figure::Rect& area, bool text) {
    const int number = count_++;
    items_.emplace_back(area, text);
    if (index_ < 0 || found_focused_)
        return false;
    const auto same = [&](const figure::Rect& other) {
        const auto near = [](float a, float b) { return std::abs(a - b) < 0.5F; };
        return near(area.x, other.x) && near(area.y, other.y) && near(area.w, other.w) &&
               near(area.h, other.h);
    };
    if (by_number_ && number != index_)
        return false;
    if (!by_number_ && (!same(focused_) || alike_passed_++ != alike_))
        return false;
    if (by_number_)
        alike_ = static_cast<int>(std::count_if(items_.begin(), items_.end() - 1,
                                                [&](const auto& place) { return same(place.first); }));
    found_focused_ = true;
    index_ = number;
    focused_ = area;
    if (arriving_)
        scroll_to(area);
    return true;
}

bool FocusRing::register_item(const figure::Rect& area) {
    return has_focus(area) && activated_now_;
}

bool FocusRing::register_text_field(const figure::Rect& area) {
    return has_focus(area, true) && (arriving_ || activated_now_);
}

KeyboardInput FocusRing::register_steppable(const figure::Rect& area) {
    if (!has_focus(area))
        return {};
    took_steps_ = true;
    return {.pressed = activated_now_, .steps = steps_now_};
}

void FocusRing::step(const ControlSteps& by) {
    steps_.across += by.across;
    steps_.up += by.up;
    steps_.fine = by.fine;
}

void FocusRing::draw(figure::Color color, float scale) const {
    if (index_ < 0)
        return;
    const float grow = 3 * scale;
    ImGui::GetForegroundDrawList()->AddRect({focused_.x - grow, focused_.y - grow},
                                            {focused_.right() + grow, focused_.bottom() + grow}, color,
                                            5 * scale, 0, 2 * scale);
}

int list_step() {
    const bool back = ImGui::GetIO().KeyShift;
    const auto pressed = [&](KeyName name) { return key_pressed(name) ? 1 : 0; };
    return pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow) + pressed(ImGuiKey_Tab) * (back ? -1 : 1);
}

void draw_list_focus(const figure::Rect& row, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    ImGui::GetWindowDrawList()->AddRect({row.x, row.y}, {row.right(), row.bottom()}, tools.theme.ink,
                                        4 * scale, 0, 1.5F * scale);
}

namespace {

constexpr figure::Point tip_pad{8, 6};
constexpr float tip_leading = 4; ///< between lines

/// Places the next tooltip below the hovered item, or above it if there is no space below, so that the rest
/// of the item's line stays visible; next to a menu. For large areas the tooltip appears at the mouse.
void place_tip(const std::string& lines, float wrap, float scale) {
    constexpr float tallest = 60, widest_item = 240, gap = 6, below_mouse = 20;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax(),
                 mouse = ImGui::GetIO().MousePos, window = ImGui::GetIO().DisplaySize;
    const bool hovered = mouse.x >= low.x && mouse.x < high.x && mouse.y >= low.y && mouse.y < high.y;
    if (!hovered || high.y - low.y > tallest * scale)
        return;
    const auto breaks = std::ranges::count(lines, '\n');
    const ImVec2 text = ImGui::CalcTextSize(lines.c_str(), nullptr, false, wrap),
                 size{text.x + 2 * tip_pad.x * scale,
                      text.y + (2 * tip_pad.y + tip_leading * static_cast<float>(breaks)) * scale};
    const float side = gap * scale;
    const auto across = [&](float x) {
        return std::clamp(x, side, std::max(window.x - size.x - side, side));
    };
    const ImGuiWindow& holder = *ImGui::GetCurrentWindowRead();
    if ((holder.Flags & ImGuiWindowFlags_Popup) != 0) {
        const float right = holder.Pos.x + holder.Size.x + side, left = holder.Pos.x - size.x - side;
        if (right + size.x < window.x || left >= 0)
            ImGui::SetNextWindowPos({right + size.x < window.x ? right : left, low.y});
        return;
    }
    const float x = across(high.x - low.x <= widest_item * scale ? low.x : mouse.x);
    const float below = std::max(high.y + side, mouse.y + below_mouse * scale);
    ImGui::SetNextWindowPos({x, below + size.y + side <= window.y ? below : low.y - side - size.y});
}

} // namespace

void show_tip(const std::string& text, const ViewTools& tools) {
    constexpr float most = 340, size = 13;
    tools.surface.need_glyphs(text);
    // Dear ImGui would break a number after its decimal point.
    std::string lines;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        for (const std::string& line :
             wrapped(text.substr(begin, end - begin), most, tools.measure, figure::Font::ui, size))
            lines += (lines.empty() ? "" : "\n") + line;
        begin = end + 1;
    }
    const float scale = tools.surface.scale();
    ImGui::PushStyleColor(ImGuiCol_PopupBg, as_vec4(tools.theme.ink));
    ImGui::PushStyleColor(ImGuiCol_Text, as_vec4(tools.theme.canvas));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {tip_pad.x * scale, tip_pad.y * scale});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, tip_leading * scale});
    ImGui::PushFont(tools.surface.font(figure::Font::ui, size));
    const float wrap = (most + 20) * scale; // for words longer than a line
    place_tip(lines, wrap, scale);
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(wrap);
    for (std::size_t begin = 0; begin <= lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        ImGui::TextUnformatted(lines.c_str() + begin, lines.c_str() + end);
        begin = end + 1;
    }
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
    ImGui::PopFont();
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor(2);
}

void show_picture(const Picture& picture, float x, float y, const ViewTools& tools,
                  std::optional<CellAddress>* hovered) {
    const float scale = tools.surface.scale();
    paint(picture.scene, x, y, tools.surface, *ImGui::GetWindowDrawList());
    bool on_hotspot = false;
    for (const Hotspot& spot : picture.hotspots) {
        const figure::Rect area = physical(spot.area, x, y, scale);
        if (area.w < 1 || area.h < 1)
            continue;
        ImGui::SetCursorScreenPos({area.x, area.y});
        const bool clicked = invisible_button(spot.label, {area.w, area.h}, tools.surface);
        if (tools.focus.register_item(area) || clicked)
            tools.send(spot.action);
        if (ImGui::IsItemHovered()) {
            on_hotspot = true;
            ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            if (tools.hovered != nullptr)
                *tools.hovered = spot.label;
            if (!spot.tip.empty())
                show_tip(spot.tip, tools);
            const auto thing =
                ImGui::IsMouseClicked(ImGuiMouseButton_Right) ? thing_of(spot.action) : std::nullopt;
            if (thing) {
                tools.send(spot.action);
                tools.send(OpenContextMenu{thing});
            }
        }
    }
    for (const Slider& slider : picture.sliders)
        on_hotspot = show_slider(slider, physical(slider.track, x, y, scale), tools) || on_hotspot;
    for (const DragArea& drag : picture.drags)
        on_hotspot = show_drag(drag, x, y, tools) || on_hotspot;
    for (const TextField& field : picture.fields) {
        show_field(field, physical(field.area, x, y, scale), tools);
        on_hotspot = ImGui::IsItemHovered() || on_hotspot;
    }
    for (const DropDown& list : picture.lists)
        show_drop_down(list, physical(list.area, x, y, scale), tools);
    if (on_hotspot || !ImGui::IsWindowHovered())
        return;
    for (const Tip& tip : picture.tips)
        if (mouse_in(tip.area, x, y, scale))
            show_tip(tip.text, tools);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        for (const TokenWord& word : picture.token_words)
            if (mouse_in(word.area, x, y, scale))
                return tools.send(OpenContextMenu{word.token});
    if (hovered == nullptr)
        return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (const MatrixGrid& grid : picture.grids) {
        const auto cell =
            grid.outlined ? grid.at((mouse.x - x) / scale, (mouse.y - y) / scale) : std::nullopt;
        if (!cell)
            continue;
        *hovered = cell;
        react_to_cell(grid, *cell, tools);
        return;
    }
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !tools.keeps_selection)
        tools.send(Select{std::nullopt});
}

float combo_width(const std::string& caption, const std::string& value, const ViewTools& tools) {
    const float before = caption.empty() ? 0.0F : tools.measure(caption, figure::Font::ui, 13) + 7;
    return before + tools.measure(value, figure::Font::ui_medium, 13) + 46;
}

void combo(const std::string& caption, const std::string& value, const figure::Rect& area,
           const std::function<std::vector<Choice>()>& choices, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    float x = area.x + 12;
    const float baseline = figure::baseline_for(area.y + area.h / 2, 13);
    if (!caption.empty()) {
        add_text(scene, {x, baseline}, caption, figure::Font::ui, 13, theme.muted);
        x += tools.measure(caption, figure::Font::ui, 13) + 7;
    }
    add_text(scene, {x, baseline}, value, figure::Font::ui_medium, 13, theme.ink);
    const figure::Point chevron{area.right() - 16, area.y + area.h / 2 + 2};
    draw_chevron(scene, chevron, Pointing::down, theme.muted);
    paint_here(scene, tools);

    const std::string id = caption.empty() ? value : caption;
    const figure::Rect place = physical(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button(id, {place.w, place.h}, tools.surface);
    const std::string popup = id + " list";
    if (clicked || tools.focus.register_item(place))
        ImGui::OpenPopup(popup.c_str());
    if (ImGui::IsPopupOpen(popup.c_str()))
        show_list(popup.c_str(), place, choices(), tools.focus.visible(), tools);
}

} // namespace headscope::app
