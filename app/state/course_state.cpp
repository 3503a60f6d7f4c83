#include "app/state/course_state.h"

#include "core/project/same_bits.h"

namespace headscope {

StepScene CourseState::scene() const {
    if (open == nullptr)
        return {};
    if (const Step* now = step())
        return laid_over(open->scene, now->scene);
    if (const Question* now = question())
        return laid_over(open->scene, now->scene);
    return open->scene;
}

std::string gate_name(const Gate& gate) {
    return "gate " + gate.condition.text();
}

bool is_away(const CourseState& course, const Recipe& now) {
    return course.open != nullptr && course.given && !same_bits(*course.given, now);
}

} // namespace headscope
