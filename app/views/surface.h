#pragma once

#include "core/figure/scene.h"
#include "core/figure/shaped_text.h"

#include <imgui.h>

namespace headscope::app {

class ScreenObserver;

/// What the views need of the shell to put a scene on screen.
class Surface {
public:
    Surface() = default;
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    virtual ~Surface() = default;

    /// The baked font nearest to `size` logical pixels. Its FontSize is the em size in physical pixels. Never
    /// null, and dead after this frame.
    virtual ImFont* font(figure::Font role, float size) = 0;
    /// A font of exactly that size that has the characters of `text`; for what is drawn glyph by glyph. The
    /// nearest one only where there is no room for another this frame.
    virtual ImFont* font_for(std::string_view text, figure::Font role, float size) = 0;
    /// Physical pixels per logical pixel (monitor scale times the user's zoom).
    virtual float scale() const = 0;
    /// The texture that holds a grid's pixels, made or found by its key; 0 where there is no GL (tests).
    virtual ImTextureID texture(const figure::GridItem& grid) = 0;
    /// A line that the baked fonts cannot show as it stands, drawn in white with an em of `pixels` physical
    /// pixels; null for other text. Dead after this frame.
    virtual const figure::ShapedText* shaped(std::string_view text, figure::Font role, float pixels) = 0;
    /// The Debian package with a font for some character on screen that no font of the system has; empty:
    /// they are all in some font.
    virtual std::string missing_font() const = 0;
    /// Says that `text` is about to be shown, so that glyphs which no baked font has are there from the next
    /// frame on.
    virtual void need_glyphs(std::string_view text) = 0;
    /// Who is told what a frame puts on screen; null: nobody asks.
    virtual ScreenObserver* observer() { return nullptr; }
};

/// Paints a scene with its origin at (x, y) physical pixels of the current ImGui window. Rectangles and lines
/// are snapped to physical pixels.
void paint(const figure::Scene& scene, float x, float y, Surface& surface, ImDrawList& list);

/// Text widths as paint() sets them.
figure::TextMeasure surface_measure(Surface& surface);

} // namespace headscope::app
