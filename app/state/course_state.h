#pragma once

#include "app/state/lesson_picture.h"
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

/// The accepted answer to a question of a step.
struct GivenAnswer {
    std::string text;   ///< see lesson::grade
    bool shown = false; ///< the program gave the answer, not the learner
    bool operator==(const GivenAnswer&) const = default;
};

/// The progress of a learner in one lesson. Kept between runs.
struct LessonProgress {
    int furthest = -1;          ///< the highest page that was opened
    int page = 0;               ///< the page to return to
    std::map<int, int> answers; ///< question -> first choice that was clicked
    /// Ids of the tables and questions, and gate_name of the gates, that were passed.
    std::set<std::string> done;
    std::map<std::string, GivenAnswer> given; ///< by id of the question
    bool operator==(const LessonProgress&) const = default;
};

/// A scene with a model, which a worker opens before the scene is shown.
struct ModelScene {
    lesson::StepScene scene;
    std::string label;   ///< label of the history entry
    bool of_page = true; ///< sets CourseState::page_input, else `button_input`
};

/// A panel of the open page: the learner's settings and the result.
struct PanelState {
    lesson::Knobs set;
    std::variant<std::monostate, lesson::PanelFigure, std::string>
        shows; ///< nothing yet, a figure, or the reason why there is none
    std::shared_ptr<const lesson::PanelFigure> computed = {}; ///< the figure that `shows` is a copy of
};

/// Returns the number of pages of a lesson: the opening, the steps, the questions and the summary.
int page_count(const lesson::Lesson& lesson);

/// The attention input, or the pass through a model, that the course put on screen.
using LessonInput = std::variant<std::monostate, project::Recipe, RunSpecPtr>;

/// A lesson file that is not listed, and the reason.
struct UnlistedLesson {
    std::string path, why;
    std::string name; ///< lesson::name_of
};

/// The state of the course in the window.
struct CourseState {
    std::vector<std::shared_ptr<const lesson::Lesson>> lessons; ///< the lessons that can be played
    std::vector<UnlistedLesson> unlisted;                       ///< the files that cannot be played
    std::shared_ptr<const lesson::Lesson> open;                 ///< null: the table of contents is shown
    int page = 0;
    /// The attention input or the pass that belongs to the page. See has_left_scene.
    LessonInput page_input;
    LessonInput button_input; ///< the input or pass that a button of the page set last
    int button_line = 0;      ///< line of that button's scene in the lesson file; 0: no button was pressed
    std::shared_ptr<const ModelScene> pending_scene;  ///< a model that is being opened; null: none
    RunSpecPtr pass;                                  ///< the pass that `model` belongs to
    std::shared_ptr<const lesson::LessonModel> model; ///< the page's checkpoint on screen; null: not yet
    /// The numbers of the page before any change, which its prose quotes; null: not computed yet.
    std::shared_ptr<const lesson::PageNumbers> page_numbers;
    std::map<std::string, LessonProgress> progress; ///< by lesson id
    /// The pictures of the list of lessons, by lesson id; null: there is none.
    std::map<std::string, LessonPicturePtr> pictures;
    /// The input typed into the tables of the open lesson: by id of the table, then by cell in row order.
    std::map<std::string, std::map<int, std::string>> typed;
    // By id of the questions of the open page.
    std::map<std::string, std::string> drafts;             ///< the answer that is being entered
    std::map<std::string, std::string> hints;              ///< the reason why the draft is not an answer
    std::map<std::string, std::vector<std::string>> tries; ///< answers that were not accepted, newest last
    std::map<int, PanelState> panels; ///< the panels of the open page, by line in the lesson file
    /// Captions of the toolbar controls that "show me" has just moved and that are highlighted.
    std::set<std::string> highlighted_controls;
    float highlight_strength = 0; ///< strength of the highlight: 1 at first, then falls to 0

    int steps() const { return open == nullptr ? 0 : static_cast<int>(open->steps.size()); }
    int questions() const { return open == nullptr ? 0 : static_cast<int>(open->quiz.size()); }
    int pages() const { return open == nullptr ? 2 : page_count(*open); }
    /// Index of the step or question that the page shows, from 0; out of range on any other page.
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
    /// Returns the scene of the page; for the opening and the summary, the scene of the lesson.
    lesson::StepScene scene() const;
    LessonProgress progress_of(const lesson::Lesson& lesson) const;
    LessonProgress of_open() const { return open == nullptr ? LessonProgress{} : progress_of(*open); }
    /// Returns the fraction of a lesson that was opened: 0 if it was not started, 1 at its last page.
    float fraction_opened(const lesson::Lesson& lesson) const;
    /// Returns true if any lesson was started.
    bool any_started() const { return open != nullptr || !progress.empty(); }
    /// Returns the lesson to continue with: the open one, else the first unfinished one, else the first that
    /// was not started. Null if all were read to the end.
    std::shared_ptr<const lesson::Lesson> next() const;
};

/// Returns the name under which a passed gate is stored.
std::string gate_name(const lesson::Gate& gate);

/// Returns the page's own numbers, with which its questions are graded; nothing while they are computed.
std::optional<lesson::LessonState> own_state(const CourseState& course);

/// Returns the question of the open step with that id; null if there is none.
const lesson::StepQuestion* question_of_step(const CourseState& course, const std::string& id);

/// Returns true if the screen shows something other than the input or pass of the page.
bool has_left_scene(const CourseState& course, const Document& now);

/// Returns true if the text on screen differs from the page's text.
bool is_retyped(const CourseState& course, const Document& now);

/// Returns the line, in the lesson file, of the scene whose button was pressed last while that scene is on
/// screen; 0 otherwise.
int button_shown(const CourseState& course, const Document& now);

/// Returns true if two passes through a checkpoint give the same numbers.
bool same_pass(const RunSpec& a, const RunSpec& b);

} // namespace headscope::app
