#include "app/draw/lesson/lesson_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/state/screens/screen.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

/// A link above a page, right-aligned at `right`.
void draw_head_link(Picture& picture, const DrawContext& context, float right, float baseline,
                    const std::string& label, const LessonAction& action, const std::string& tip) {
    const float width = draw_text(picture, context, right, baseline, label, figure::Font::ui_medium, 12.5F,
                                  context.theme.text, figure::Align::right);
    picture.scene.add(
        figure::LineItem{{right - width, baseline + 3}, {right, baseline + 3}, context.theme.line2, 1});
    picture.add_hotspot({right - width - 6, baseline - 16, width + 12, 24}, label, action, tip);
}

/// Returns true if the learner changed the problem manually, not with a button of the page, which undoes its
/// own change.
bool changed_by_hand(const DrawContext& context, const CourseState& course) {
    const Document& now = *context.shown.document;
    return has_left_scene(course, now) && button_shown(course, now) == 0;
}

std::string changed_words() {
    return tr("lesson_panel.changed_problem_numbers",
              "You have changed the problem. Numbers in this text are the lesson's own; where they differ "
              "now, the text "
              "gives both.");
}

/// Draws the link that returns to the lesson, to the left of the link to the contents, so that the text below
/// does not move.
void draw_way_back(Picture& picture, const DrawContext& context, float baseline) {
    const float contents = context.measure(tr("common.contents", "Contents"), figure::Font::ui_medium, 12.5F);
    draw_head_link(picture, context, context.width - course_pad - contents - 16, baseline,
                   tr("lesson_panel.back_lesson", "Back to the lesson"), ReturnToLesson{},
                   changed_words() + "\n" +
                       tr("common.lessons_sentence_weights_view",
                          "Restores the sentence, parameters and view of the lesson"));
}

float draw_step(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const lesson::Step& step = *course.step();
    const float top = y;
    const float width = context.width - 2 * course_pad;
    draw_text(picture, context, course_pad, y + 18,
              tr("lesson_panel.step", "Step {} of {}", course.page, course.steps()), figure::Font::ui, 12.5F,
              theme.muted);
    draw_contents_link(picture, context, y + 18);
    draw_page_bars(picture, context, course.step_index(), course.steps(), y + 28);
    y = draw_paragraph(picture, context, course_pad, y + 66, width, step.title, figure::Font::ui_semibold, 20,
                       26, theme.ink) -
        14;
    y = draw_blocks(picture, context, course, step.blocks, course_pad, y, width);
    if (!changed_by_hand(context, course))
        return y;
    draw_way_back(picture, context, top + 18);
    return draw_paragraph(picture, context, course_pad, y + 16, width, changed_words(), figure::Font::ui, 13,
                          19, theme.muted);
}

/// Lists the lesson's content before its first step.
float draw_opening(Picture& picture, const DrawContext& context, const CourseState& course, float y) {
    const Theme& theme = context.theme;
    const lesson::Lesson& lesson = *course.open;
    const float width = context.width - 2 * course_pad;
    draw_text(picture, context, course_pad, y + 18,
              tr_n("lesson_panel.minutes_step", "{} minutes, {}, {} step", "{} minutes, {}, {} steps",
                   course.steps(), lesson.minutes, difficulty_text(lesson.difficulty), course.steps()),
              figure::Font::ui, 12.5F, theme.muted);
    y = draw_paragraph(picture, context, course_pad, y + 50, width, lesson.title, figure::Font::ui_semibold,
                       20, 26, theme.ink) -
        14;
    const auto plain = [](const std::string& text) {
        return lesson::Spans{lesson::Span{.style = lesson::SpanStyle::plain, .text = text}};
    };
    std::vector<lesson::LessonBlock> blocks{lesson::Paragraph{plain(lesson.summary)}};
    const auto list = [&](const std::string& title, const std::vector<std::string>& items) {
        if (items.empty())
            return;
        lesson::ListBlock listed;
        std::ranges::transform(items, std::back_inserter(listed.items), plain);
        blocks.emplace_back(lesson::Heading{plain(title)});
        blocks.emplace_back(std::move(listed));
    };
    // Translators: headings over lists of what a lesson teaches, asks for and explains
    list(tr("lesson_panel.afterwards", "Afterwards you can"), lesson.objectives);
    list(tr("lesson_panel.should_know", "You should know"), lesson.prerequisites);
    list(tr("lesson_panel.key_concepts", "Key concepts"), lesson.concepts);
    return draw_blocks(picture, context, course, blocks, course_pad, y, width);
}

/// The id in lesson::StepScene; empty on other screens.
std::string_view patched_id(const Shown& shown) {
    if (shown.patching == nullptr)
        return {};
    const PatchingQuestion& asked = shown.patching->asked;
    return asked.paths ? "paths" : analysis::info_of(asked.kind).id;
}

} // namespace

lesson::LessonState lesson_state(const Shown& shown, const ViewState& view, const CourseState& course) {
    return {.problem = shown.problem(),
            .trace = *shown.trace,
            .stage = group_info(view.group).label,
            .row = view.row,
            .head = view.head,
            .done = course.of_open().done,
            .selected = view.selected ? std::optional(lesson::CellRange{.tensor = view.selected->tensor,
                                                                        .first = view.selected->at,
                                                                        .count = {1, 1, 1, 1}})
                                      : std::nullopt,
            .edited = has_left_scene(course, *shown.document),
            .text_changed = is_retyped(course, *shown.document),
            .model = shown.document->is_checkpoint() && shown.document->part() == course.pass
                         ? course.model.get()
                         : nullptr,
            .layer = shown.document->layer(),
            .screen = shown.document->is_checkpoint() ? screen_name(view.attention) : "stages",
            .patched = patched_id(shown),
            .patch = view.attention.patch,
            // While the page's own numbers are on screen, there is nothing to compare.
            .page_numbers =
                course.page_numbers != nullptr && (has_left_scene(course, *shown.document) ||
                                                   shown.document->layer() != course.page_numbers->layer)
                    ? course.page_numbers.get()
                    : nullptr};
}

std::string source_line(const lesson::Reference& reference) {
    std::string line = reference.by;
    if (reference.year > 0)
        line += (line.empty() ? "" : " ") + std::to_string(reference.year);
    for (const std::string& part : {reference.where, difficulty_text(reference.level)})
        if (!part.empty())
            line += (line.empty() ? "" : ", ") + part;
    return line;
}

std::string difficulty_text(const std::string& level) {
    static constexpr std::array words{translatable("lesson_panel.beginner", "beginner"),
                                      translatable("lesson_panel.intermediate", "intermediate"),
                                      translatable("lesson_panel.advanced", "advanced")};
    for (const Message& word : words)
        if (word.english == level)
            return tr(word);
    return level;
}

void draw_contents_link(Picture& picture, const DrawContext& context, float baseline) {
    draw_head_link(picture, context, context.width - course_pad, baseline, tr("common.contents", "Contents"),
                   CloseLesson{},
                   tr("lesson_panel.all_lessons_place_kept", "All lessons; your position is saved"));
}

void draw_page_bars(Picture& picture, const DrawContext& context, int page, int pages, float y) {
    const float gap = 4.0F;
    const float piece =
        (context.width - 2 * course_pad - gap * static_cast<float>(pages - 1)) / static_cast<float>(pages);
    for (int i = 0; i < pages; ++i)
        picture.scene.add(
            figure::RectItem{.area = {course_pad + static_cast<float>(i) * (piece + gap), y, piece, 4},
                             .fill = i < page    ? context.theme.ink
                                     : i == page ? context.theme.text
                                                 : context.theme.line2,
                             .radius = 2});
}

Picture draw_course(const DrawContext& context, const CourseState& course) {
    Picture picture;
    float y = 14;
    if (course.open == nullptr)
        y = draw_contents(picture, context, course, y);
    else if (course.page == 0)
        y = draw_opening(picture, context, course, y);
    else if (course.step() != nullptr)
        y = draw_step(picture, context, course, y);
    else if (course.question() != nullptr)
        y = draw_question(picture, context, course, y);
    else
        y = draw_summary(picture, context, course, y);
    picture.scene.width = context.width;
    picture.scene.height = y + 10;
    return picture;
}

Picture draw_course_foot(const DrawContext& context, const CourseState& course) {
    Picture picture;
    picture.scene.width = context.width;
    picture.scene.height = course_foot;
    if (course.open == nullptr)
        return picture;
    draw_hairline(picture, context, 0, 0.5F, context.width);
    const float y = 14, right = context.width - course_pad;
    const bool first = course.page == 0, last = course.page + 1 >= course.pages();
    LessonAction back = TurnPage{-1}, on = TurnPage{1};
    if (first)
        back = CloseLesson{};
    const auto following =
        last ? lessons_after(course) : std::vector<std::shared_ptr<const lesson::Lesson>>{};
    if (last)
        on = following.empty() ? LessonAction(CloseLesson{}) : OpenLesson{following.front()->id};
    draw_button(picture, context, {course_pad, y, 84, 34},
                first ? tr("common.contents", "Contents") : tr("common.back", "Back"), back, false,
                first ? tr("common.all_lessons", "All lessons")
                      : with_key(tr("lesson_panel.page_before", "Previous page"), "page before"));
    const bool quiz_next = course.step() != nullptr && course.page == course.steps();
    const std::string next = last && following.empty()      ? tr("lesson_panel.finish", "Finish")
                             : last                         ? tr("lesson_panel.next_lesson", "Next lesson")
                             : first                        ? tr("common.begin", "Begin")
                             : course.question() != nullptr ? tr("common.next_2", "Next")
                             : quiz_next                    ? tr("lesson_panel.quiz", "To the quiz")
                                                            : tr("lesson_panel.next_step", "Next step");
    const float wide = std::max(104.0F, context.measure(next, figure::Font::ui_semibold, 13) + 28);
    draw_button(picture, context, {right - wide, y, wide, 34}, next, on, true,
                last
                    ? (following.empty() ? tr("lesson_panel.back_list_lessons", "Back to the list of lessons")
                                         : following.front()->title)
                    : with_key(tr("lesson_panel.next_page", "Next page"), "next page"));
    return picture;
}

} // namespace headscope::app
