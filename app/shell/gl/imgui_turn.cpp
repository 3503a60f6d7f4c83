#include "app/shell/gl/imgui_turn.h"

#include <imgui.h>

namespace headscope::app {

namespace {

std::recursive_mutex turn;

} // namespace

ImGuiTurn::ImGuiTurn(ImGuiContext* context) : lock_(turn), before_(ImGui::GetCurrentContext()) {
    if (context != nullptr)
        ImGui::SetCurrentContext(context);
}

ImGuiTurn::~ImGuiTurn() {
    ImGui::SetCurrentContext(before_);
}

} // namespace headscope::app
