#pragma once

#include "core/figure/scene.h"
#include "core/figure/shaped_text.h"

#include <imgui.h>

namespace headscope::app {

class ScreenObserver;

/// The services of the shell that the views need to put a scene on screen.
class Surface {
public:
    Surface() = default;
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    virtual ~Surface() = default;

    /// The baked font nearest to `size` logical pixels. Its FontSize is the em size in physical pixels. Never
    /// null; valid during this frame only.
    virtual ImFont* font(figure::Font role, float size) = 0;
    /// A font of exactly that size with the characters of `text`, for text that is drawn glyph by glyph.
    /// Falls back to the nearest size if no more fonts can be baked in this frame.
    virtual ImFont* font_for(std::string_view text, figure::Font role, float size) = 0;
    /// Physical pixels per logical pixel (monitor scale times the user's zoom).
    virtual float scale() const = 0;
    /// The texture with a grid's pixels, found or created by its key; 0 without GL (tests).
    virtual ImTextureID texture(const figure::GridItem& grid) = 0;
    /// The shaped line, drawn in white with an em of `pixels` physical pixels, for text that the baked fonts
    /// cannot show correctly; null for other text. Valid during this frame only.
    virtual const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) = 0;
    /// The Debian package with a font for a character on screen that no installed font has; empty if there is
    /// no such character.
    virtual std::string missing_font() const = 0;
    /// Announces that `text` will be shown, so that glyphs missing from the baked fonts are available in the
    /// next frame.
    virtual void need_glyphs(std::string_view text) = 0;
    /// The observer of this surface's frames; may be null.
    virtual ScreenObserver* observer() { return nullptr; }
};

/// Paints a scene with its origin at (x, y) physical pixels of the current ImGui window. Rectangles and lines
/// are snapped to physical pixels.
void paint(const figure::Scene& scene, float x, float y, Surface& surface, ImDrawList& list);

/// Measures text as paint() sets it.
figure::TextMeasure surface_measure(Surface& surface);

} // namespace headscope::app
