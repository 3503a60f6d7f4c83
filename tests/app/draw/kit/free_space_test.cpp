#include "app/draw/kit/free_space.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("labels of things that lie close together stand apart") {
    std::vector<figure::Rect> taken;
    for (int n = 0; n < 4; ++n)
        taken.push_back({static_cast<float>(6 * n), static_cast<float>(4 * n), 14, 14});
    const std::vector<figure::Rect> things = taken;
    for (const figure::Rect& thing : things) {
        const figure::Rect label = free_position_next_to(thing, {20, 17}, taken);
        for (const figure::Rect& other : taken)
            CHECK_FALSE(overlap(label, other));
        taken.push_back(label);
    }
    // A thing on its own has its label at its right.
    CHECK(free_position_next_to({100, 100, 10, 10}, {20, 16}, taken).x > 110);
}

} // namespace headscope::test
