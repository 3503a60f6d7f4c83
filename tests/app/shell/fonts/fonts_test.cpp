#include "app/shell/fonts/fonts.h"

#include "app/shell/fonts/font_files.h"
#include "core/text/one_line.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace headscope::app {
namespace {

/// Returns true if fontconfig's own program lists an outline font with this character. Color fonts contain
/// pictures, which the program does not draw.
bool listed_by_fontconfig(char32_t letter) {
    std::array<char, 128> command{};
    std::snprintf(command.data(), command.size(),
                  "fc-list ':charset=%x:outline=True:scalable=True:color=False' file",
                  static_cast<unsigned>(letter));
    std::FILE* const list = ::popen(command.data(), "r");
    REQUIRE(list != nullptr);
    const bool any = std::fgetc(list) != EOF;
    while (std::fgetc(list) != EOF) {
    }
    INFO(command.data());
    REQUIRE(::pclose(list) == 0);
    return any;
}

/// The pixels of a character in the atlas, row by row.
std::vector<unsigned char> pixels_of(const FontBook& book, const ImFontGlyph& glyph) {
    unsigned char* atlas = nullptr;
    int width = 0, height = 0;
    book.atlas().GetTexDataAsAlpha8(&atlas, &width, &height);
    REQUIRE(atlas != nullptr);
    std::vector<unsigned char> pixels;
    for (auto y = std::lround(glyph.V0 * static_cast<float>(height));
         y < std::lround(glyph.V1 * static_cast<float>(height)); ++y)
        for (auto x = std::lround(glyph.U0 * static_cast<float>(width));
             x < std::lround(glyph.U1 * static_cast<float>(width)); ++x)
            pixels.push_back(atlas[y * width + x]);
    return pixels;
}

} // namespace

TEST_CASE("a control character in a text field is drawn as its sign", "[one line]") {
    FontBook book;
    book.need(text::with_control_signs("\n\t\r"));
    REQUIRE(book.refresh(1));
    ImFont* const font = book.font(figure::Font::ui, 14.5F);
    for (const char32_t control : {U'\n', U'\t', U'\r'}) {
        const ImFontGlyph* const sign =
            font->FindGlyphNoFallback(static_cast<ImWchar>(text::control_sign(control)));
        const ImFontGlyph* const drawn =
            font->FindGlyphNoFallback(static_cast<ImWchar>(text::field_placeholder(control)));
        REQUIRE(sign != nullptr);
        CHECK(drawn == sign);
    }
}

TEST_CASE("fonts are baked at the sizes asked for", "[fonts]") {
    FontBook book;
    CHECK(book.refresh(1));
    CHECK_FALSE(book.refresh(1));
    CHECK(book.font(figure::Font::ui, 13)->FontSize == 13);
    CHECK(book.font(figure::Font::ui, 12.5F)->FontSize == 12.5F);
    CHECK(book.font_for("0.97", figure::Font::mono_semibold, 34)->FontSize == 34);
    CHECK(book.font(figure::Font::ui, 13.6F)->FontSize == 13.5F);
    CHECK(book.refresh(2));
    CHECK(book.font(figure::Font::ui, 13)->FontSize == 26);
    CHECK(book.font(figure::Font::ui, 13) != book.font(figure::Font::ui_semibold, 13));
}

TEST_CASE("any other size is drawn glyph by glyph, at exactly that size", "[fonts]") {
    FontBook book;
    book.refresh(1);
    const auto [none, nothing] = book.take_changed_rows();
    CHECK(none == nothing);
    for (const float size : {10.44F, 17.0F, 22.0F, 34.0F}) {
        CAPTURE(size);
        const ImFont& font = *book.font_for("HΣ\U0001F600", figure::Font::ui, size);
        CHECK(font.FontSize == size);
        CHECK(&font == book.font_for("H", figure::Font::ui, size));
        CHECK(&font != book.font_for("H", figure::Font::mono, size));
        const ImFontGlyph& letter = *font.FindGlyph('H');
        CHECK(letter.Y1 == font.Ascent);
        CHECK(letter.Y1 - letter.Y0 == Approx(0.727 * size).margin(1.01));
        // FreeType counts sizes in 64ths of a pixel.
        const float usual = book.font(figure::Font::ui, 13)->GetCharAdvance('H');
        CHECK(font.GetCharAdvance('H') == Approx(usual * size / 13).margin(0.01));
        CHECK(pixels_of(book, letter) != pixels_of(book, *font.FindGlyph(U'Σ')));
        // The rows with the new glyphs are reported once.
        const auto [first, end] = book.take_changed_rows();
        int width = 0, height = 0;
        unsigned char* pixels = nullptr;
        book.atlas().GetTexDataAsAlpha8(&pixels, &width, &height);
        CHECK(static_cast<float>(first) <= letter.V0 * static_cast<float>(height) + 0.01F);
        CHECK(static_cast<float>(end) >= letter.V1 * static_cast<float>(height) - 0.01F);
        CHECK(book.take_changed_rows() == std::pair(0, 0));
    }
    CHECK_FALSE(book.stale());
}

TEST_CASE("an atlas that is full makes room for the next frame", "[fonts]") {
    FontBook book;
    book.refresh(1);
    const int height = book.atlas().TexHeight;
    std::string letters;
    for (char c = '!'; c <= '~'; ++c)
        letters += c;
    const auto draw = [&] {
        for (int size = 40; size < 60; ++size) {
            const ImFont* const font = book.font_for(letters, figure::Font::ui, static_cast<float>(size));
            if (book.stale())
                return;
            REQUIRE(font->FontSize == static_cast<float>(size));
        }
    };
    int frames = 0;
    for (draw(); book.stale() && frames < 6; ++frames) {
        CHECK(book.refresh(1));
        draw();
    }
    CHECK(frames > 0);
    CHECK_FALSE(book.stale());
    CHECK(book.atlas().TexHeight > height);
}

TEST_CASE("a glyph is as large and as wide as its font says", "[fonts]") {
    FontBook book;
    book.refresh(1);
    const ImFont& font = *book.font(figure::Font::mono, 15);
    CHECK(font.GetCharAdvance('0') == Approx(9)); // 0.6 em
    const ImFontGlyph& letter = *font.FindGlyph('H');
    CHECK(letter.Y1 == font.Ascent);                               // the bottom is on the baseline
    CHECK(letter.Y1 - letter.Y0 == Approx(0.73 * 15).margin(1.5)); // capitals of 0.73 em
    CHECK(std::abs((letter.Y0 + letter.Y1) / 2 - 7.5F) <= 1);      // in the middle of the line
}

TEST_CASE("characters are there once they were needed", "[fonts]") {
    FontBook book;
    book.refresh(1);
    CHECK(book.has(U'−'));
    CHECK(book.has(U'ᵀ'));
    CHECK_FALSE(book.stale());
    // Two that DejaVu Sans has not, but DejaVu Sans Mono and DejaVu Serif have, are among them.
    const std::vector<char32_t> letters = {U'Ж', U'Ώ', U'ש', U'⌶', U'⤀', U'語', U'अ'};
    const std::string text = "ЖΏש⌶⤀語अ";
    book.need(text);
    CHECK(book.stale());
    CHECK(book.refresh(1));
    int missing = 0;
    for (const char32_t letter : letters) {
        const bool somewhere = listed_by_fontconfig(letter);
        missing += !somewhere;
        CAPTURE(static_cast<unsigned>(letter));
        CHECK(book.has(letter) == somewhere);
        for (const figure::Font role : {figure::Font::ui, figure::Font::ui_semibold, figure::Font::mono}) {
            const ImFont& font = *book.font(role, 13);
            const ImFontGlyph* const glyph = font.FindGlyphNoFallback(static_cast<ImWchar>(letter));
            REQUIRE((glyph != nullptr) == somewhere);
            if (glyph == nullptr)
                continue;
            // Drawn with ink, and not as the replacement.
            const std::vector<unsigned char> drawn = pixels_of(book, *glyph);
            CHECK(std::ranges::count_if(drawn, [](unsigned char alpha) { return alpha > 128; }) >= 8);
            CHECK(drawn != pixels_of(book, *font.FindGlyph(0xFFFD)));
        }
    }
    // Letters of different scripts are different pictures.
    const ImFont& ui = *book.font(figure::Font::ui, 13);
    CHECK(pixels_of(book, *ui.FindGlyph(U'Ж')) != pixels_of(book, *ui.FindGlyph(U'ש')));
    CHECK(missing < 3); // fonts of install.sh have the first five
    book.need(text);
    CHECK_FALSE(book.stale()); // a character that no font has is not searched for again
}

TEST_CASE("what can't be shown has a visible replacement", "[fonts]") {
    FontBook book;
    book.need("\U0001F600 \xF3\xB0\x80\x80 \u0378 \xFF");
    book.refresh(1);
    CHECK_FALSE(book.has(U'\U0001F600'));
    CHECK_FALSE(book.has(U'\u0378'));
    const ImFont& font = *book.font(figure::Font::ui, 13);
    CHECK(font.FindGlyph(0x0378) == font.FindGlyph(0xFFFD));
    CHECK(font.FindGlyph(0xFFFD)->Visible);
}

} // namespace headscope::app
