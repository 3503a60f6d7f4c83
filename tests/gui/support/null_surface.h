#pragma once

#include "app/shell/fonts/fonts.h"
#include "app/shell/fonts/shaped_lines.h"
#include "app/views/surface.h"
#include "tests/gui/support/screen.h"

#include <map>
#include <memory>
#include <utility>

namespace headscope::test {

using namespace headscope::app;

/// A Surface with the program's fonts and without GL: all textures are the same, and empty. Surfaces of one
/// scale share their fonts, so that these are baked once.
class NullSurface final : public Surface {
public:
    explicit NullSurface(float scale = 1) { refresh(scale); }

    /// Called between frames. Bakes requested glyphs. When the scale changes, discards fonts that no surface
    /// uses, because a window has fonts of one scale.
    void refresh(float scale) {
        if (fonts_ == nullptr || scale != scale_) {
            scale_ = scale;
            if (std::exchange(fonts_, nullptr) != nullptr)
                std::erase_if(books(), [](const auto& book) { return book.second.use_count() == 1; });
            std::shared_ptr<FontBook>& book = books()[scale];
            if (book == nullptr)
                book = std::make_shared<FontBook>();
            fonts_ = book;
        }
        fonts_->refresh(scale);
    }
    FontBook& fonts() { return *fonts_; }
    void end_frame() { lines_.end_frame(); }

    ImFont* font(figure::Font role, float size) override { return fonts_->font(role, size); }
    ImFont* font_for(std::string_view text, figure::Font role, float size) override {
        return fonts_->font_for(text, role, size);
    }
    float scale() const override { return scale_; }
    ImTextureID texture(const figure::GridItem&) override { return this; }
    const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) override {
        return lines_.find(text, role, pixels, *fonts_);
    }
    std::string missing_font() const override { return lines_.missing_font(); }
    void need_glyphs(std::string_view text) override { fonts_->need(text); }
    ScreenObserver* observer() override { return &screen_recorder(); }

private:
    using Books = std::map<float, std::shared_ptr<FontBook>>;
    static Books& books() {
        static Books by_scale;
        return by_scale;
    }

    std::shared_ptr<FontBook> fonts_;
    ShapedLines lines_;
    float scale_ = 1;
};

} // namespace headscope::test
