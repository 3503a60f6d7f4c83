#include "app/lesson/reread.h"

#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

namespace headscope::app {

namespace {

/// The page of the new version that takes the place of a page.
int page_after(const lesson::Lesson& before, const lesson::Lesson& after, int page) {
    const int steps = static_cast<int>(before.steps.size()), new_steps = static_cast<int>(after.steps.size());
    if (page < 1)
        return 0;
    if (page > steps) // a question, or the summary
        return std::min(page - steps + new_steps, page_count(after) - 1);
    const auto same = std::ranges::find(after.steps, before.steps[static_cast<std::size_t>(page - 1)].title,
                                        &lesson::Step::title);
    return same != after.steps.end() ? static_cast<int>(same - after.steps.begin()) + 1
                                     : std::min(page, new_steps);
}

/// The lines of a file that decide what a page shows: those before the first step, and the block of its
/// scene.
std::string scene_source(const std::string& text, int line) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string one; std::getline(in, one);)
        lines.push_back(one);
    std::string out;
    for (const std::string& one : lines) {
        if (one.starts_with("## "))
            break;
        out += one + '\n';
    }
    for (auto at = static_cast<std::size_t>(std::max(line, 1)) - 1; line > 0 && at < lines.size(); ++at) {
        out += lines[at] + '\n';
        if (lines[at] == "```")
            break;
    }
    return out;
}

/// The line of the scene of the open page; 0: the page has the scene of the lesson.
int scene_line(const CourseState& course) {
    if (const lesson::Step* const step = course.step())
        return step->scene.line;
    const lesson::Question* const question = course.question();
    return question == nullptr ? 0 : question->scene.line;
}

} // namespace

bool replace_open_lesson(CourseState& course, lesson::Lesson lesson, const std::string& before,
                         const std::string& after) {
    const auto former = course.open;
    const int line = scene_line(course), page = course.page;
    const auto now = std::make_shared<const lesson::Lesson>(std::move(lesson));
    const auto listed = std::ranges::find(course.lessons, former);
    if (listed != course.lessons.end())
        *listed = now;
    course.open = now;
    course.page = page_after(*former, *now, page);
    course.pictures.erase(now->id);
    course.panels.clear(); // they are known by their lines
    course.button_line = 0;
    return scene_source(before, line) == scene_source(after, scene_line(course));
}

std::string reread_fault(const std::string& path, const lesson::LessonError& fault) {
    return tr("reread.fault", "{}:{}: {} The former version stays open.",
              text::plain_text(std::filesystem::path(path).filename().string()), fault.line,
              fault.sentence + (fault.sentence.ends_with('.') ? "" : "."));
}

} // namespace headscope::app
