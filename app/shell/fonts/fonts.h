#pragma once

#include "core/figure/scene.h"

#include <imgui.h>

#include <memory>
#include <string_view>
#include <utility>

namespace headscope::app {

/// The fonts of the program in one ImGui atlas: Inter and JetBrains Mono in the weights of the design. The
/// common sizes are baked at once, other sizes when text is drawn in them. Fallbacks: DejaVu Sans, then any
/// system font that has a requested character. Only requested characters are baked.
///
/// ImFont::FontSize is the em size in physical pixels, as in style sheets, and ImFont::Ascent the whole
/// number of pixels from the top of a line to its baseline, chosen so that capitals are vertically centered.
///
/// Needs no ImGui context; used by one thread at a time.
class FontBook {
public:
    /// Finds and reads the font files through fontconfig. Throws Error(machine) if the system has no font.
    FontBook();
    ~FontBook();
    FontBook(const FontBook&) = delete;
    FontBook& operator=(const FontBook&) = delete;

    /// Bakes the atlas if `scale` (physical per logical pixel, above 0) changed or new characters were
    /// requested since the last call. Call between frames. Invalidates every ImFont returned before. Returns
    /// true if it baked.
    bool refresh(float scale);

    /// Requests the characters of a UTF-8 text. Those above U+FFFF or in no font are shown as U+FFFD.
    void need(std::string_view text);
    /// Returns true if refresh() has characters to add.
    bool stale() const;
    /// Returns true if a font of this system has the character (instead of U+FFFD); true only after
    /// refresh().
    bool has(char32_t code_point) const;

    /// Returns true if no font of this system has some character of a UTF-8 text. Characters above U+FFFF are
    /// not checked.
    bool lacks_some_of(std::string_view text) const;

    /// Returns the baked font of a role closest to `size` logical pixels. Valid until the next refresh() that
    /// bakes.
    ImFont* font(figure::Font role, float size) const;
    /// Returns a font of exactly `size` logical pixels with the characters of `text`; renders missing glyphs
    /// to the atlas. If the atlas is full, returns the closest font instead, and stale() becomes true, so
    /// that the next refresh() makes room. Valid until the next refresh() that bakes.
    ImFont* font_for(std::string_view text, figure::Font role, float size);
    /// Returns the rows of the atlas texture that font_for() changed since the last call or bake: first, and
    /// one past the last. The texture on the graphics device must be updated.
    std::pair<int, int> take_changed_rows();
    ImFontAtlas& atlas() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headscope::app
