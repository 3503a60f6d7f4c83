#include "app/draw/kit/controls.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/lesson/questions/step_tasks.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace headscope::app {

namespace {

/// Draws the references of the lesson: a title that links to its address, the source and the level, and one
/// sentence.
float draw_reading(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const std::vector<lesson::Reference>& reading = course.open->reading;
    if (reading.empty())
        return y;
    const float width = context.width - 2 * course_pad;
    const lesson::LessonState state = lesson_state(context.shown, context.view, course);
    y += 26;
    draw_text(picture, context, course_pad, y, tr("lesson_quiz.further_reading", "Further reading"),
              figure::Font::ui_semibold, 15.5F, theme.ink);
    y += 26;
    for (const lesson::Reference& one : reading) {
        const lesson::Spans title{{.style = lesson::SpanStyle::strong, .text = one.title, .link = one.url}};
        y = draw_spans(picture, context, course_pad, y, width, title, state,
                       {.size = 13.5F, .line = 19, .color = theme.ink, .strong = theme.ink});
        y = draw_paragraph(picture, context, course_pad, y, width, source_line(one), figure::Font::ui, 12.5F,
                           18, theme.muted);
        y = draw_spans(picture, context, course_pad, y + 1, width, one.why, state,
                       {.size = 13.5F, .line = 19, .color = theme.text, .strong = theme.ink}) +
            11;
    }
    return y - 14;
}

/// The answers to the questions and tables of the steps.
struct StepResults {
    int questions = 0, right = 0, shown = 0, tables = 0, filled = 0;
};

StepResults step_results(const CourseState& course) {
    const LessonProgress progress = course.of_open();
    StepResults out;
    for (const lesson::Step& step : course.open->steps) {
        const auto questions = lesson::questions_of(step.blocks);
        out.questions += static_cast<int>(questions.size());
        for (const lesson::StepQuestion* const question : questions)
            if (const auto given = progress.given.find(question->id); given != progress.given.end())
                (given->second.shown ? out.shown : out.right) += 1;
        for (const auto& [id, line] : lesson::tasks_with_ids(step.blocks)) {
            const bool question =
                std::ranges::find(questions, id, &lesson::StepQuestion::id) != questions.end();
            out.tables += question ? 0 : 1;
            out.filled += !question && progress.done.contains(id) ? 1 : 0;
        }
    }
    return out;
}

int right_in_quiz(const CourseState& course) {
    int right = 0;
    for (const auto& [q, c] : course.of_open().answers)
        if (q < course.questions()) {
            const auto& choices = course.open->quiz[static_cast<std::size_t>(q)].choices;
            right +=
                c < static_cast<int>(choices.size()) && choices[static_cast<std::size_t>(c)].correct ? 1 : 0;
        }
    return right;
}

/// The objectives of the lesson as one sentence.
float draw_learnt(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const std::vector<std::string>& objectives = course.open->objectives;
    if (objectives.empty())
        return y;
    const std::string list = joined(objectives, std::identity(), "; ");
    // Translators: {} is a list of abilities, each of which begins with a verb: "say what a query is"
    return draw_paragraph(picture, context, course_pad, y + 16, context.width - 2 * course_pad,
                          tr("lesson_summary.learnt", "You can now {}.", list), figure::Font::ui, 14.5F, 22,
                          context.theme.text) -
           6;
}

float draw_part_title(Picture& picture, const DrawContext& context, const std::string& title, float y) {
    draw_text(picture, context, course_pad, y + 20, title, figure::Font::ui_semibold, 15.5F,
              context.theme.ink);
    return y + 30;
}

/// The learner's own results: of the steps as lines, of the quiz question by question.
float draw_own_results(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const LessonProgress progress = course.of_open();
    const float width = context.width - 2 * course_pad;
    y = draw_part_title(picture, context, tr("lesson_summary.answers", "Your answers"), y);
    const auto line = [&](const std::string& text) {
        y = draw_paragraph(picture, context, course_pad, y + 14, width, text, figure::Font::ui, 13.5F, 20,
                           theme.text) -
            14;
    };
    const StepResults steps = step_results(course);
    if (steps.questions > 0)
        line(steps.shown > 0
                 ? tr("lesson_summary.steps_shown", "In the steps: {} of {} right, {} shown", steps.right,
                      steps.questions, steps.shown)
                 : tr("lesson_summary.steps", "In the steps: {} of {} right", steps.right, steps.questions));
    if (steps.tables > 0)
        line(tr("lesson_summary.tables", "Tables: {} of {} filled in", steps.filled, steps.tables));
    line(tr("lesson_summary.quiz", "Quiz: {} of {} right", right_in_quiz(course), course.questions()));
    y += 6;
    for (int q = 0; q < course.questions(); ++q) {
        const lesson::Question& question = course.open->quiz[static_cast<std::size_t>(q)];
        const auto found = progress.answers.find(q);
        const bool answered = found != progress.answers.end();
        const bool good = answered && question.choices[static_cast<std::size_t>(found->second)].correct;
        draw_answer_mark(picture, context, {course_pad + 10, y + 12}, answered, good, answered);
        const float top = y;
        y = draw_spans(picture, context, course_pad + 30, y + 17, width - 30, question.text,
                       lesson_state(context.shown, context.view, course),
                       {.size = 13.5F, .line = 19, .color = theme.text, .strong = theme.ink}) -
            6;
        picture.add_hotspot({course_pad, top, width, y - top}, "question " + std::to_string(q + 1),
                            GoToPage{1 + course.steps() + q},
                            tr("lesson_quiz.look_again", "Look at it again"));
    }
    return y + 10;
}

/// A card with a lesson that can follow.
float draw_next_lesson(Picture& picture, const DrawContext& context, const lesson::Lesson& lesson,
                       bool primary, float y) {
    constexpr float inset = 14, button_high = 34;
    const Theme& theme = context.theme;
    const float width = context.width - 2 * course_pad, inside = width - 2 * inset, x = course_pad + inset;
    Picture words;
    draw_text(words, context, x, y + 23,
              lesson.number >= 0
                  ? tr("lesson_summary.next_number", "Lesson {}, {} min", lesson.number, lesson.minutes)
                  : tr("common.min", "{} min", lesson.minutes),
              figure::Font::ui, 12.5F, theme.muted);
    float end = draw_paragraph(words, context, x, y + 45, inside, lesson.title, figure::Font::ui_semibold, 15,
                               20, theme.ink);
    end = draw_paragraph(words, context, x, end + 1, inside, lesson.summary, figure::Font::ui, 13, 18,
                         theme.text) -
          8;
    const std::string start = tr("lesson_summary.start", "Start this lesson");
    draw_button(words, context,
                {x, end, context.measure(start, figure::Font::ui_semibold, 13) + 32, button_high}, start,
                OpenLesson{lesson.id}, primary, lesson.title);
    if (!primary) // two cards on a page
        words.hotspots.back().label = "start " + lesson.id;
    const figure::Rect area{course_pad, y, width, end + button_high + inset - y};
    picture.scene.add(figure::RectItem{
        .area = area, .fill = theme.raise, .stroke = primary ? theme.ink : theme.line, .radius = 6});
    picture.append(std::move(words), 0, 0);
    return area.bottom() + 10;
}

} // namespace

std::vector<std::shared_ptr<const lesson::Lesson>> lessons_after(const CourseState& course) {
    const auto& open = course.open;
    std::vector<std::shared_ptr<const lesson::Lesson>> found;
    if (open == nullptr)
        return found;
    // After the last lesson, and after one that is not of the course: the first unfinished one.
    const auto unfinished = [&] {
        for (const auto& lesson : course.lessons)
            if (lesson != open && course.fraction_opened(*lesson) < 1 && found.empty())
                found.push_back(lesson);
        return found;
    };
    if (open->number < 0)
        return unfinished();
    const std::string asked = "lesson " + std::to_string(open->number);
    for (const auto& lesson : course.lessons) {
        const bool next = lesson->number == open->number + 1;
        const bool model =
            !open->scene.model && lesson->scene.model &&
            std::ranges::find(lesson->prerequisites, asked) != lesson->prerequisites.end() &&
            std::ranges::none_of(found, [](const auto& one) { return one->scene.model.has_value(); });
        if (next || model)
            found.push_back(lesson);
    }
    return found.empty() ? unfinished() : found;
}

float draw_summary(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const float width = context.width - 2 * course_pad;
    draw_text(picture, context, course_pad, y + 18,
              fitted(context, course.open->title, figure::Font::ui, 12.5F, width - 80), figure::Font::ui,
              12.5F, theme.muted);
    draw_contents_link(picture, context, y + 18);
    y = draw_paragraph(picture, context, course_pad, y + 56, width,
                       tr("lesson_summary.finished", "You have finished this lesson"),
                       figure::Font::ui_semibold, 20, 26, theme.ink) -
        12;
    y = draw_learnt(picture, context, course, y);
    y = draw_own_results(picture, context, course, y);
    const std::vector<std::shared_ptr<const lesson::Lesson>> next = lessons_after(course);
    y = draw_part_title(picture, context,
                        next.empty() ? tr("lesson_summary.course_done", "All lessons are read")
                                     : tr("lesson_summary.next", "What comes next"),
                        y);
    for (const auto& lesson : next)
        y = draw_next_lesson(picture, context, *lesson, lesson == next.front(), y);
    float x = course_pad;
    x +=
        draw_text_button(picture, context, x, y, tr("common.all_lessons", "All lessons"), false,
                         CloseLesson{}, tr("lesson_panel.back_list_lessons", "Back to the list of lessons")) +
        8;
    const std::string again = tr("lesson_quiz.start_lesson_again", "Start this lesson again");
    if (x + context.measure(again, figure::Font::ui_medium, 12.5F) + 24 > context.width - course_pad) {
        x = course_pad;
        y += 34;
    }
    draw_text_button(picture, context, x, y, again, false, StartLessonAgain{},
                     tr("lesson_quiz.forgets_answers_lesson", "Deletes your answers in this lesson"));
    return draw_reading(picture, context, course, y + 34);
}

} // namespace headscope::app
