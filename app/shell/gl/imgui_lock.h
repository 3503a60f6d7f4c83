#pragma once

#include <mutex>

struct ImGuiContext;

namespace headscope::app {

/// Exclusive access of one thread to Dear ImGui, whose current context is global: the window draws its frames
/// while another program is filmed. The destructor restores the current context.
class ImGuiLock {
public:
    /// context: made current; null: unchanged.
    explicit ImGuiLock(ImGuiContext* context = nullptr);
    ~ImGuiLock();
    ImGuiLock(const ImGuiLock&) = delete;
    ImGuiLock& operator=(const ImGuiLock&) = delete;

private:
    std::scoped_lock<std::recursive_mutex> lock_;
    ImGuiContext* before_;
};

} // namespace headscope::app
