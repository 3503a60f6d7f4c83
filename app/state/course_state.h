#pragma once

#include "app/state/model_document.h"
#include "core/lesson/lesson_model.h"
#include "core/lesson/library.h"
#include "core/lesson/panel_figure.h"
#include "core/project/recipe.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace headscope::app {

/// What a learner did in one lesson. Kept between runs.
struct LessonProgress {
    int furthest = -1;          ///< the highest page that was opened
    int page = 0;               ///< the one to come back to
    std::map<int, int> answers; ///< question -> first choice that was clicked
    std::set<std::string> done; ///< gates and tables that were met, by gate_name and their id
    bool operator==(const LessonProgress&) const = default;
};

/// A scene with a model, which a worker opens before it is shown.
struct ModelScene {
    lesson::StepScene scene;
    std::string label;   ///< in the history
    bool of_page = true; ///< the page's own: the learner is away from any other
};

/// A panel of the open page: what the learner set on it, and what that gives.
struct PanelState {
    lesson::Knobs set;
    std::variant<std::monostate, lesson::PanelFigure, std::string>
        shows;                                                ///< nothing yet, a figure, or why there is none
    std::shared_ptr<const lesson::PanelFigure> computed = {}; ///< the figure that `shows` is a copy of
};

/// Pages of a lesson: its opening, its steps, its questions, the summary.
int page_count(const lesson::Lesson& lesson);

/// A problem, or a pass through a model, that the course put on screen.
using GivenProblem = std::variant<std::monostate, project::Recipe, ModelPartPtr>;

/// A file of a lesson that is not listed, and why.
struct UnlistedLesson {
    std::string path, why;
    std::string name; ///< lesson::name_of
};

/// The course as the window has it.
struct CourseState {
    std::vector<std::shared_ptr<const lesson::Lesson>> lessons; ///< those that can be played
    std::vector<UnlistedLesson> unlisted;                       ///< the files that cannot
    std::shared_ptr<const lesson::Lesson> open;                 ///< null: the contents
    int page = 0;
    /// The problem of the page, or the pass through a model; another one on screen: the learner is away.
    GivenProblem given;
    GivenProblem by_button; ///< the problem that a button of the page set last
    int button_line = 0;    ///< where in the file the scene of that button begins; 0: none was pressed
    std::shared_ptr<const ModelScene> coming;         ///< a model that is being opened; null: none
    ModelPartPtr pass;                                ///< that `model` is of
    std::shared_ptr<const lesson::LessonModel> model; ///< of the page's checkpoint on screen; null: not yet
    /// The numbers of the page before any change, which its prose quotes; null: not yet computed.
    std::shared_ptr<const lesson::OwnNumbers> own;
    std::map<std::string, LessonProgress> progress; ///< by id of the lesson
    /// What was typed into the tables of the open lesson: by id of the table, then by cell, row by row.
    std::map<std::string, std::map<int, std::string>> typed;
    std::map<int, PanelState> panels; ///< of the open page, by line of the file
    /// Captions of the toolbar's controls that "show me" has just moved, while they are marked.
    std::set<std::string> driven;
    float driven_strength = 0; ///< 1 at first, 0 when nothing is marked

    int steps() const { return open == nullptr ? 0 : static_cast<int>(open->steps.size()); }
    int questions() const { return open == nullptr ? 0 : static_cast<int>(open->quiz.size()); }
    int pages() const { return open == nullptr ? 2 : page_count(*open); }
    /// Which step or question the page is, from 0; out of range when it is none.
    int step_index() const { return page - 1; }
    int question_index() const { return page - 1 - steps(); }
    const lesson::Step* step() const {
        const int s = step_index();
        return s >= 0 && s < steps() ? &open->steps[static_cast<std::size_t>(s)] : nullptr;
    }
    const lesson::Question* question() const {
        const int q = question_index();
        return q >= 0 && q < questions() ? &open->quiz[static_cast<std::size_t>(q)] : nullptr;
    }
    /// What the page shows; the lesson's own scene on the opening and the summary.
    lesson::StepScene scene() const;
    LessonProgress progress_of(const lesson::Lesson& lesson) const;
    LessonProgress of_open() const { return open == nullptr ? LessonProgress{} : progress_of(*open); }
    /// How much of a lesson was opened: 0 when it was not begun, 1 at its last page.
    float part_opened(const lesson::Lesson& lesson) const;
    /// Whether any lesson was.
    bool begun() const { return open != nullptr || !progress.empty(); }
    /// The lesson to go on with: the open one, else the first that was left half-way, else the first that was
    /// not begun. Null when all were read to the end.
    std::shared_ptr<const lesson::Lesson> next() const;
};

/// Under which name a gate that was met is remembered.
std::string gate_name(const lesson::Gate& gate);

/// Whether the problem on screen is not the one that the page gave.
bool is_away(const CourseState& course, const Document& now);

/// Whether the text on screen is another than the page's own.
bool is_retyped(const CourseState& course, const Document& now);

/// The line in the file of the scene whose button was pressed last, while its problem is on screen; 0: none.
int button_shown(const CourseState& course, const Document& now);

/// Whether two passes through a checkpoint give the same numbers.
bool same_pass(const ModelPart& a, const ModelPart& b);

} // namespace headscope::app
