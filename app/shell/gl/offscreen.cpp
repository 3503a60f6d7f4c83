#include "app/shell/gl/offscreen.h"

#include "app/shell/gl/egl_context.h"
#include "app/shell/gl/gl_surface.h"
#include "app/shell/gl/imgui_lock.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/figure/png.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {
namespace {

constexpr int largest_side = 16384;

class Framebuffer {
public:
    Framebuffer(int width, int height) : width_(width), height_(height) {
        GLint largest = 0;
        glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
        if (width > largest || height > largest)
            fail_offscreen(tr("offscreen.window_cant_drawn_without",
                              "the window can't be drawn without a display because the driver draws at most "
                              "{} pixels a side",
                              largest));
        glGenFramebuffers(1, &frame_);
        glGenRenderbuffers(1, &color_);
        glBindRenderbuffer(GL_RENDERBUFFER, color_);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
        glBindFramebuffer(GL_FRAMEBUFFER, frame_);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
        if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            fail_offscreen(tr("offscreen.window_cant_drawn_without_2",
                              "the window can't be drawn without a display because the driver can't make a "
                              "framebuffer of this size"));
    }
    ~Framebuffer() {
        glDeleteRenderbuffers(1, &color_);
        glDeleteFramebuffers(1, &frame_);
    }
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

    Image read() const {
        Image image{width_, height_,
                    std::vector<std::uint8_t>(static_cast<std::size_t>(width_) *
                                              static_cast<std::size_t>(height_) * 4)};
        glPixelStorei(GL_PACK_ALIGNMENT, 1);
        glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
        // GL's first row is the lowest one; a window is opaque regardless of the alpha that blending left.
        const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(width_) * 4;
        for (auto low = image.rgba.begin(), high = image.rgba.end() - row; low < high;
             low += row, high -= row)
            std::swap_ranges(low, low + row, high);
        for (std::size_t i = 3; i < image.rgba.size(); i += 4)
            image.rgba[i] = 255;
        return image;
    }

private:
    int width_, height_;
    GLuint frame_ = 0, color_ = 0;
};

// An ImGui context with the OpenGL 3 back end and without a window.
class ImGuiSession {
public:
    explicit ImGuiSession(FontBook& fonts)
        : before_(ImGui::GetCurrentContext()), own_(ImGui::CreateContext(&fonts.atlas())) {
        ImGui::SetCurrentContext(own_);
        ImGui::GetIO().IniFilename = nullptr;
        ImGui_ImplOpenGL3_Init("#version 330 core");
        ImGui::SetCurrentContext(before_);
    }
    ~ImGuiSession() {
        ImGui::SetCurrentContext(own_);
        ImGui_ImplOpenGL3_Shutdown();
        ImGui::DestroyContext(own_);
        ImGui::SetCurrentContext(before_);
    }
    ImGuiSession(const ImGuiSession&) = delete;
    ImGuiSession& operator=(const ImGuiSession&) = delete;

    ImGuiContext* context() const { return own_; }

private:
    ImGuiContext* before_;
    ImGuiContext* own_;
};

int pixels(int logical, float scale) {
    const float side = std::round(static_cast<float>(logical) * scale);
    if (!(side >= 1 && side <= largest_side))
        fail_input(tr("offscreen.picture_pixels_side_scale",
                      "a picture of {} pixels a side at scale {} can't be drawn: it must have 1 to 16,384 "
                      "pixels a side",
                      logical, fmt::format("{}", scale)));
    return static_cast<int>(side);
}

} // namespace

/// Members in the order of creation; destroyed in reverse.
struct OffscreenWindow::Parts {
    Parts(Ui& shown, int pixel_width, int pixel_height, float scale_of_pixels)
        : ui(shown), width(pixel_width), height(pixel_height), scale(scale_of_pixels), target(width, height),
          glyphs(scale * ui.zoom()), session(glyphs.fonts), surface(glyphs.fonts) {}

    struct Glyphs {
        explicit Glyphs(float scale_of_glyphs) { fonts.refresh(scale_of_glyphs); }
        FontBook fonts;
    };
    Ui& ui;
    int width, height;
    float scale;
    double now = 0;
    EglContext context;
    Framebuffer target;
    Glyphs glyphs;
    ImGuiSession session;
    GlSurface surface;
};

OffscreenWindow::OffscreenWindow(Ui& ui, int width, int height, float scale) {
    const ImGuiLock turn;
    parts_ = std::make_unique<Parts>(ui, pixels(width, scale), pixels(height, scale), scale);
}

OffscreenWindow::~OffscreenWindow() {
    const ImGuiLock turn;
    parts_.reset();
}

void OffscreenWindow::draw(float seconds, const std::optional<figure::Point>& mouse) {
    Parts& own = *parts_;
    const ImGuiLock turn(own.session.context());
    own.surface.build(own.ui, own.width, own.height, own.scale, own.now, [&] {
        ImGuiIO& io = ImGui::GetIO();
        io.DeltaTime = seconds;
        io.MousePos = mouse ? ImVec2(mouse->x * own.scale, mouse->y * own.scale) : ImVec2(-FLT_MAX, -FLT_MAX);
    });
    own.surface.paint(own.ui.background());
    own.now += static_cast<double>(seconds);
}

bool OffscreenWindow::incomplete() const {
    return parts_->surface.incomplete();
}

Image OffscreenWindow::picture() const {
    return parts_->target.read();
}

Image render_offscreen(Ui& ui, int width, int height, float scale, const OffscreenOptions& options) {
    OffscreenWindow window(ui, width, height, scale);
    constexpr int extra = 3; // a glyph requested in the last frame is available in the next
    for (int frame = 0; frame < options.frames || (window.incomplete() && frame < options.frames + extra);
         ++frame)
        window.draw(1.0F / 60, options.mouse);
    return window.picture();
}

std::string png_bytes(const Image& image) {
    return figure::rgb_png(image.rgba, image.width, image.height);
}

} // namespace headscope::app
