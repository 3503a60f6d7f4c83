#include "app/draw/kit/theme.h"
#include "tests/catch.h"

#include <array>

using namespace headscope;
using namespace headscope::app;

namespace {

constexpr float of_text = 4.5F, of_marks = 3.0F; // WCAG 2.1, 1.4.3 and 1.4.11

} // namespace

TEST_CASE("text can be read on everything that it stands on, in both themes", "[contrast]") {
    for (const bool dark : {false, true}) {
        const Theme& t = theme(dark);
        CAPTURE(dark);
        for (const figure::Color back : {t.canvas, t.panel, t.raise, t.highlight})
            for (const figure::Color words : {t.ink, t.text, t.muted}) {
                CAPTURE(back, words);
                CHECK(contrast(words, back) >= of_text);
            }
        for (const figure::Color back : {t.canvas, t.panel, t.raise}) {
            CHECK(contrast(t.good, back) >= of_text);
            CHECK(contrast(t.bad, back) >= of_text);
        }
        CHECK(contrast(t.ink, t.good_back) >= of_text);
        CHECK(contrast(t.ink, t.bad_back) >= of_text);
        // A primary button is ink with text in the canvas color.
        CHECK(contrast(t.canvas, t.ink) >= of_text);
        for (const HeadColours& head : t.heads)
            CHECK(contrast(head.colour, t.canvas) >= of_marks);
    }
}

TEST_CASE("numbers can be read on every colour of every map, in both themes", "[contrast]") {
    for (const bool dark : {false, true}) {
        const Theme& t = theme(dark);
        std::vector<const Ramp*> ramps{&t.head_background, &t.order,   &t.neutral, &t.diverging,
                                       &t.viridis,         &t.cividis, &t.magma};
        for (const HeadColours& head : t.heads)
            ramps.push_back(&head.ramp);
        for (const Ramp* const ramp : ramps)
            for (const figure::Color cell : *ramp) {
                CAPTURE(dark, cell);
                CHECK(contrast(text_on(cell), cell) >= of_text);
            }
    }
}
