#pragma once

#include <mutex>

struct ImGuiContext;

namespace headscope::app {

/// Exclusive access of one thread to Dear ImGui, whose current context is global: the window draws its frames
/// while another program is filmed. The destructor restores the current context.
class ImGuiTurn {
public:
    /// context: made current; null: unchanged.
    explicit ImGuiTurn(ImGuiContext* context = nullptr);
    ~ImGuiTurn();
    ImGuiTurn(const ImGuiTurn&) = delete;
    ImGuiTurn& operator=(const ImGuiTurn&) = delete;

private:
    std::scoped_lock<std::recursive_mutex> lock_;
    ImGuiContext* before_;
};

} // namespace headscope::app
