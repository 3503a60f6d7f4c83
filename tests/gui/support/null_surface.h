#pragma once

#include "app/shell/fonts/fonts.h"
#include "app/shell/fonts/shaped_lines.h"
#include "app/views/surface.h"

#include <map>

namespace headscope::test {

using namespace headscope::app;

/// A Surface with the program's fonts and no GL: every texture is the same, and shows nothing. Surfaces of
/// one scale share their fonts, so that these are baked once.
class NullSurface final : public Surface {
public:
    explicit NullSurface(float scale = 1) { refresh(scale); }

    /// Between frames: bakes what was asked for.
    void refresh(float scale) {
        scale_ = scale;
        fonts_ = &fonts_at(scale);
        fonts_->refresh(scale);
    }
    FontBook& fonts() { return *fonts_; }

    ImFont* font(figure::Font role, float size) override { return fonts_->font(role, size); }
    float scale() const override { return scale_; }
    ImTextureID texture(const figure::GridItem&) override { return this; }
    const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) override {
        return lines_.find(text, role, pixels, *fonts_);
    }
    std::string missing_font() const override { return lines_.missing_font(); }
    void need_glyphs(std::string_view text) override { fonts_->need(text); }

private:
    static FontBook& fonts_at(float scale) {
        static std::map<float, FontBook> books;
        return books[scale];
    }

    FontBook* fonts_ = nullptr;
    ShapedLines lines_;
    float scale_ = 1;
};

} // namespace headscope::test
