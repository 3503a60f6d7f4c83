#pragma once

#include "core/figure/scene.h"

#include <imgui.h>

#include <memory>
#include <string_view>
#include <utility>

namespace headscope::app {

/// The fonts of the program in one ImGui atlas: Inter and JetBrains Mono in the weights of the design, the
/// usual sizes baked at once, every other size as text is drawn in it; behind them DejaVu Sans, behind it
/// whatever font of the system has a character that was asked for. Only characters that were needed so far
/// are baked.
///
/// ImFont::FontSize is the em size in physical pixels, as designers and style sheets count it, and
/// ImFont::Ascent the whole number of pixels from the top of a line to its baseline, chosen so that capitals
/// stand in the middle.
///
/// Needs no ImGui context; used by one thread at a time.
class FontBook {
public:
    /// Finds and reads the font files through fontconfig. Throws Error(machine) when the system has no font
    /// at all.
    FontBook();
    ~FontBook();
    FontBook(const FontBook&) = delete;
    FontBook& operator=(const FontBook&) = delete;

    /// Bakes the atlas when `scale` (physical per logical pixel, above 0) changed or characters were asked
    /// for since the last time; called between frames. Every ImFont given out before is then dead. True when
    /// it baked.
    bool refresh(float scale);

    /// Notes the characters of a UTF-8 text. What lies beyond U+FFFF or is in no font shows as U+FFFD.
    void need(std::string_view text);
    /// Whether refresh() has characters to add.
    bool stale() const;
    /// Whether a font of this system shows this character (and not U+FFFD); true only after refresh().
    bool has(char32_t code_point) const;

    /// Whether no font of this system has some character of a UTF-8 text; of one beyond U+FFFF nothing is
    /// known.
    bool lacks_some_of(std::string_view text) const;

    /// The baked font of a role nearest to `size` logical pixels. Valid until the next refresh() that bakes.
    ImFont* font(figure::Font role, float size) const;
    /// A font of exactly `size` logical pixels that has the characters of `text`: glyphs that are missing are
    /// drawn into the atlas now. Only where the atlas is full the nearest one; stale() then says that the
    /// next refresh() makes room. Valid until the next refresh() that bakes.
    ImFont* font_for(std::string_view text, figure::Font role, float size);
    /// The rows of the atlas's picture that font_for() changed since the last call or bake: first, and one
    /// past the last. The picture on the graphics device lacks them.
    std::pair<int, int> take_changed_rows();
    ImFontAtlas& atlas() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace headscope::app
