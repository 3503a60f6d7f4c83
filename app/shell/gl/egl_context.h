#pragma once

#include <string>

namespace headscope::app {

/// An OpenGL 3.3 core context without window and surface, current during its lifetime.
class EglContext {
public:
    /// Throws Error(machine) if EGL, its surfaceless platform or OpenGL 3.3 is missing.
    EglContext();
    ~EglContext();
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

private:
    void close();
    void* display_ = nullptr;
    void* context_ = nullptr;
};

/// Throws Error(machine) with a hint which packages to install. `what`: "the window can't be drawn without a
/// display because ..."
[[noreturn]] void fail_offscreen(const std::string& what);

} // namespace headscope::app
