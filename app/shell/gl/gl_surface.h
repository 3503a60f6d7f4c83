#pragma once

#include "app/shell/fonts/fonts.h"
#include "app/shell/fonts/shaped_lines.h"
#include "app/shell/gl/painted_lists.h"
#include "app/shell/gl/textures.h"
#include "app/shell/ui.h"

namespace headscope::app {

/// The Surface of a window or an offscreen picture: fonts and grid textures of one GL context, which must be
/// current in every call. The ImGui context must also be current and use the FontBook's atlas and the OpenGL
/// 3 back end.
class GlSurface final : public Surface {
public:
    explicit GlSurface(FontBook& fonts) : fonts_(fonts) {}

    /// Builds one frame of `width` x `height` physical pixels, from the back end's NewFrame to ImGui's draw
    /// lists. Calls `fill_input` just before ImGui::NewFrame. The scale is `monitor_scale` times the Ui's
    /// zoom.
    void build(Ui& ui, int width, int height, float monitor_scale, double now,
               const std::function<void()>& fill_input);
    /// Draws the last built frame to the bound framebuffer, on the color `background`.
    void paint(ImU32 background);
    /// Returns true if paint() would draw other pixels than the last time.
    bool changed(ImU32 background) const { return !painted_.shows(*ImGui::GetDrawData(), background); }
    /// Call when the pixels of the last paint() are lost.
    void forget_painted() { painted_.forget(); }

    /// Returns true if the picture lacks characters that the next frame will have.
    bool incomplete() const { return fonts_.stale(); }

    ImFont* font(figure::Font role, float size) override { return fonts_.font(role, size); }
    ImFont* font_for(std::string_view text, figure::Font role, float size) override {
        return fonts_.font_for(text, role, size);
    }
    float scale() const override { return scale_; }
    ImTextureID texture(const figure::GridItem& grid) override { return textures_.find(grid); }
    const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) override {
        return shaped_.find(text, role, pixels, fonts_);
    }
    std::string missing_font() const override { return shaped_.missing_font(); }
    void need_glyphs(std::string_view text) override { fonts_.need(text); }

private:
    void upload_new_glyphs();

    FontBook& fonts_;
    TextureCache textures_;
    PaintedLists painted_;
    ShapedLines shaped_;
    float scale_ = 1;
};

} // namespace headscope::app
