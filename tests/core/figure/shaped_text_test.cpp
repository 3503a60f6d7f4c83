#include "core/figure/shaped_text.h"

#include "core/text/shaping.h"
#include "tests/catch.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::figure;

namespace {

/// Ink in columns [first, last) of a picture, as the sum of alpha.
double ink_of(const ShapedText& line, int first, int last) {
    double sum = 0;
    for (int y = 0; y < line.image.rows; ++y)
        for (int x = first; x < last; ++x)
            sum += (*line.image.pixels)[static_cast<std::size_t>(y * line.image.cols + x)] >> 24;
    return sum;
}

float advance_of(const char* text) {
    return shape_text(text, Font::ui, 26).advance;
}

TEST_CASE("a right-to-left word among others leaves them in their order", "[shaped]") {
    CHECK(text::isolated("cat") == "cat");
    CHECK(text::isolated("\u062D") == "\u2068\u062D\u2069");
    // The marks around it take no room and lack no font.
    const ShapedText bare = shape_text("\u062D", Font::mono, 26);
    const ShapedText alone = shape_text(text::isolated("\u062D"), Font::mono, 26);
    CHECK(alone.missing_character == bare.missing_character);
    CHECK(alone.advance == Approx(bare.advance));
}

} // namespace

TEST_CASE("letters that join, marks, right-to-left text and characters beyond U+FFFF need shaping",
          "[shaped]") {
    for (const char* text : {"مرحبا", "שלום", "नमस्ते", "สวัสดี", "e\u0301", "\U0001F600", "a \U0001F600 b"})
        CHECK(text::needs_shaping(text));
    for (const char* text : {"", "cat", "Ж 中 é", "a → b × c − d ≤ e ⚠", "\xF0\x9F", "\xD9"})
        CHECK_FALSE(text::needs_shaping(text));
}

TEST_CASE("Arabic letters join when a line is shaped", "[shaped]") {
    // Joined, the letters beh are shorter than three letters that stand alone.
    CHECK(advance_of("ببب") < 0.8F * 3 * advance_of("ب"));
    const ShapedText word = shape_text("ببب", Font::ui, 26);
    CHECK(word.missing_character == 0);
    CHECK_FALSE(word.colored.pixels);
    CHECK(word.image.smooth); // words above columns are turned
    CHECK(ink_of(word, 0, word.image.cols) > 0);
}

TEST_CASE("Hebrew begins at the right", "[shaped]") {
    // Yod is above the middle, and shin is on the line. The last letter is at the left.
    const auto left_below = [](const char* text) {
        const ShapedText line = shape_text(text, Font::ui, 40);
        double sum = 0;
        for (int y = 0; y < line.image.rows; ++y)
            for (int x = 0; x < 6; ++x)
                if (line.image.area.y + static_cast<float>(y) > -8)
                    sum += (*line.image.pixels)[static_cast<std::size_t>(y * line.image.cols + x)] >> 24;
        return sum;
    };
    CHECK(left_below("שי") == 0);
    CHECK(left_below("יש") > 0);
}

TEST_CASE("a line of words that begins with a right-to-left word runs from the left", "[shaped]") {
    const ShapedText line = shape_text("ב          MMMM", Font::ui, 26);
    const int third = line.image.cols / 3;
    CHECK(ink_of(line, line.image.cols - third, line.image.cols) > ink_of(line, 0, third) * 1.5);
}

TEST_CASE("a character of no font is said, and its box is drawn", "[shaped]") {
    const ShapedText line = shape_text("a\U0010FFFD", Font::ui, 26);
    CHECK(line.missing_character == 0x10FFFD);
    CHECK(line.advance > advance_of("a"));
    CHECK(ink_of(line, 0, line.image.cols) > 0);
}

TEST_CASE("text beside an emoji keeps the colour of the text, and the emoji its own", "[shaped]") {
    // A letter, its smoothed edge, an opaque yellow, a black of its own, nothing.
    const std::vector<std::uint32_t> in_white{0xFFFFFFFF, 0x80808080, 0xFFF0C020, 0xFF000000, 0};
    const std::vector<std::uint32_t> in_black{0xFF000000, 0x80000000, 0xFFF0C020, 0xFF000000, 0};
    const InkAndColors parts = separate_ink_and_colors(in_white, in_black);
    CHECK(parts.ink == std::vector<Color>{0xFFFFFFFF, 0x80FFFFFF, 0xFFFFFF, 0xFFFFFF, 0xFFFFFF});
    CHECK(parts.colors == std::vector<Color>{0, 0, rgb(0xF0C020), rgb(0), 0});
    // Where nothing has its own color, there is one picture.
    CHECK(separate_ink_and_colors({0xFFFFFFFF, 0x80808080}, {0xFF000000, 0x80000000}).colors.empty());
}
