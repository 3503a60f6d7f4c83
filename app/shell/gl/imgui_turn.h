#pragma once

#include <mutex>

struct ImGuiContext;

namespace headscope::app {

/// One thread's turn with Dear ImGui, whose current context is one for all threads: the window draws its
/// frames while a film of another program is made beside it. On the way out the context is as it was.
class ImGuiTurn {
public:
    /// context: current from here on; null: the one that is.
    explicit ImGuiTurn(ImGuiContext* context = nullptr);
    ~ImGuiTurn();
    ImGuiTurn(const ImGuiTurn&) = delete;
    ImGuiTurn& operator=(const ImGuiTurn&) = delete;

private:
    std::scoped_lock<std::recursive_mutex> lock_;
    ImGuiContext* before_;
};

} // namespace headscope::app
