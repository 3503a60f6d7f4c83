#pragma once

#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <string>

namespace headscope::test {

using namespace headscope::app;

/// A user who works through the course.
struct Learner : User {
    explicit Learner(const Program::Options& options = {}, float width = 1600, float height = 1000)
        : User(on_cpu(options), width, height) {}

    static Program::Options on_cpu(Program::Options options) {
        options.device = "cpu";
        return options;
    }
    const CourseState& course() const { return program.state().course; }
    LessonProgress progress() const { return course().of_open(); }
    bool away() const { return has_left_scene(course(), *program.state().document); }
    project::Recipe recipe() const { return program.state().document->recipe; }

    /// Clicks an item of the lesson panel.
    void press(const std::string& label) {
        INFO(label);
        REQUIRE(click(label));
        settle();
    }
    void open(const std::string& id) {
        act(ShowTab{LeftTab::course});
        if (course().open != nullptr)
            press("Contents");
        // The card may be further down in the list.
        if (!click("lesson " + id))
            act(OpenLesson{id});
        settle();
        REQUIRE(course().open != nullptr);
        CHECK(course().open->id == id);
    }
    /// Goes to the page of that step (from 1) with only the keyboard.
    void turn_to(int page) {
        REQUIRE(course().open != nullptr);
        REQUIRE(page < course().pages());
        while (course().page != page) {
            driver.key(course().page < page ? GLFW_KEY_PAGE_DOWN : GLFW_KEY_PAGE_UP);
            settle();
        }
    }
    void fill(const std::string& table, int cell, const std::string& text) {
        const std::string label = "##" + table + " " + std::to_string(cell);
        const auto& items = screen_items();
        const auto item = std::ranges::find_if(
            items, [&](const ScreenItem& one) { return one.label == label && one.reachable(); });
        INFO(label);
        REQUIRE(item != items.end());
        driver.click(item->middle_x(), item->middle_y());
        driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        driver.type(text);
        driver.key(GLFW_KEY_ENTER);
        settle();
    }
};

} // namespace headscope::test
