#include "app/shell/fonts.h"

#include "app/shell/font_files.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

TEST_CASE("fonts are baked at the sizes asked for", "[fonts]") {
    FontBook book;
    CHECK(book.refresh(1));
    CHECK_FALSE(book.refresh(1));
    CHECK(book.font(figure::Font::ui, 13)->FontSize == 13);
    CHECK(book.font(figure::Font::ui, 12.5F)->FontSize == 12.5F);
    CHECK(book.font(figure::Font::mono_semibold, 34)->FontSize == 34);
    CHECK(book.font(figure::Font::ui, 13.6F)->FontSize == 13.5F);
    CHECK(book.refresh(2));
    CHECK(book.font(figure::Font::ui, 13)->FontSize == 26);
    CHECK(book.font(figure::Font::ui, 13) != book.font(figure::Font::ui_semibold, 13));
}

TEST_CASE("a glyph is as large and as wide as its font says", "[fonts]") {
    FontBook book;
    book.refresh(1);
    const ImFont& font = *book.font(figure::Font::mono, 15);
    CHECK(font.GetCharAdvance('0') == Approx(9)); // 0.6 em
    const ImFontGlyph& letter = *font.FindGlyph('H');
    CHECK(letter.Y1 == font.Ascent);                               // stands on the baseline
    CHECK(letter.Y1 - letter.Y0 == Approx(0.73 * 15).margin(1.5)); // capitals of 0.73 em
    CHECK(std::abs((letter.Y0 + letter.Y1) / 2 - 7.5F) <= 1);      // in the middle of the line
}

TEST_CASE("characters are there once they were needed", "[fonts]") {
    FontBook book;
    book.refresh(1);
    CHECK(book.has(U'−'));
    CHECK(book.has(U'ᵀ'));
    CHECK_FALSE(book.stale());
    const std::vector<char32_t> letters = {U'Ж', U'Ώ', U'ש', U'語', U'अ'};
    const std::string text = "ЖΏש語अ";
    book.need(text);
    CHECK(book.stale());
    CHECK(book.refresh(1));
    int missing = 0;
    for (const char32_t letter : letters) {
        const bool somewhere = !find_fallbacks({letter}).empty();
        missing += !somewhere;
        CAPTURE(static_cast<unsigned>(letter));
        CHECK(book.has(letter) == somewhere);
        for (const figure::Font role : {figure::Font::ui, figure::Font::ui_semibold, figure::Font::mono})
            CHECK((book.font(role, 13)->FindGlyphNoFallback(static_cast<ImWchar>(letter)) != nullptr) ==
                  somewhere);
    }
    CHECK(missing < 3); // DejaVu Sans, which install.sh brings, has the first three
    book.need(text);
    CHECK_FALSE(book.stale()); // what no font has isn't looked for again
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
