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

} // namespace

void draw_answer_mark(Picture& picture, const DrawContext& context, figure::Point at, bool answered,
                      bool right, bool chosen) {
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
    draw_answer_mark(picture, context, {x + 22, y + 20}, row.judged, choice.correct, row.chosen);
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

} // namespace headscope::app
