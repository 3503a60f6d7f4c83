#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <algorithm>

// Checks the texts of the pictures next to a lesson's page, and that nothing covers their titles.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct Page : User {
    Page(const std::string& lesson, int page, float width, float height) : User(on_cpu(), width, height) {
        act(OpenLesson{lesson});
        act(GoToPage{page});
        settle();
        settle();
    }
    static Program::Options on_cpu() {
        Program::Options options;
        options.device = "cpu";
        return options;
    }
    /// Returns the number of lines of the canvas with exactly this text.
    int says(const std::string& whole) const {
        return static_cast<int>(
            std::ranges::count_if(program.canvas().scene.items, [&](const figure::SceneItem& item) {
                const auto* const text = std::get_if<figure::TextItem>(&item);
                return text != nullptr && text->text == whole;
            }));
    }
    /// The middle of the one line that begins with the words; the window's corner where there is none.
    figure::Point place_of(const std::string& words) const {
        for (const figure::SceneItem& item : program.canvas().scene.items)
            if (const auto* text = std::get_if<figure::TextItem>(&item);
                text != nullptr && text->text.starts_with(words))
                return text->at;
        return {};
    }
};

} // namespace

TEST_CASE("an additive mask is added, and the legend names no masked cell", "[gui][lesson][pictures]") {
    const Page additive("masks", 6, 1280, 720);
    CHECK(additive.says("masked = scaled + mask") == 1);
    CHECK(additive.says("masked") == 0);
    const Page forbidding("masks", 5, 1280, 720);
    CHECK(forbidding.says("masked") == 2); // one legend for each head
}

TEST_CASE("a norm before attention says so and outlines the dimension that it names",
          "[gui][lesson][pictures]") {
    const Page page("a-stack-of-layers", 3, 1600, 1000);
    CHECK(page.says("Norm before attention · L0") == 1);
    const float left = page.place_of("resid_in").x;
    int frames = 0;
    for (const figure::SceneItem& item : page.program.canvas().scene.items)
        if (const auto* box = std::get_if<figure::RectItem>(&item))
            frames += box->fill == 0 && box->stroke_width == 1.5F && box->area.x > left && box->area.w < 12 &&
                      box->area.h > 40;
    CHECK(frames == 4); // one in each row of bars
}

TEST_CASE("rows of the residual stream have their lengths as numbers in a low window",
          "[gui][lesson][pictures]") {
    const Page page("a-stack-of-layers", 1, 1280, 720);
    CHECK(page.says("78.8") == 1);
    for (const char* word : {"The", "dog", "that", "mill"})
        CHECK(page.says(word) == 3);
}

TEST_CASE("bars over shared keys name the key/value head", "[gui][lesson][pictures]") {
    const Page page("variants", 2, 1600, 1000);
    CHECK(page.says("KV0") == 2); // over K and V
    CHECK(page.says("KV1") == 2);
    CHECK(page.says("H0") == 1); // over Q
}

TEST_CASE("a page keeps its title where all that a lesson points at fits below it",
          "[gui][lesson][pictures]") {
    for (const auto& [lesson, step, title] :
         {std::tuple{"cross-attention", 2, "Keys"}, {"what-heads-learn", 4, "Contributions of the heads"}}) {
        const Page page(lesson, step, 1280, 720);
        INFO(lesson);
        CHECK(page.place_of(title).y > 120); // below the strip
    }
}

TEST_CASE("in a narrow window a page's buttons stand apart from its title", "[gui][lesson][pictures]") {
    const Page page("three-measures", 5, 640, 360);
    const figure::Point title = page.place_of("Activation patching");
    REQUIRE(title.y > 0);
    CHECK(page.place_of("Compare the prompts").y > title.y + 30);
    CHECK(page.place_of("Swap prompts").y > title.y + 30);
}

} // namespace headscope::test
