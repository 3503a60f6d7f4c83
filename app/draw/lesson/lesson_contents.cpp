#include "app/draw/kit/controls.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/lesson/lesson_card.h"
#include "app/draw/lesson/lesson_panel.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace headscope::app {

namespace {

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

} // namespace

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
        y = draw_lesson_card(picture, context, course, *lesson, course_pad, y, width) + 8;
    }
    for (const UnlistedLesson& file : course.unlisted)
        y = draw_unlisted(picture, context, file, y + 18);
    return y;
}

} // namespace headscope::app
