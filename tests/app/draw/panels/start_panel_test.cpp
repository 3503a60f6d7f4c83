#include "app/draw/panels/start_panel.h"
#include "core/figure/figure.h"
#include "core/text/preset.h"
#include "tests/app/support/documents.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>

// The Start page: what each card says and sends, and what is left out where there is nothing.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// Lessons of five pages each: the opening, two steps, a question, the summary.
CourseState three_lessons() {
    CourseState course;
    for (int number = 1; number <= 3; ++number) {
        auto lesson = std::make_shared<lesson::Lesson>();
        lesson->id = "lesson-" + std::to_string(number);
        lesson->title = "Part " + std::to_string(number);
        lesson->number = number;
        lesson->minutes = 10 + number;
        lesson->steps.resize(2);
        lesson->quiz.resize(1);
        course.lessons.push_back(std::move(lesson));
    }
    return course;
}

LessonProgress opened_to(int page) {
    LessonProgress progress;
    progress.furthest = progress.page = page;
    return progress;
}

struct Page {
    Shown shown = make_shown({});
    ViewState view;
    CourseState course = three_lessons();
    FilesState files;
    figure::TextMeasure measure = approximate_measure();

    DrawContext context(float width = 311) const {
        return {.shown = shown,
                .view = view,
                .theme = theme(false),
                .measure = measure,
                .width = width,
                .height = 800};
    }
    Picture draw(float width = 311) const { return draw_start(context(width), course, files); }
    std::vector<std::string> labels() const {
        std::vector<std::string> all;
        std::ranges::transform(draw().hotspots, std::back_inserter(all), &Hotspot::label);
        return all;
    }
    /// The document on screen is made of this recipe.
    void show(const project::Recipe& recipe) { shown.document = make_document(recipe, 1); }
};

/// The action as the kind that it must be; fails the test when it is another.
template<class Kind, class One>
const One& sent(const Action& action) {
    REQUIRE(std::holds_alternative<Kind>(action));
    REQUIRE(std::holds_alternative<One>(std::get<Kind>(action)));
    return std::get<One>(std::get<Kind>(action));
}

/// Buttons filled with ink.
std::ptrdiff_t primary_buttons(const Picture& picture) {
    return std::ranges::count_if(picture.scene.items, [](const figure::SceneItem& item) {
        const auto* const rect = std::get_if<figure::RectItem>(&item);
        return rect != nullptr && rect->fill == theme(false).ink && rect->area.h == 34;
    });
}

} // namespace

TEST_CASE("the Start page offers three ways in, in this order for the Tab key", "[panels][start]") {
    Page page;
    page.files.packaged = {"pocket"};
    page.files.recent = {"/projects/mine.headscope", "/models/gpt2"};
    CHECK(page.labels() == std::vector<std::string>{"Start typing", "Start lesson 1", "All lessons",
                                                    "Open pocket", "From the Hub…", "Other file…", "recent 1",
                                                    "recent 2"});
    const Picture picture = page.draw();
    CHECK_FALSE(sent<WindowAction, TypeSentence>(action_of(picture, "Start typing")).second);
    CHECK(sent<LessonAction, OpenLesson>(action_of(picture, "Start lesson 1")).id == "lesson-1");
    sent<LessonAction, CloseLesson>(action_of(picture, "All lessons"));
    CHECK(sent<FileCommand, OpenPath>(action_of(picture, "Open pocket")).path == "pocket");
    sent<FileCommand, ChooseProject>(action_of(picture, "Other file…"));
    CHECK(sent<FileCommand, OpenPath>(action_of(picture, "recent 2")).path == "/models/gpt2");
    CHECK(primary_buttons(picture) == 1);
    for (const char* words :
         {"mine.headscope", "project", "gpt2", "model", "1  Part 1", "11 min", "3 lessons"})
        CHECK_THAT(all_text(picture), Catch::Contains(words));
}

TEST_CASE("what is not there has no row on the Start page", "[panels][start]") {
    Page page;
    const Picture picture = page.draw();
    CHECK(page.labels() == std::vector<std::string>{"Start typing", "Start lesson 1", "All lessons",
                                                    "From the Hub…", "Other file…"});
    CHECK_THAT(all_text(picture), !Catch::Contains("Recent") && !Catch::Contains("pocket"));
    page.course.lessons.clear();
    CHECK(page.labels() == std::vector<std::string>{"Start typing", "From the Hub…", "Other file…"});
    for (int i = 0; i < 9; ++i)
        page.files.recent.push_back("/some/" + std::to_string(i));
    CHECK(page.labels().back() == "recent 6");
}

TEST_CASE("the course goes on where the learner left it", "[panels][start]") {
    Page page;
    CourseState& course = page.course;
    CHECK_FALSE(course.any_started());
    const auto button = [&] { return page.labels().at(1); };
    course.progress["lesson-2"] = opened_to(0);
    CHECK(course.any_started());
    CHECK(button() == "Resume");
    course.progress["lesson-2"] = opened_to(2);
    CHECK(button() == "Resume step 2");
    CHECK(sent<LessonAction, OpenLesson>(action_of(page.draw(), button())).id == "lesson-2");
    course.progress["lesson-2"] = opened_to(3);
    CHECK(button() == "Resume quiz");
    CHECK(course.fraction_opened(*course.lessons[1]) == 0.8F);
    course.progress["lesson-2"] = opened_to(4);
    CHECK(button() == "Start lesson 1");
    CHECK_THAT(all_text(page.draw()), Catch::Contains("3 lessons with live numbers, 1 done"));
    // The open lesson before one that was left earlier.
    course.progress["lesson-1"] = opened_to(1);
    course.progress["lesson-3"] = opened_to(2);
    course.open = course.lessons[2];
    CHECK(button() == "Resume step 2");
    course.open = nullptr;
    CHECK(button() == "Resume step 1");
    course.progress["lesson-1"] = course.progress["lesson-3"] = opened_to(4);
    CHECK(course.next() == nullptr);
    CHECK(button() == "All lessons");
    CHECK(primary_buttons(page.draw()) == 1);
}

TEST_CASE("the Start page speaks of the sentence that can be typed over", "[panels][start]") {
    Page page;
    page.shown.document = first_lesson();
    CHECK_THAT(all_text(page.draw()), Catch::Contains("The cat sat"));
    project::Recipe fixed;
    fixed.preset = "cat-sleeps";
    fixed.sentence = text::find_preset(fixed.preset)->sentence;
    page.show(fixed);
    CHECK(page.labels().front() == "New sentence");
    sent<FileCommand, NewProject>(action_of(page.draw(), "New sentence"));
}

TEST_CASE("all ways in are in sight in a window of 1280 x 720 without the recent files", "[panels][start]") {
    Page page;
    page.files.packaged = {"pocket"};
    page.shown.document = first_lesson();
    DrawContext low = page.context();
    low.height = 522;
    page.measure = figure::figure_measure();
    CHECK(draw_start(low, page.course, page.files).scene.height <= low.height);
    CHECK(page.draw().scene.height <= 800);
}

TEST_CASE("the Start page keeps its text inside the panel at every width", "[panels][start]") {
    Page page;
    page.files.packaged = {"pocket"};
    page.files.recent = {"/" + std::string(90, 'w') + ".headscope"};
    page.course.lessons.front() = std::make_shared<lesson::Lesson>(*page.course.lessons.front());
    auto named = *page.course.lessons.front();
    named.title = "A title that is longer than the card in which it has to stand";
    page.course.lessons.front() = std::make_shared<const lesson::Lesson>(named);
    const float width = GENERATE(280.0F, 311.0F, 480.0F);
    const Picture picture = page.draw(width);
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item)) {
            const float length = page.measure(text->text, text->font, text->size);
            const float left = text->at.x - (text->align == figure::Align::right    ? length
                                             : text->align == figure::Align::center ? length / 2
                                                                                    : 0);
            INFO(text->text);
            CHECK((left >= 24 && left + length <= width - 23.5F));
        }
    for (const Hotspot& spot : picture.hotspots)
        CHECK((spot.area.x >= 24 && spot.area.right() <= width - 23.5F));
}

TEST_CASE("the check below the Start page turns itself around", "[panels][start]") {
    Page page;
    CHECK_FALSE(sent<ViewChange, OpenWithStart>(action_of(draw_start_foot(page.context()), "show at start"))
                    .start_page);
    page.view.start_page = false;
    CHECK(sent<ViewChange, OpenWithStart>(action_of(draw_start_foot(page.context()), "show at start"))
              .start_page);
}

} // namespace headscope::test
