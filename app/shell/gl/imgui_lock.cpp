#include "app/shell/gl/imgui_lock.h"

#include <imgui.h>

namespace headscope::app {

namespace {

std::recursive_mutex turn;

} // namespace

ImGuiLock::ImGuiLock(ImGuiContext* context) : lock_(turn), before_(ImGui::GetCurrentContext()) {
    if (context != nullptr)
        ImGui::SetCurrentContext(context);
}

ImGuiLock::~ImGuiLock() {
    ImGui::SetCurrentContext(before_);
}

} // namespace headscope::app
