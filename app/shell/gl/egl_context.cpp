#include "app/shell/gl/egl_context.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <dlfcn.h>
#include <epoxy/egl.h>

#include <array>
#include <cstring>

namespace headscope::app {

void fail_offscreen(const std::string& what) {
    throw Error(ErrorKind::machine,
                // Translators: {} is a sentence, "the window can't be drawn without a display because ..."
                tr("egl_context.install_libegl1_libegl_mesa0",
                   "{}: install libegl1, libegl-mesa0 and libgl1-mesa-dri, or draw one stage with `headscope "
                   "render --stage`",
                   what));
}

namespace {

// The library stays open.
bool opens(const char* library) {
    return dlopen(library, RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

// One per process, never closed: EGL returns the same display every time, and loading the driver is slow.
EGLDisplay surfaceless_display() {
    static const EGLDisplay display = [] {
        // epoxy opens these libraries on the first call and ends the program if they are missing.
        const bool has_gl = opens("libOpenGL.so.0") || opens("libGL.so.1");
        if (!has_gl || !opens("libEGL.so.1"))
            fail_offscreen(tr("egl_context.window_cant_drawn_without",
                              "the window can't be drawn without a display because there is no OpenGL here"));
        const char* client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
        if (client == nullptr || std::strstr(client, "EGL_MESA_platform_surfaceless") == nullptr)
            fail_offscreen(tr(
                "egl_context.window_cant_drawn_without_2",
                "the window can't be drawn without a display because EGL has no surfaceless platform here"));
        const auto get_display =
            reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
        const EGLDisplay found =
            get_display == nullptr ? EGL_NO_DISPLAY
                                   : get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
        if (found == EGL_NO_DISPLAY || !eglInitialize(found, nullptr, nullptr))
            fail_offscreen(
                tr("egl_context.window_cant_drawn_without_3",
                   "the window can't be drawn without a display because EGL could not be started"));
        return found;
    }();
    return display;
}

} // namespace

EglContext::EglContext() : display_(surfaceless_display()) {
    eglBindAPI(EGL_OPENGL_API);
    constexpr std::array<EGLint, 3> config_wish = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    constexpr std::array<EGLint, 7> context_wish = {EGL_CONTEXT_MAJOR_VERSION,
                                                    3,
                                                    EGL_CONTEXT_MINOR_VERSION,
                                                    3,
                                                    EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                                    EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                                    EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    // Without a surface the configuration is unimportant; some drivers list none and need none.
    if (!eglChooseConfig(display_, config_wish.data(), &config, 1, &count) || count == 0)
        config = nullptr;
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, context_wish.data());
    if (context_ == EGL_NO_CONTEXT || !eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) {
        close();
        fail_offscreen(
            tr("egl_context.window_cant_drawn_without_4",
               "the window can't be drawn without a display because this driver offers no OpenGL 3.3"));
    }
}

EglContext::~EglContext() {
    close();
}

void EglContext::close() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT)
        eglDestroyContext(display_, context_);
}

} // namespace headscope::app
