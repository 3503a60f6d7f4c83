#pragma once

#include "app/shell/fonts/font_files.h"

#include <imgui.h>

#include <span>
#include <vector>

namespace headscope::app {

/// A font to bake: its em size in pixels and from which file each character comes.
struct FontWish {
    struct Glyph {
        char32_t code_point;
        FontFile* file;
    };
    float pixels = 0;
    std::vector<Glyph> glyphs;
    ImFont* made = nullptr; ///< filled in; owned by the atlas
};

/// Replaces the atlas's fonts by these. ImGui's own builders cut sizes to whole pixels from ascender to
/// descender, open every file anew for every size and keep a copy of it each time; this one bakes at exact em
/// sizes. ImFont::FontSize becomes the em size; ImFont::Ascent the whole number of pixels from the top of a
/// line to the baseline, chosen so that capitals stand in the middle of the line. Needs no ImGui context.
void bake_fonts(ImFontAtlas& atlas, std::span<FontWish> wishes);

} // namespace headscope::app
