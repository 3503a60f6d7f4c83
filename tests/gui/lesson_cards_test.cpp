#include "tests/catch.h"
#include "tests/gui/support/learner.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <string>

// The cards of the list of lessons, and the last page of a lesson.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("the list of lessons has a picture and a sentence for each lesson", "[gui][lesson]") {
    Learner learner;
    learner.act(ShowTab{LeftTab::course});
    const CourseState& course = learner.course();
    REQUIRE(course.lessons.size() > 10);
    for (const auto& lesson : course.lessons) {
        INFO(lesson->id);
        const auto found = course.pictures.find(lesson->id);
        REQUIRE(found != course.pictures.end());
        REQUIRE(found->second != nullptr);
        REQUIRE_FALSE(found->second->matrices.empty());
        for (const LessonPicture::Matrix& matrix : found->second->matrices) {
            CHECK(matrix.shades.size() == static_cast<std::size_t>(matrix.rows * matrix.columns));
            CHECK(*std::ranges::max_element(matrix.shades) > 0);
        }
    }
    const std::string words = screen_text();
    CHECK(words.find(course.lessons.front()->title) != std::string::npos);
    CHECK(words.find("From one word, to an average of words") != std::string::npos); // its sentence
    CHECK(words.find("10 min") != std::string::npos);
    CHECK(words.find("% read") == std::string::npos);
    learner.open(course.lessons.front()->id);
    learner.turn_to(2);
    learner.press("Contents");
    CHECK(screen_text().find("% read") != std::string::npos);
}

TEST_CASE("the last page of a lesson says what was learnt, the own results and what comes next",
          "[gui][lesson]") {
    Learner learner;
    learner.open("by-hand");
    learner.turn_to(learner.course().pages() - 1);
    const std::string words = screen_text();
    CHECK(words.find("You can now compute scores, weights and output of a head on paper; say what") !=
          std::string::npos);
    CHECK(words.find("Your answers") != std::string::npos);
    CHECK(words.find("Tables: 0 of") != std::string::npos);
    CHECK(words.find("Quiz: 0 of") != std::string::npos);
    CHECK(words.find("What comes next") != std::string::npos);
    CHECK(words.find("Why one head is not enough") != std::string::npos);
    learner.press("Next lesson");
    CHECK(learner.course().open->id == "one-head");
    CHECK(learner.course().page == 0);
}

TEST_CASE("the last page of the last lesson leads on", "[gui][lesson]") {
    Learner learner;
    const auto last = std::ranges::max_element(learner.course().lessons, {},
                                               [](const auto& lesson) { return lesson->number; });
    learner.act(OpenLesson{(*last)->id});
    learner.act(GoToPage{learner.course().pages() - 1});
    CHECK(screen_text().find("What comes next") != std::string::npos); // an unfinished lesson
    learner.press("Next lesson");
    CHECK(learner.course().open->id != (*last)->id);
}

} // namespace headscope::test
