#include "app/shell/gestures.h"

#include "app/draw/kit/controls.h"
#include "app/shell/edit_keys.h"
#include "app/shell/shortcuts.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

void follow_drag(CellDrag& drag, AppState& state, float scale, const Sink& send) {
    const ImGuiIO& io = ImGui::GetIO();
    constexpr float threshold = 3; // small movements during a click are not a drag
    const bool upwards = drag.change_per_pixel != 0;
    const float way = upwards ? drag.start_y - io.MousePos.y / scale : io.MousePos.x / scale - drag.start_x;
    drag.moved = drag.moved || std::abs(way) >= threshold;
    if (!drag.moved || state.shown.tensor(drag.cell.tensor) == nullptr)
        return;
    const float grain = drag_step(state, drag.cell.tensor, io.KeyShift);
    const float by = upwards ? drag.change_per_pixel * (io.KeyShift ? 0.1F : 1.0F) : grain;
    const float value = round_to_grain(drag.start_value + way * by, grain);
    if (value != drag.value)
        send(EditCell{drag.cell, value});
    drag.value = value;
}

} // namespace

void Gestures::follow_rest(ViewState& view, float scale) {
    constexpr float trembling = 3;
    const ImGuiIO& io = ImGui::GetIO();
    const bool clicked =
        ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
    // A selection that was not made with the mouse was made with a key.
    if (std::exchange(selected_, view.selected) != view.selected && view.selected && !clicked) {
        rests_ = true;
        rests_at_.reset();
    }
    if (!rests_)
        return;
    const figure::Point at{io.MousePos.x / scale, io.MousePos.y / scale};
    const figure::Point from = rests_at_.value_or(at);
    rests_at_ = from;
    const bool moved = std::max(std::abs(at.x - from.x), std::abs(at.y - from.y)) > trembling;
    if (!moved && !clicked && io.MouseWheel == 0 && view.selected)
        return;
    rests_ = false;
    view.hover = under_mouse_;
}

std::optional<CellAddress> Gestures::pointed(const std::optional<CellAddress>& under_mouse) {
    under_mouse_ = under_mouse;
    return rests_ ? std::nullopt : under_mouse;
}

bool Gestures::begin_frame(ViewState& view, float scale, double now) {
    follow_rest(view, scale);
    constexpr double wheel_rest = 0.7; // maximum pause in seconds between wheel turns of one gesture
    const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left);
    // The move that ends a drag is part of it.
    const bool over =
        !held && !ImGui::GetIO().WantTextInput && !view.drag && now - wheel_turned_ > wheel_rest;
    if (!held) {
        view.selecting = false;
        view.brush.allows.reset();
    }
    return over;
}

void Gestures::wheel(AppState& state, bool page_scrolls, const Sink& send, double now) {
    if (handle_wheel(state, page_scrolls, send))
        wheel_turned_ = now;
}

bool Gestures::drag_number(AppState& state, float scale, const Sink& send) {
    if (!state.view.drag)
        return false;
    CellDrag& drag = *state.view.drag;
    const bool cancelled = pressed(Key::escape);
    if (cancelled && drag.moved)
        send(EditCell{drag.cell, drag.start_value});
    // In a slow frame, the last move can arrive together with the release: apply it.
    const bool over = cancelled || !ImGui::IsMouseDown(ImGuiMouseButton_Left);
    if (!cancelled && ImGui::IsMousePosValid())
        follow_drag(drag, state, scale, send);
    if (over) {
        rests_ = drag.moved;
        rests_at_.reset();
        state.view.drag.reset();
    }
    return over;
}

} // namespace headscope::app
