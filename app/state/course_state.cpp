#include "app/state/course_state.h"

#include "core/project/same_bits.h"

namespace headscope::app {

lesson::StepScene CourseState::scene() const {
    if (open == nullptr)
        return {};
    if (const lesson::Step* now = step())
        return lesson::laid_over(open->scene, now->scene);
    if (const lesson::Question* now = question())
        return lesson::laid_over(open->scene, now->scene);
    return open->scene;
}

std::string gate_name(const lesson::Gate& gate) {
    return "gate " + gate.condition.text();
}

bool is_away(const CourseState& course, const project::Recipe& now) {
    return course.open != nullptr && course.given && !project::same_bits(*course.given, now);
}

} // namespace headscope::app
