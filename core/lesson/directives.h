#pragma once

#include "core/lesson/markdown.h"

namespace headscope::lesson {

class Fields;

// Readers for the fenced blocks of a lesson, each a YAML map. Each mistake in a block is added to the errors
// with its line; the valid entries are kept.

/// Reads the entries of the front matter, which describe the whole lesson.
void read_front_matter(std::string_view text, int first_line, Lesson& lesson,
                       std::vector<LessonError>& faults);
StepScene read_scene(const Fence& fence, std::vector<LessonError>& faults);
std::optional<Gate> read_gate(const Fence& fence, std::vector<LessonError>& faults);
std::optional<FillTable> read_fill(const Fence& fence, std::vector<LessonError>& faults);
std::optional<ShowMe> read_show(const Fence& fence, std::vector<LessonError>& faults);
/// Defined in panel_directive.cpp.
std::optional<LessonPanel> read_panel(const Fence& fence, std::vector<LessonError>& faults);
std::optional<Question> read_question(const Fence& fence, std::vector<LessonError>& faults);

// Defined in questions/question_directive.cpp.
std::optional<StepQuestion> read_step_question(const Fence& fence, std::vector<LessonError>& faults);
std::optional<Claim> read_claim(const Fence& fence, std::vector<LessonError>& faults);
/// The entry "choices" of a question.
std::vector<QuizChoice> read_choices(Fields& fields, std::vector<LessonError>& faults);

/// A map of a block whose entries are those of a scene; an empty scene if the entry is missing.
StepScene read_inner_scene(Fields& fields, const std::string& key);

} // namespace headscope::lesson
