#pragma once

#include "app/shell/fonts/fonts.h"
#include "app/shell/fonts/shaped_lines.h"
#include "app/shell/gl/textures.h"
#include "app/shell/ui.h"

namespace headscope::app {

/// The Surface of a window or an offscreen picture: fonts and grid textures of one GL context, which must be
/// current in every call. The ImGui context is current too and uses the FontBook's atlas and the OpenGL 3
/// back end.
class GlSurface final : public Surface {
public:
    explicit GlSurface(FontBook& fonts) : fonts_(fonts) {}

    /// One frame from the back end's NewFrame to the drawn pixels in the bound framebuffer of `width` x
    /// `height` physical pixels. `fill_input` runs just before ImGui::NewFrame. `monitor_scale` times the
    /// Ui's zoom is the scale.
    void draw(Ui& ui, int width, int height, float monitor_scale, double now,
              const std::function<void()>& fill_input);

    /// Whether the picture lacks characters that the next frame will have.
    bool incomplete() const { return fonts_.stale(); }

    ImFont* font(figure::Font role, float size) override { return fonts_.font(role, size); }
    float scale() const override { return scale_; }
    ImTextureID texture(const figure::GridItem& grid) override { return textures_.find(grid); }
    const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) override {
        return shaped_.find(text, role, pixels, fonts_);
    }
    std::string missing_font() const override { return shaped_.missing_font(); }
    void need_glyphs(std::string_view text) override { fonts_.need(text); }

private:
    FontBook& fonts_;
    TextureCache textures_;
    ShapedLines shaped_;
    float scale_ = 1;
};

} // namespace headscope::app
