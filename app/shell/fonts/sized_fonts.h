#pragma once

#include "app/shell/fonts/font_bake.h"
#include "core/figure/scene.h"

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace headscope::app {

/// Fonts of any size that are filled character by character, in the spare rows of a baked atlas: a size that
/// draws a few digits costs a few glyphs, and no text is a stretched picture of another size.
class SizedFonts {
public:
    /// Forgets all fonts; the next ones go onto `shelf`. The atlas must outlive this or the next call.
    void start(ImFontAtlas& atlas, const AtlasShelf& shelf);

    using FileOf = std::function<FontFile*(char32_t)>; ///< null: no font has this character
    /// A font with an em of `pixels` in which every character of `text` can be drawn; null where the atlas
    /// has no room for it. `replacement` is drawn for a character that no font has. Valid until start().
    ImFont* find(std::string_view text, figure::Font role, float pixels, const FileOf& file_of,
                 char32_t replacement);

    /// The rows of the atlas's picture that changed since the last call: first, and one past the last.
    std::pair<int, int> take_changed_rows();

private:
    bool add(ImFont& font, char32_t code_point, const FileOf& file_of, char32_t replacement);

    ImFontAtlas* atlas_ = nullptr;
    AtlasShelf shelf_;
    std::map<std::pair<figure::Font, float>, std::unique_ptr<ImFont>> fonts_;
    int first_changed_ = 0, end_changed_ = 0;
};

} // namespace headscope::app
