#pragma once

#include "core/io/recipe.h"
#include "core/lesson/library.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope {

/// What a learner did in one lesson. Kept between runs.
struct LessonProgress {
    int furthest = -1;          ///< the highest page that was opened
    int page = 0;               ///< the one to come back to
    std::map<int, int> answers; ///< question -> first choice that was clicked
    std::set<std::string> done; ///< gates ("gate 2.1") and tables ("table weights") that were met
    bool operator==(const LessonProgress&) const = default;
};

/// The course as the window has it. Pages of a lesson: its steps, then its questions, then the summary.
struct CourseState {
    std::vector<std::shared_ptr<const Lesson>> lessons; ///< those that can be played
    std::vector<std::string> broken;                    ///< a sentence for each file that cannot
    std::shared_ptr<const Lesson> open;                 ///< null: the contents
    int page = 0;
    std::optional<Recipe> given; ///< the problem of the page; another one on screen: the learner is away
    std::map<std::string, LessonProgress> progress; ///< by id of the lesson

    int steps() const { return open == nullptr ? 0 : static_cast<int>(open->steps.size()); }
    int questions() const { return open == nullptr ? 0 : static_cast<int>(open->quiz.size()); }
    int pages() const { return steps() + questions() + (questions() > 0 ? 1 : 0); }
    const Step* step() const {
        return page < steps() && open != nullptr ? &open->steps[static_cast<std::size_t>(page)] : nullptr;
    }
    const Question* question() const {
        const int q = page - steps();
        return open != nullptr && q >= 0 && q < questions() ? &open->quiz[static_cast<std::size_t>(q)] : nullptr;
    }
    LessonProgress of_open() const {
        const auto found = open == nullptr ? progress.end() : progress.find(open->id);
        return found == progress.end() ? LessonProgress{} : found->second;
    }
};

} // namespace headscope
