#pragma once

#include "app/shell/handout/paper_question.h"
#include "core/engine/engine.h"
#include "core/lesson/lesson.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// The tables and questions of a lesson, for paper.
struct Worksheet {
    /// Something to do in the program, and its result.
    struct Task {
        std::string task, after = {};
    };
    std::string title, sentence; ///< of the lesson; its problem's sentence
    std::vector<HandTable> tables = {};
    std::vector<PaperQuestion> questions = {}; ///< those of the steps, then those of the quiz
    std::vector<Task> tasks = {};
};

/// Collects the worksheet of a lesson: that of its handout. All numbers come from the engine. The words are
/// in language_in_use(). `sentence` replaces the lesson's; tables and questions about words that it does not
/// have are left out. Throws Error(input) if no table remains, and for a sentence that the lesson's problem
/// does not take.
Worksheet make_worksheet(const lesson::Lesson& lesson, const std::optional<std::string>& sentence,
                         engine::Engine& engine);

/// Returns the worksheet, or its solution, as a PDF of A4 pages with text.
std::string worksheet_pdf(const Worksheet& worksheet, bool solution);

} // namespace headscope::app
