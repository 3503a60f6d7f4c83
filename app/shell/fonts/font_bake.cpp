#include "app/shell/fonts/font_bake.h"

#include "core/figure/scene.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace headscope::app {
namespace {

struct Drawn {
    std::size_t font;
    char32_t code_point;
    GlyphBitmap picture;
    std::size_t pixels;             // start of its rows in the common buffer
    std::pair<int, int> place = {}; // position in the atlas
};

std::vector<Drawn> draw_glyphs(std::span<FontRequest> wishes, std::vector<std::uint8_t>& pixels) {
    std::vector<Drawn> drawn;
    for (std::size_t font = 0; font < wishes.size(); ++font) {
        const FontFile* sized = nullptr;
        for (const auto& [code_point, file] : wishes[font].glyphs) {
            if (file != sized)
                file->set_size(wishes[font].pixels);
            sized = file;
            const GlyphBitmap glyph = file->render(code_point);
            if (glyph.advance <= 0 && glyph.width == 0)
                continue;
            drawn.push_back({font, code_point, glyph, pixels.size()});
            drawn.back().picture.pitch = glyph.width;
            for (int row = 0; row < glyph.height; ++row) {
                const std::uint8_t* from = glyph.pixels + static_cast<std::ptrdiff_t>(row) * glyph.pitch;
                pixels.insert(pixels.end(), from, from + glyph.width);
            }
        }
    }
    return drawn;
}

// Places the highest pictures first.
AtlasShelf pack(ImFontAtlas& atlas, std::vector<Drawn>& drawn, float spare) {
    AtlasShelf shelf;
    for (ImFontAtlasCustomRect& rect : atlas.CustomRects) {
        const auto [x, y] = shelf.place(rect.Width, rect.Height);
        rect.X = static_cast<unsigned short>(x);
        rect.Y = static_cast<unsigned short>(y);
    }
    std::vector<std::size_t> order(drawn.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return drawn[i].picture.height; });
    for (const std::size_t i : order)
        if (const GlyphBitmap& picture = drawn[i].picture; picture.width > 0)
            drawn[i].place = shelf.place(picture.width, picture.height);
    shelf.start_row();
    constexpr int step = 64;
    const auto rows = static_cast<int>(static_cast<float>(shelf.bottom()) * (1 + spare));
    atlas.TexWidth = AtlasShelf::width;
    atlas.TexHeight = (rows + step - 1) / step * step;
    atlas.TexUvScale = {1.0F / static_cast<float>(atlas.TexWidth),
                        1.0F / static_cast<float>(atlas.TexHeight)};
    return shelf;
}

ImFont* start_font(ImFontAtlas& atlas, float pixels) {
    char unused = 0; // ImGui requires font data; ours is in the FontFiles
    ImFontConfig config;
    config.FontData = &unused;
    config.FontDataSize = 1;
    config.FontDataOwnedByAtlas = false;
    config.SizePixels = pixels;
    config.GlyphRanges = atlas.GetGlyphRangesDefault();
    return atlas.AddFont(&config);
}

} // namespace

float ascent_of(float pixels) {
    return std::round(figure::baseline_for(pixels / 2, pixels));
}

void add_glyph(ImFontAtlas& atlas, ImFont& font, char32_t code_point, const GlyphBitmap& glyph,
               std::pair<int, int> place) {
    const auto [x, y] = place;
    for (int row = 0; row < glyph.height; ++row)
        std::memcpy(atlas.TexPixelsAlpha8 + static_cast<std::ptrdiff_t>(y + row) * atlas.TexWidth + x,
                    glyph.pixels + static_cast<std::ptrdiff_t>(row) * glyph.pitch,
                    static_cast<std::size_t>(glyph.width));
    const auto left = static_cast<float>(glyph.left), top = font.Ascent - static_cast<float>(glyph.top);
    const auto width = static_cast<float>(glyph.width), height = static_cast<float>(glyph.height);
    const float u = static_cast<float>(x) * atlas.TexUvScale.x;
    const float v = static_cast<float>(y) * atlas.TexUvScale.y;
    font.AddGlyph(font.ConfigData, static_cast<ImWchar>(code_point), left, top, left + width, top + height, u,
                  v, u + width * atlas.TexUvScale.x, v + height * atlas.TexUvScale.y, glyph.advance);
}

AtlasShelf bake_fonts(ImFontAtlas& atlas, std::span<FontRequest> wishes, float spare) {
    atlas.Clear();
    atlas.Flags = ImFontAtlasFlags_NoMouseCursors;
    for (FontRequest& wish : wishes)
        wish.made = start_font(atlas, wish.pixels);
    ImFontAtlasBuildInit(&atlas);
    // Dear ImGui 1.90 has made the sizes whole numbers.
    for (std::size_t i = 0; i < wishes.size(); ++i)
        atlas.ConfigData[static_cast<int>(i)].SizePixels = wishes[i].pixels;

    std::vector<std::uint8_t> pixels;
    std::vector<Drawn> drawn = draw_glyphs(wishes, pixels);
    const AtlasShelf shelf = pack(atlas, drawn, spare);
    const auto area = static_cast<std::size_t>(atlas.TexWidth) * static_cast<std::size_t>(atlas.TexHeight);
    atlas.TexPixelsAlpha8 = static_cast<unsigned char*>(IM_ALLOC(area));
    std::memset(atlas.TexPixelsAlpha8, 0, area);

    for (int i = 0; i < atlas.ConfigData.Size; ++i) {
        ImFontConfig& config = atlas.ConfigData[i];
        const float baseline = ascent_of(config.SizePixels);
        ImFontAtlasBuildSetupFont(&atlas, config.DstFont, &config, baseline, baseline - config.SizePixels);
    }
    for (Drawn& glyph : drawn) {
        glyph.picture.pixels = pixels.data() + glyph.pixels;
        add_glyph(atlas, *wishes[glyph.font].made, glyph.code_point, glyph.picture, glyph.place);
    }
    ImFontAtlasBuildFinish(&atlas);
    return shelf;
}

} // namespace headscope::app
