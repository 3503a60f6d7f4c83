#include "app/shell/fonts/sized_fonts.h"

#include <imgui_internal.h>

#include <algorithm>

namespace headscope::app {
namespace {

constexpr std::size_t most_fonts = 96; // each has an index of up to 200 KB

bool lacks(const ImFont& font, char32_t c) {
    return static_cast<int>(c) >= font.IndexLookup.Size ||
           font.IndexLookup[static_cast<int>(c)] == static_cast<ImWchar>(-1);
}

} // namespace

void SizedFonts::start(ImFontAtlas& atlas, const AtlasShelf& shelf) {
    fonts_.clear();
    atlas_ = &atlas;
    shelf_ = shelf;
    first_changed_ = end_changed_ = 0;
}

bool SizedFonts::add(ImFont& font, char32_t code_point, const FileOf& file_of, char32_t replacement) {
    FontFile* file = file_of(code_point);
    if (file == nullptr)
        file = file_of(std::exchange(code_point, replacement));
    GlyphBitmap glyph;
    if (file != nullptr) {
        file->set_size(font.FontSize);
        glyph = file->render(code_point);
    }
    const auto place = shelf_.place_above(atlas_->TexHeight, glyph.width, glyph.height);
    if (!place)
        return false;
    add_glyph(*atlas_, font, code_point, glyph, *place);
    if (first_changed_ == end_changed_)
        first_changed_ = place->second;
    first_changed_ = std::min(first_changed_, place->second);
    end_changed_ = std::max(end_changed_, place->second + glyph.height);
    return true;
}

ImFont* SizedFonts::find(std::string_view text, figure::Font role, float pixels, const FileOf& file_of,
                         char32_t replacement) {
    std::unique_ptr<ImFont>& font = fonts_[{role, pixels}];
    if (font == nullptr) {
        if (fonts_.size() > most_fonts) {
            fonts_.erase({role, pixels});
            return nullptr;
        }
        font = std::make_unique<ImFont>();
        font->ContainerAtlas = atlas_;
        font->FontSize = pixels;
        font->Ascent = ascent_of(pixels);
        font->Descent = font->Ascent - pixels;
    }
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        unsigned int c = static_cast<unsigned char>(*at);
        at += c < 0x80 ? 1 : std::max(1, ImTextCharFromUtf8(&c, at, end));
        if (c < ' ' || c > 0xFFFF || !lacks(*font, c))
            continue;
        if (!add(*font, c, file_of, replacement))
            return nullptr;
        font->GrowIndex(static_cast<int>(c) + 1);
        font->IndexLookup[static_cast<int>(c)] = static_cast<ImWchar>(font->Glyphs.Size - 1);
        font->IndexAdvanceX[static_cast<int>(c)] = font->Glyphs.back().AdvanceX;
        font->FallbackGlyph = &font->Glyphs.front(); // the vector may have been reallocated
    }
    return font.get();
}

std::pair<int, int> SizedFonts::take_changed_rows() {
    return {std::exchange(first_changed_, 0), std::exchange(end_changed_, 0)};
}

} // namespace headscope::app
