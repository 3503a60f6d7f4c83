#include "core/lesson/questions/step_tasks.h"

namespace headscope::lesson {

namespace {

/// Calls `take` with every block of one kind.
template<class Block, class Take>
void each(const std::vector<LessonBlock>& blocks, const Take& take) {
    for (const LessonBlock& block : blocks) {
        if (const auto* const one = std::get_if<Block>(&block))
            take(*one);
        if (const auto* const callout = std::get_if<Callout>(&block))
            each<Block>(callout->blocks, take);
    }
}

} // namespace

std::vector<const StepQuestion*> questions_of(const std::vector<LessonBlock>& blocks) {
    std::vector<const StepQuestion*> found;
    each<StepQuestion>(blocks, [&](const StepQuestion& question) { found.push_back(&question); });
    return found;
}

std::vector<std::pair<std::string, int>> tasks_with_ids(const std::vector<LessonBlock>& blocks) {
    std::vector<std::pair<std::string, int>> found;
    each<FillTable>(blocks, [&](const FillTable& table) { found.emplace_back(table.id, table.line); });
    each<StepQuestion>(blocks,
                       [&](const StepQuestion& question) { found.emplace_back(question.id, question.line); });
    return found;
}

std::set<std::string> task_ids(const Lesson& lesson) {
    std::set<std::string> ids;
    for (const Step& step : lesson.steps)
        for (const auto& [id, line] : tasks_with_ids(step.blocks))
            ids.insert(id);
    return ids;
}

bool has_task(const std::vector<LessonBlock>& blocks) {
    bool found = !tasks_with_ids(blocks).empty();
    each<Gate>(blocks, [&](const Gate&) { found = true; });
    return found;
}

} // namespace headscope::lesson
