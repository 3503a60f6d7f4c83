#pragma once

#include "app/shell/fonts/font_files.h"

#include <imgui.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
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

/// Fills rows of an atlas from left to right. One pixel stays free round each picture, so that a smoothed
/// edge never takes colour from its neighbour. Rows of the same height waste least.
class AtlasShelf {
public:
    static constexpr int width = 2048;

    /// Left and top of a picture of that size.
    std::pair<int, int> place(int picture_width, int picture_height) {
        if (x_ + picture_width + 1 > width)
            start_row();
        const std::pair<int, int> at{x_, y_};
        x_ += picture_width + 1;
        row_ = std::max(row_, picture_height);
        return at;
    }
    /// The same, if it ends above `height`.
    std::optional<std::pair<int, int>> place_above(int height, int picture_width, int picture_height) {
        const bool wraps = x_ + picture_width + 1 > width;
        if ((wraps ? bottom() : y_) + picture_height + 1 > height)
            return std::nullopt;
        return place(picture_width, picture_height);
    }
    void start_row() {
        y_ = bottom();
        x_ = 1;
        row_ = 0;
    }
    int bottom() const { return y_ + row_ + 1; }

private:
    int x_ = 1, y_ = 1, row_ = 0;
};

/// Replaces the atlas's fonts by these. ImGui's own builders cut sizes to whole pixels from ascender to
/// descender, open every file anew for every size and keep a copy of it each time; this one bakes at exact em
/// sizes. ImFont::FontSize becomes the em size; ImFont::Ascent the whole number of pixels from the top of a
/// line to the baseline, chosen so that capitals stand in the middle of the line. Needs no ImGui context.
///
/// `spare`: the fraction of the used rows that stay free below them. Returns the shelf at the first of these.
AtlasShelf bake_fonts(ImFontAtlas& atlas, std::span<FontWish> wishes, float spare);

/// ImFont::Ascent of a font with an em of `pixels`.
float ascent_of(float pixels);

/// Copies a picture into the atlas with its top left corner at `place` and adds it to the font.
void add_glyph(ImFontAtlas& atlas, ImFont& font, char32_t code_point, const GlyphBitmap& glyph,
               std::pair<int, int> place);

} // namespace headscope::app
