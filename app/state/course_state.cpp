#include "app/state/course_state.h"

#include "core/lesson/questions/step_tasks.h"
#include "core/project/same_bits.h"

#include <algorithm>

namespace headscope::app {

namespace {

bool differs(const LessonInput& given, const Document& now) {
    if (const auto* recipe = std::get_if<project::Recipe>(&given))
        return !project::same_bits(*recipe, now.recipe);
    const auto* part = std::get_if<RunSpecPtr>(&given);
    return part != nullptr && (!now.is_checkpoint() || !same_pass(**part, *now.part()));
}

} // namespace

int page_count(const lesson::Lesson& lesson) {
    return static_cast<int>(lesson.steps.size() + lesson.quiz.size()) + 2;
}

lesson::StepScene CourseState::scene() const {
    if (open == nullptr)
        return {};
    if (const lesson::Step* now = step())
        return lesson::combine_scenes(open->scene, now->scene);
    if (const lesson::Question* now = question())
        return lesson::combine_scenes(open->scene, now->scene);
    return open->scene;
}

LessonProgress CourseState::progress_of(const lesson::Lesson& lesson) const {
    const auto found = progress.find(lesson.id);
    return found == progress.end() ? LessonProgress{} : found->second;
}

float CourseState::fraction_opened(const lesson::Lesson& lesson) const {
    const int pages = page_count(lesson);
    return static_cast<float>(std::min(progress_of(lesson).furthest + 1, pages)) / static_cast<float>(pages);
}

std::shared_ptr<const lesson::Lesson> CourseState::next() const {
    if (open != nullptr && fraction_opened(*open) < 1)
        return open;
    const auto first = [&](const auto& wanted) {
        const auto found = std::ranges::find_if(
            lessons, [&](const auto& lesson) { return wanted(fraction_opened(*lesson)); });
        return found == lessons.end() ? nullptr : *found;
    };
    const auto left = first([](float part) { return part > 0 && part < 1; });
    return left != nullptr ? left : first([](float part) { return part == 0; });
}

std::string gate_name(const lesson::Gate& gate) {
    return "gate " + gate.condition.text();
}

bool same_pass(const RunSpec& a, const RunSpec& b) {
    return a.model->model->path() == b.model->model->path() && a.inputs->ids == b.inputs->ids &&
           !first_difference(a.edits, b.edits);
}

std::optional<lesson::LessonState> own_state(const CourseState& course) {
    if (course.page_numbers == nullptr)
        return {};
    const lesson::PageNumbers& own = *course.page_numbers;
    return lesson::LessonState{.problem = *own.problem,
                               .trace = *own.trace,
                               .done = course.of_open().done,
                               .model = own.model.get(),
                               .layer = own.layer};
}

const lesson::StepQuestion* question_of_step(const CourseState& course, const std::string& id) {
    const lesson::Step* const step = course.step();
    if (step != nullptr)
        for (const lesson::StepQuestion* const question : lesson::questions_of(step->blocks))
            if (question->id == id)
                return question;
    return nullptr;
}

bool has_left_scene(const CourseState& course, const Document& now) {
    return course.open != nullptr && differs(course.page_input, now);
}

bool is_retyped(const CourseState& course, const Document& now) {
    if (course.open == nullptr)
        return false;
    if (const auto* recipe = std::get_if<project::Recipe>(&course.page_input))
        return now.is_checkpoint() || recipe->sentence != now.recipe.sentence ||
               recipe->kv_sentence != now.recipe.kv_sentence;
    const auto* part = std::get_if<RunSpecPtr>(&course.page_input);
    return part != nullptr && (!now.is_checkpoint() || (*part)->inputs->ids != now.part()->inputs->ids);
}

int button_shown(const CourseState& course, const Document& now) {
    const bool set = course.open != nullptr && !std::holds_alternative<std::monostate>(course.button_input);
    return set && !differs(course.button_input, now) ? course.button_line : 0;
}

} // namespace headscope::app
