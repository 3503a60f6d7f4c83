#include "app/draw/kit/free_space.h"
#include "app/draw/matrix/matrix.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <vector>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

TEST_CASE("the numbers below a logarithmic legend stand apart", "[legend]") {
    const Shown shown = make_shown({});
    const ViewState view;
    const figure::TextMeasure measure = approximate_measure();
    const DrawContext context{shown, view, theme(false), measure, 1200, 900};
    bool saw_all = false, saw_fewer = false;
    for (float width = 40; width <= 300; width += 10)
        for (const float high : {1.0F, 0.37F, 0.002F, 12.5F}) {
            CAPTURE(width, high);
            Picture picture;
            draw_legend(picture, context, 20, 20, width, theme(false).neutral, 0, high, "weight, log scale",
                        false, true, 2000);
            std::vector<figure::Rect> numbers;
            for (const figure::SceneItem& item : picture.scene.items)
                if (const auto* text = std::get_if<figure::TextItem>(&item);
                    text != nullptr && text->font == figure::Font::mono) {
                    const figure::Rect area = text_area(*text, measure);
                    for (const figure::Rect& other : numbers)
                        CHECK_FALSE(overlap({area.x - 3, area.y, area.w + 6, area.h}, other));
                    CHECK(area.right() <= 20 + width + 1);
                    numbers.push_back(area);
                }
            CHECK_FALSE(numbers.empty());
            saw_all = saw_all || numbers.size() == 3;
            saw_fewer = saw_fewer || numbers.size() < 3;
        }
    CHECK(saw_all);
    CHECK(saw_fewer);
}
