#include "app/shell/fonts/font_files.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/figure/packaged_fonts.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

namespace headscope::app {
namespace {

// One library for the lifetime of the process; FreeType faces are used by one thread at a time.
FT_Library freetype() {
    static const FT_Library library = [] {
        FT_Library made = nullptr;
        if (FT_Init_FreeType(&made) != 0)
            throw Error(ErrorKind::machine, tr("font_files.font_library_freetype_could",
                                               "the font library FreeType could not be started"));
        return made;
    }();
    return library;
}

using Pattern = std::unique_ptr<FcPattern, decltype(&FcPatternDestroy)>;
using FontSet = std::unique_ptr<FcFontSet, decltype(&FcFontSetSortDestroy)>;
using CharSet = std::unique_ptr<FcCharSet, decltype(&FcCharSetDestroy)>;

const FcChar8* fc_text(const char* text) {
    return reinterpret_cast<const FcChar8*>(text);
}

FontChoice choice_of(FcPattern& pattern) {
    FcChar8* path = nullptr;
    FontChoice choice;
    if (FcPatternGetString(&pattern, FC_FILE, 0, &path) == FcResultMatch)
        choice.path = reinterpret_cast<const char*>(path);
    FcPatternGetInteger(&pattern, FC_INDEX, 0, &choice.index);
    return choice;
}

} // namespace

FontFile::FontFile(const std::string& path, int index) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    if (!unknown) {
        bytes_.resize(size);
        std::ifstream file(path, std::ios::binary);
        file.read(bytes_.data(), static_cast<std::streamsize>(size));
        bytes_.resize(static_cast<std::size_t>(file.gcount()));
    }
    FT_Face face = nullptr;
    if (bytes_.empty() || FT_New_Memory_Face(freetype(), reinterpret_cast<const FT_Byte*>(bytes_.data()),
                                             static_cast<FT_Long>(bytes_.size()), index, &face) != 0)
        throw Error(ErrorKind::machine,
                    tr("font_files.font_file_cant_read",
                       "the font file {} can't be read: install the package of the font again", path));
    face_ = face;
}

FontFile::~FontFile() {
    FT_Done_Face(static_cast<FT_Face>(face_));
}

bool FontFile::has(char32_t code_point) const {
    return FT_Get_Char_Index(static_cast<FT_Face>(face_), code_point) != 0;
}

void FontFile::set_size(float pixels) {
    FT_Set_Char_Size(static_cast<FT_Face>(face_), 0, std::lround(pixels * 64), 72, 72);
}

GlyphBitmap FontFile::render(char32_t code_point) {
    const auto face = static_cast<FT_Face>(face_);
    const FT_UInt glyph = FT_Get_Char_Index(face, code_point);
    if (glyph == 0 || FT_Load_Glyph(face, glyph, FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP) != 0)
        return {};
    const FT_GlyphSlot slot = face->glyph;
    GlyphBitmap drawn;
    drawn.advance = static_cast<float>(slot->linearHoriAdvance) / 65536.0F;
    if (slot->format == FT_GLYPH_FORMAT_OUTLINE && FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) == 0) {
        drawn.width = static_cast<int>(slot->bitmap.width);
        drawn.height = static_cast<int>(slot->bitmap.rows);
        drawn.left = slot->bitmap_left;
        drawn.top = slot->bitmap_top;
        drawn.pitch = slot->bitmap.pitch;
        drawn.pixels = slot->bitmap.buffer;
    }
    return drawn;
}

FontChoice match_font(const std::string& family, int weight, bool monospace) {
    figure::use_packaged_fonts();
    const Pattern pattern(FcPatternCreate(), &FcPatternDestroy);
    FcPatternAddString(pattern.get(), FC_FAMILY, fc_text(family.c_str()));
    FcPatternAddString(pattern.get(), FC_FAMILY, fc_text(monospace ? "monospace" : "sans-serif"));
    FcPatternAddInteger(pattern.get(), FC_WEIGHT, FcWeightFromOpenType(weight));
    FcPatternAddInteger(pattern.get(), FC_SLANT, FC_SLANT_ROMAN);
    FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
    FcConfigSubstitute(nullptr, pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    FcResult result = FcResultNoMatch;
    const Pattern found(FcFontMatch(nullptr, pattern.get(), &result), &FcPatternDestroy);
    const FontChoice choice = found ? choice_of(*found) : FontChoice{};
    if (choice.path.empty())
        throw Error(ErrorKind::machine,
                    tr("font_files.system_no_font_install",
                       "this system has no font: install one, for example the package fonts-dejavu-core"));
    return choice;
}

std::vector<Fallback> find_fallbacks(const std::vector<char32_t>& code_points) {
    figure::use_packaged_fonts();
    const CharSet wanted(FcCharSetCreate(), &FcCharSetDestroy);
    for (const char32_t code_point : code_points)
        FcCharSetAddChar(wanted.get(), code_point);
    const Pattern pattern(FcPatternCreate(), &FcPatternDestroy);
    FcPatternAddString(pattern.get(), FC_FAMILY, fc_text("sans-serif"));
    FcPatternAddCharSet(pattern.get(), FC_CHARSET, wanted.get());
    FcPatternAddBool(pattern.get(), FC_SCALABLE, FcTrue);
    FcConfigSubstitute(nullptr, pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    FcResult result = FcResultNoMatch;
    const FontSet sorted(FcFontSort(nullptr, pattern.get(), FcFalse, nullptr, &result),
                         &FcFontSetSortDestroy);

    std::vector<Fallback> fallbacks;
    std::vector<char32_t> missing = code_points;
    for (int i = 0; sorted && i < sorted->nfont && !missing.empty(); ++i) {
        FcPattern& font = *sorted->fonts[i];
        FcBool outline = FcFalse;
        FcBool color = FcFalse;
        FcCharSet* has = nullptr;
        FcPatternGetBool(&font, FC_OUTLINE, 0, &outline);
        FcPatternGetBool(&font, FC_COLOR, 0, &color);
        if (!outline || color || FcPatternGetCharSet(&font, FC_CHARSET, 0, &has) != FcResultMatch)
            continue;
        const auto left = std::stable_partition(missing.begin(), missing.end(),
                                                [&](char32_t c) { return !FcCharSetHasChar(has, c); });
        if (left == missing.end())
            continue;
        fallbacks.push_back({choice_of(font), {left, missing.end()}});
        missing.erase(left, missing.end());
    }
    return fallbacks;
}

} // namespace headscope::app
