#include "app/shell/fonts/font_bake.h"

#include "core/figure/scene.h"

#include <imgui_internal.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace headscope::app {
namespace {

constexpr int atlas_width = 2048;

struct Drawn {
    std::size_t font;
    char32_t code_point;
    int width, height, left, top;
    float advance;
    std::size_t pixels; // where its rows begin in the common buffer
    int x = 0, y = 0;   // place in the atlas
};

// Fills rows of the atlas from left to right, with the highest pictures first. One pixel stays free round
// each, so that a smoothed edge never takes colour from its neighbour.
class Shelf {
public:
    void place(int width, int height, int& x, int& y) {
        if (x_ + width + 1 > atlas_width) {
            y_ += row_ + 1;
            x_ = 1;
            row_ = 0;
        }
        x = x_;
        y = y_;
        x_ += width + 1;
        row_ = std::max(row_, height);
    }
    int bottom() const { return y_ + row_ + 1; }

private:
    int x_ = 1, y_ = 1, row_ = 0;
};

std::vector<Drawn> draw_glyphs(std::span<FontWish> wishes, std::vector<std::uint8_t>& pixels) {
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
            drawn.push_back({font, code_point, glyph.width, glyph.height, glyph.left, glyph.top,
                             glyph.advance, pixels.size()});
            for (int row = 0; row < glyph.height; ++row) {
                const std::uint8_t* from = glyph.pixels + static_cast<std::ptrdiff_t>(row) * glyph.pitch;
                pixels.insert(pixels.end(), from, from + glyph.width);
            }
        }
    }
    return drawn;
}

// Rows of the same height waste least.
void pack(ImFontAtlas& atlas, std::vector<Drawn>& drawn) {
    Shelf shelf;
    for (ImFontAtlasCustomRect& rect : atlas.CustomRects) {
        int x = 0, y = 0;
        shelf.place(rect.Width, rect.Height, x, y);
        rect.X = static_cast<unsigned short>(x);
        rect.Y = static_cast<unsigned short>(y);
    }
    std::vector<std::size_t> order(drawn.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return drawn[i].height; });
    for (const std::size_t i : order)
        if (drawn[i].width > 0)
            shelf.place(drawn[i].width, drawn[i].height, drawn[i].x, drawn[i].y);
    atlas.TexWidth = atlas_width;
    atlas.TexHeight = static_cast<int>(std::bit_ceil(static_cast<unsigned>(shelf.bottom())));
    atlas.TexUvScale = {1.0F / static_cast<float>(atlas.TexWidth),
                        1.0F / static_cast<float>(atlas.TexHeight)};
}

ImFont* start_font(ImFontAtlas& atlas, float pixels) {
    char unused = 0; // ImGui wants font data to hold; ours stays in the FontFiles
    ImFontConfig config;
    config.FontData = &unused;
    config.FontDataSize = 1;
    config.FontDataOwnedByAtlas = false;
    config.SizePixels = pixels;
    config.GlyphRanges = atlas.GetGlyphRangesDefault();
    return atlas.AddFont(&config);
}

} // namespace

void bake_fonts(ImFontAtlas& atlas, std::span<FontWish> wishes) {
    atlas.Clear();
    atlas.Flags = ImFontAtlasFlags_NoMouseCursors;
    for (FontWish& wish : wishes)
        wish.made = start_font(atlas, wish.pixels);
    ImFontAtlasBuildInit(&atlas);

    std::vector<std::uint8_t> pixels;
    std::vector<Drawn> drawn = draw_glyphs(wishes, pixels);
    pack(atlas, drawn);
    const auto area = static_cast<std::size_t>(atlas.TexWidth) * static_cast<std::size_t>(atlas.TexHeight);
    atlas.TexPixelsAlpha8 = static_cast<unsigned char*>(IM_ALLOC(area));
    std::memset(atlas.TexPixelsAlpha8, 0, area);

    for (int i = 0; i < atlas.ConfigData.Size; ++i) {
        ImFontConfig& config = atlas.ConfigData[i];
        const float baseline = std::round(figure::baseline_for(config.SizePixels / 2, config.SizePixels));
        ImFontAtlasBuildSetupFont(&atlas, config.DstFont, &config, baseline, baseline - config.SizePixels);
    }
    for (const Drawn& glyph : drawn) {
        for (int row = 0; row < glyph.height; ++row)
            std::memcpy(atlas.TexPixelsAlpha8 + static_cast<std::ptrdiff_t>(glyph.y + row) * atlas.TexWidth +
                            glyph.x,
                        pixels.data() + glyph.pixels + static_cast<std::ptrdiff_t>(row) * glyph.width,
                        static_cast<std::size_t>(glyph.width));
        ImFont& font = *wishes[glyph.font].made;
        const auto left = static_cast<float>(glyph.left), top = font.Ascent - static_cast<float>(glyph.top);
        const auto width = static_cast<float>(glyph.width), height = static_cast<float>(glyph.height);
        const float u = static_cast<float>(glyph.x) * atlas.TexUvScale.x;
        const float v = static_cast<float>(glyph.y) * atlas.TexUvScale.y;
        font.AddGlyph(font.ConfigData, static_cast<ImWchar>(glyph.code_point), left, top, left + width,
                      top + height, u, v, u + width * atlas.TexUvScale.x, v + height * atlas.TexUvScale.y,
                      glyph.advance);
    }
    ImFontAtlasBuildFinish(&atlas);
}

} // namespace headscope::app
