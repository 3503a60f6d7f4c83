#pragma once

#include "app/shell/fonts/font_files.h"

#include <imgui.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace headscope::app {

/// A font to bake: its em size in pixels and the source file of each character.
struct FontRequest {
    struct Glyph {
        char32_t code_point;
        FontFile* file;
    };
    float pixels = 0;
    std::vector<Glyph> glyphs;
    ImFont* made = nullptr; ///< output; owned by the atlas
};

/// Fills rows of an atlas from left to right. One pixel around each picture stays free, so that smoothed
/// edges do not take color from a neighbor. Rows of equal height waste the least space.
class AtlasShelf {
public:
    static constexpr int width = 2048;

    /// Returns left and top for a picture of that size.
    std::pair<int, int> place(int picture_width, int picture_height) {
        if (x_ + picture_width + 1 > width)
            start_row();
        const std::pair<int, int> at{x_, y_};
        x_ += picture_width + 1;
        row_ = std::max(row_, picture_height);
        return at;
    }
    /// The same, if the picture ends above `height`.
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

/// Replaces the atlas's fonts. ImGui's own builders round sizes to whole pixels from ascender to descender,
/// and open and copy every file again for every size; this one bakes exact em sizes. ImFont::FontSize becomes
/// the em size; ImFont::Ascent the whole number of pixels from the top of a line to the baseline, chosen so
/// that capitals are vertically centered. Needs no ImGui context.
///
/// `spare`: free rows below the used ones, as a fraction of them. Returns the shelf at the first free row.
AtlasShelf bake_fonts(ImFontAtlas& atlas, std::span<FontRequest> wishes, float spare);

/// Returns ImFont::Ascent of a font with an em of `pixels`.
float ascent_of(float pixels);

/// Copies a picture into the atlas with its top left corner at `place` and adds it to the font.
void add_glyph(ImFontAtlas& atlas, ImFont& font, char32_t code_point, const GlyphBitmap& glyph,
               std::pair<int, int> place);

} // namespace headscope::app
