#pragma once

#include <string>

namespace headscope::app {

/// An OpenGL 3.3 core context that belongs to no window and has no surface, current while it lives.
class EglContext {
public:
    /// Throws Error(machine) when EGL, its surfaceless platform or OpenGL 3.3 is missing.
    EglContext();
    ~EglContext();
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

private:
    void close();
    void* display_ = nullptr;
    void* context_ = nullptr;
};

/// Throws Error(machine): the window can't be drawn without a display because `what`.
[[noreturn]] void fail_offscreen(const std::string& what);

} // namespace headscope::app
