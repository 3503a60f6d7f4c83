#pragma once

#include "app/shell/fonts/font_bake.h"
#include "core/figure/scene.h"

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace headscope::app {

/// Fonts of any size, filled glyph by glyph in the spare rows of a baked atlas: a size that is used for a few
/// digits costs a few glyphs, and text is never scaled from another size.
class SizedFonts {
public:
    /// Drops all fonts; the next ones are placed on `shelf`. The atlas must outlive this object or the next
    /// call.
    void start(ImFontAtlas& atlas, const AtlasShelf& shelf);

    using FileOf = std::function<FontFile*(char32_t)>; ///< null: no font has this character
    /// Returns a font with an em of `pixels` that can draw every character of `text`; null if the atlas has
    /// no room. Draws `replacement` for characters that are in no font. Valid until start().
    ImFont* find(std::string_view text, figure::Font role, float pixels, const FileOf& file_of,
                 char32_t replacement);

    /// Returns the rows of the atlas texture that changed since the last call: first, and one past the last.
    std::pair<int, int> take_changed_rows();

private:
    bool add(ImFont& font, char32_t code_point, const FileOf& file_of, char32_t replacement);

    ImFontAtlas* atlas_ = nullptr;
    AtlasShelf shelf_;
    std::map<std::pair<figure::Font, float>, std::unique_ptr<ImFont>> fonts_;
    int first_changed_ = 0, end_changed_ = 0;
};

} // namespace headscope::app
