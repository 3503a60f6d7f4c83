#include "app/draw/kit/controls.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace headscope::app {

namespace {

constexpr float choice_pad = 42.0F;

/// Draws a ring; after the answer, with a check mark or a cross.
void draw_mark(Picture& picture, const DrawContext& context, figure::Point at, bool answered, bool right,
               bool chosen) {
    const Theme& theme = context.theme;
    const bool shown = answered && (right || chosen);
    const figure::Color color = right ? theme.good : theme.bad;
    picture.scene.add(figure::RectItem{.area = {at.x - 8, at.y - 8, 16, 16},
                                       .fill = shown ? color : figure::Color{0},
                                       .stroke = shown ? color : theme.muted,
                                       .stroke_width = 1.5F,
                                       .radius = 8});
    if (!shown)
        return;
    if (right) {
        picture.scene.add(figure::LineItem{{at.x - 4, at.y}, {at.x - 1, at.y + 3.5F}, theme.canvas, 2});
        picture.scene.add(
            figure::LineItem{{at.x - 1, at.y + 3.5F}, {at.x + 4.5F, at.y - 3.5F}, theme.canvas, 2});
    } else {
        picture.scene.add(figure::LineItem{{at.x - 3, at.y - 3}, {at.x + 3, at.y + 3}, theme.canvas, 2});
        picture.scene.add(figure::LineItem{{at.x + 3, at.y - 3}, {at.x - 3, at.y + 3}, theme.canvas, 2});
    }
}

/// The lessons that can follow the open one: the next of the course, and after a lesson without a model also
/// the first lesson with a model that requires it.
std::vector<std::shared_ptr<const lesson::Lesson>> after_open(const CourseState& course) {
    const auto& open = course.open;
    std::vector<std::shared_ptr<const lesson::Lesson>> found;
    if (open == nullptr || open->number < 0)
        return found;
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
    return found;
}

} // namespace

float draw_choice(Picture& picture, const DrawContext& context, const CourseState& course,
                  const ChoiceRow& row, float x, float y, float width) {
    const Theme& theme = context.theme;
    const lesson::QuizChoice& choice = row.choice;
    const lesson::LessonState state = lesson_state(context.shown, context.view, course);
    const bool stressed = row.judged && (row.chosen || choice.correct);
    const std::string verdict = !stressed                       ? ""
                                : row.chosen && !choice.correct ? tr("lesson_quiz.answer", "your answer")
                                : row.chosen ? tr("lesson_quiz.right_answer", "right, your answer")
                                             : tr("lesson_quiz.right_correct", "right");
    Picture words;
    lesson::Spans text = choice.text;
    for (lesson::Span& span : text)
        if (span.style == lesson::SpanStyle::plain)
            span.style = lesson::SpanStyle::strong;
    float baseline = draw_spans(words, context, x + choice_pad, y + 25, width - choice_pad - 12, text, state,
                                {.size = 14, .line = 20, .color = theme.ink, .strong = theme.ink});
    if (!verdict.empty()) { // on its own line: next to the answer it would leave the answer too little width
        draw_text(words, context, x + choice_pad, baseline, verdict, figure::Font::ui_medium, 12.5F,
                  choice.correct ? theme.good : theme.bad);
        baseline += 19;
    }
    if (row.judged)
        baseline = draw_spans(
            words, context, x + choice_pad, baseline + 1, width - choice_pad - 12, choice.explanation, state,
            {.size = 13, .line = 19, .color = stressed ? theme.text : theme.muted, .strong = theme.ink});
    const figure::Rect area{x, y, width, baseline - y - 8};
    if (stressed) {
        picture.scene.add(
            figure::RectItem{.area = area, .fill = choice.correct ? theme.good_back : theme.bad_back});
        picture.scene.add(
            figure::RectItem{.area = {x, y, 3, area.h}, .fill = choice.correct ? theme.good : theme.bad});
    } else if (row.open) {
        picture.scene.add(figure::RectItem{.area = area, .stroke = theme.line, .radius = 6});
    }
    draw_mark(picture, context, {x + 22, y + 20}, row.judged, choice.correct, row.chosen);
    picture.append(std::move(words), 0, 0);
    if (row.open)
        picture.add_hotspot(area, row.name, row.action);
    return area.bottom() + 8;
}

float draw_question(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const int q = course.question_index();
    const lesson::Question& question = *course.question();
    const LessonProgress progress = course.of_open();
    const auto found = progress.answers.find(q);
    const int* const answer = found == progress.answers.end() ? nullptr : &found->second;
    draw_text(picture, context, course_pad, y + 18,
              tr("lesson_quiz.quiz_question", "Quiz, question {} of {}", q + 1, course.questions()),
              figure::Font::ui, 12.5F, theme.muted);
    draw_contents_link(picture, context, y + 18);
    draw_page_bars(picture, context, q, course.questions(), y + 28);
    lesson::Spans heading = question.text;
    for (lesson::Span& span : heading)
        if (span.style == lesson::SpanStyle::plain)
            span.style = lesson::SpanStyle::strong;
    y = draw_spans(picture, context, course_pad, y + 62, context.width - 2 * course_pad, heading,
                   lesson_state(context.shown, context.view, course),
                   {.size = 17, .line = 24, .color = theme.ink, .strong = theme.ink}) -
        10;
    const std::string seed = lesson::order_seed(course.open->id, std::to_string(q));
    for (const std::size_t c : lesson::screen_order(seed, question.choices)) {
        const int index = static_cast<int>(c);
        y = draw_choice(picture, context, course,
                        {.choice = question.choices[c],
                         .open = answer == nullptr,
                         .judged = answer != nullptr,
                         .chosen = answer != nullptr && *answer == index,
                         .name = "choice " + std::to_string(c),
                         .action = AnswerQuestion{q, index}},
                        course_pad, y, context.width - 2 * course_pad);
    }
    return y;
}

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

float draw_summary(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const LessonProgress progress = course.of_open();
    const float width = context.width - 2 * course_pad;
    int right = 0;
    for (const auto& [q, c] : progress.answers)
        if (q < course.questions()) {
            const auto& choices = course.open->quiz[static_cast<std::size_t>(q)].choices;
            right +=
                c < static_cast<int>(choices.size()) && choices[static_cast<std::size_t>(c)].correct ? 1 : 0;
        }
    draw_text(picture, context, course_pad, y + 18, course.open->title, figure::Font::ui, 12.5F, theme.muted);
    draw_text(picture, context, course_pad, y + 60,
              tr("lesson_quiz.right", "{} of {} right", right, course.questions()), figure::Font::ui_semibold,
              22, theme.ink);
    y += 84;
    for (int q = 0; q < course.questions(); ++q) {
        const lesson::Question& question = course.open->quiz[static_cast<std::size_t>(q)];
        const auto found = progress.answers.find(q);
        const bool answered = found != progress.answers.end();
        const bool good = answered && question.choices[static_cast<std::size_t>(found->second)].correct;
        draw_mark(picture, context, {course_pad + 10, y + 12}, answered, good, answered);
        const float top = y;
        y = draw_spans(picture, context, course_pad + 30, y + 17, width - 30, question.text,
                       lesson_state(context.shown, context.view, course),
                       {.size = 13.5F, .line = 19, .color = theme.text, .strong = theme.ink}) -
            6;
        picture.add_hotspot({course_pad, top, width, y - top}, "question " + std::to_string(q + 1),
                            GoToPage{1 + course.steps() + q},
                            tr("lesson_quiz.look_again", "Look at it again"));
    }
    y += 10;
    for (const auto& lesson : after_open(course)) {
        const std::string next =
            tr("lesson_quiz.lesson", "On to lesson {}: {}", lesson->number, lesson->title);
        draw_text_button(picture, context, course_pad, y,
                         fitted(context, next, figure::Font::ui_medium, 12.5F, width - 16), false,
                         OpenLesson{lesson->id}, next + "\n" + lesson->summary);
        y += 34;
    }
    draw_text_button(picture, context, course_pad, y,
                     tr("lesson_quiz.start_lesson_again", "Start this lesson again"), false,
                     StartLessonAgain{},
                     tr("lesson_quiz.forgets_answers_lesson", "Deletes your answers in this lesson"));
    return draw_reading(picture, context, course, y + 34);
}

/// Draws the name of a file that is not a lesson, with the reason below. The tooltip shows the whole path.
float draw_unlisted(Picture& picture, const DrawContext& context, const UnlistedLesson& file, float y) {
    constexpr float size = 12.5F, line = 18;
    const float width = context.width - 2 * course_pad;
    const std::string path = text::plain_text(file.path),
                      name = text::plain_text(std::filesystem::path(file.path).filename().string());
    draw_text(picture, context, course_pad, y, fitted(context, name, figure::Font::ui_semibold, size, width),
              figure::Font::ui_semibold, size, context.theme.bad);
    picture.tips.push_back({{course_pad, y - 13, width, line}, path});
    for (const std::string& words :
         wrapped(text::plain_text(file.why), width, context.measure, figure::Font::ui, size)) {
        y += line;
        draw_text(picture, context, course_pad, y, fitted(context, words, figure::Font::ui, size, width),
                  figure::Font::ui, size, context.theme.bad);
    }
    return y + 8;
}

float draw_contents(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const float width = context.width - 2 * course_pad;
    draw_text(picture, context, course_pad, y + 26, tr("lesson_quiz.course", "The course"),
              figure::Font::ui_semibold, 20, theme.ink);
    y += 44;
    y = draw_paragraph(picture, context, course_pad, y + 12, width,
                       tr("lesson_quiz.each_lesson_plays_live",
                          "Every number in a lesson is computed while you read it. You can leave at any time "
                          "and return with one click."),
                       figure::Font::ui, 13.5F, 20, theme.muted) -
        6;
    const auto first_model = std::ranges::find_if(
        course.lessons, [](const auto& lesson) { return lesson->scene.model.has_value(); });
    for (const auto& lesson : course.lessons) {
        if (first_model != course.lessons.end() && lesson == *first_model)
            y = draw_paragraph(
                    picture, context, course_pad, y + 22, width,
                    tr("lesson_quiz.trained_model_pocket_lesson",
                       "These lessons use pocket, a trained model. Lesson 3 is enough to begin here."),
                    figure::Font::ui_medium, 13.5F, 20, theme.text) -
                8;
        const float done = course.fraction_opened(*lesson);
        const float top = y;
        const std::string title =
            (lesson->number >= 0 ? std::to_string(lesson->number) + ". " : "") + lesson->title;
        Picture words;
        float baseline = draw_paragraph(words, context, course_pad + 14, top + 26, width - 28, title,
                                        figure::Font::ui_semibold, 14.5F, 20, theme.ink);
        draw_text(words, context, course_pad + 14, baseline,
                  tr_n("lesson_quiz.min_step", "{} min, {}, {} step", "{} min, {}, {} steps",
                       std::ssize(lesson->steps), lesson->minutes, difficulty_text(lesson->difficulty),
                       lesson->steps.size()),
                  figure::Font::ui, 12.5F, theme.muted);
        const figure::Rect area{course_pad, top, width, baseline - top + 22};
        picture.scene.add(
            figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line, .radius = 6});
        picture.append(std::move(words), 0, 0);
        const figure::Rect track{area.x + 14, area.bottom() - 11, area.w - 28, 3};
        picture.scene.add(figure::RectItem{.area = track, .fill = theme.line, .radius = 1.5F});
        if (done > 0)
            picture.scene.add(figure::RectItem{
                .area = {track.x, track.y, track.w * done, 3}, .fill = theme.ink, .radius = 1.5F});
        picture.add_hotspot(area, "lesson " + lesson->id, OpenLesson{lesson->id},
                            done == 0 ? tr("common.begin", "Begin")
                                      : tr("lesson_quiz.go", "Resume where you were"));
        y = area.bottom() + 8;
    }
    for (const UnlistedLesson& file : course.unlisted)
        y = draw_unlisted(picture, context, file, y + 18);
    return y;
}

} // namespace headscope::app
