#include "app/draw/panels/start_panel.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/lesson/lesson_card.h"
#include "app/draw/panels/tour_panel.h"
#include "app/state/files/opened_path.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"
#include "core/text/preset.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

namespace headscope::app {

namespace {

constexpr float start_pad = 24, inset = 14, card_gap = 12, text_line = 18, text_size = 12.5F;
constexpr float button_high = 34, recent_high = 32;
constexpr std::size_t most_recent_rows = 6;

/// Returns true if the three cards fit with their full content. In a low window they are shortened, so that
/// all of them are visible.
bool is_roomy(const DrawContext& context) {
    constexpr float cards_high = 750;
    return context.height >= cards_high;
}

/// Draws the content of a card from y = area.y down. Returns its lower edge.
using Fill = std::function<float(Picture& card, const figure::Rect& area)>;

/// A framed section of the page with a heading. Returns the top of the next section.
float draw_card(Picture& picture, const DrawContext& context, float y, const std::string& title,
                const Fill& fill) {
    const float width = context.width - 2 * start_pad;
    Picture content;
    draw_text(content, context, start_pad + inset, y + 25, title, figure::Font::ui_semibold, 14.5F,
              context.theme.ink);
    const float end = fill(content, {start_pad + inset, y + 34, width - 2 * inset, 0}) + inset;
    picture.scene.add(figure::RectItem{.area = {start_pad, y, width, end - y},
                                       .fill = context.theme.raise,
                                       .stroke = context.theme.line,
                                       .radius = 6});
    picture.append(std::move(content), 0, 0);
    return end + card_gap;
}

/// Wrapped small text. Returns the top of the next item.
float draw_note(Picture& card, const DrawContext& context, const figure::Rect& area, float y,
                const std::string& text) {
    return draw_paragraph(card, context, area.x, y + 13, area.w, text, figure::Font::ui, text_size, text_line,
                          context.theme.text) -
           5;
}

struct StartButton {
    std::string label;
    Action action;
    std::string tip;
    bool primary = false;
};

/// Buttons that fill a row, each with the same padding. Returns their lower edge.
float draw_buttons(Picture& card, const DrawContext& context, const figure::Rect& area, float y,
                   const std::vector<StartButton>& buttons) {
    constexpr float between = 8;
    const auto text = [&](const StartButton& button) {
        return context.measure(button.label, figure::Font::ui_semibold, 13);
    };
    const auto count = static_cast<float>(buttons.size());
    float room = area.w - between * (count - 1);
    for (const StartButton& button : buttons)
        room -= text(button);
    for (float x = area.x; const StartButton& button : buttons) {
        const float width = text(button) + room / count;
        draw_button(card, context, {x, y, width, button_high}, button.label, button.action, button.primary,
                    button.tip);
        x += width + between;
    }
    return y + button_high;
}

float draw_welcome(Picture& picture, const DrawContext& context, float y) {
    const Theme& theme = context.theme;
    const Document& document = *context.shown.document;
    const float width = context.width - 2 * start_pad;
    y = draw_paragraph(picture, context, start_pad, y + 24, width,
                       tr("start_panel.watch_attention_happen", "Watch attention happen"),
                       figure::Font::ui_semibold, 20, 26, theme.ink);
    std::string text = tr("start_panel.three_ways_begin_open",
                          "Three ways to begin. Your current work stays open until you choose.");
    if (document.is_experiment() && !document.recipe.sentence.empty()) {
        text = tr("start_panel.small_model_reads_every",
                  "Attention over “{}”. Change a number of the input, and every later number follows.",
                  shortened(document.recipe.sentence, 40));
        if (is_roomy(context))
            text +=
                " " + tr("start_panel.point_cell_see_how",
                         "Hover over a cell to see how it was computed. Use → and ← to move between stages.");
    }
    return draw_paragraph(picture, context, start_pad, y, width, text, figure::Font::ui, 13.5F, 20,
                          theme.text) -
           1;
}

float draw_sentence_card(Picture& card, const DrawContext& context, const figure::Rect& area) {
    const Document& document = *context.shown.document;
    const text::PresetInfo* const preset = text::find_preset(document.recipe.preset);
    const bool has_field =
        document.is_checkpoint() || (document.is_experiment() && document.recipe.base == nullptr &&
                                     (preset == nullptr || !preset->fixed_sentence));
    float y = area.y;
    if (is_roomy(context))
        y = draw_note(card, context, area, y,
                      tr("start_panel.field_top_numbers_follow",
                         "Use the field at the top. All numbers are recomputed as you type."));
    const StartButton type{
        tr("start_panel.start_typing", "Start typing"), TypeSentence{},
        tr("start_panel.puts_keyboard_field_top", "Moves the cursor to the field at the top (/)")};
    const StartButton anew{tr("start_panel.new_sentence", "New sentence"), NewProject{},
                           tr("start_panel.back_sentence_program_began",
                              "Returns to the initial sentence, which you can overwrite")};
    return draw_buttons(card, context, area, y + 4, {has_field ? type : anew});
}

/// One bar per lesson: full if it was completed, half if it was started.
void draw_lesson_marks(Picture& card, const DrawContext& context, const CourseState& course,
                       const figure::Rect& area) {
    constexpr float between = 4;
    const auto count = static_cast<float>(course.lessons.size());
    const float width = (area.w - between * (count - 1)) / count;
    for (float x = area.x; const auto& lesson : course.lessons) {
        const float part = course.fraction_opened(*lesson);
        const figure::Rect bar{x, area.y, width, 4};
        card.scene.add(figure::RectItem{.area = bar, .fill = context.theme.line2, .radius = 2});
        if (part > 0)
            card.scene.add(figure::RectItem{.area = {x, area.y, part < 1 ? width / 2 : width, 4},
                                            .fill = context.theme.ink,
                                            .radius = 2});
        card.tips.push_back({{x - between / 2, area.y - 6, width + between, 16}, lesson->title});
        x += width + between;
    }
}

std::string go_on_label(const CourseState& course, const lesson::Lesson& next) {
    if (course.fraction_opened(next) == 0)
        return next.number >= 0 ? tr("start_panel.start_lesson", "Start lesson {}", next.number)
                                : tr("start_panel.start_verb", "Start");
    const int page = course.progress_of(next).page, steps = static_cast<int>(next.steps.size());
    return page < 1       ? tr("common.go", "Resume")
           : page > steps ? tr("start_panel.go_quiz", "Resume quiz")
                          : tr("start_panel.go_step", "Resume step {}", page);
}

float draw_course_card(Picture& card, const DrawContext& context, const CourseState& course,
                       const figure::Rect& area, bool with_picture) {
    const Theme& theme = context.theme;
    const auto read = std::ranges::count_if(
        course.lessons, [&](const auto& lesson) { return course.fraction_opened(*lesson) == 1; });
    float y = area.y;
    if (is_roomy(context))
        y = draw_note(card, context, area, y,
                      read > 0 ? tr("start_panel.lessons_live_engine_done",
                                    "{} lessons with live numbers, {} done", course.lessons.size(), read)
                               : tr("start_panel.lessons_live_engine", "{} lessons with live numbers",
                                    course.lessons.size()));
    draw_lesson_marks(card, context, course, {area.x, y + 6, area.w, 0});
    y += 20;
    if (!context.shown.document->is_experiment()) {
        y = draw_note(card, context, area, y,
                      tr("start_panel.lessons_problems_own", "Each lesson has its own numbers."));
        return draw_buttons(card, context, area, y + 4,
                            {{tr("start_panel.course", "To the course"), NewProject{.to_course = true},
                              tr("start_panel.closes_open_lessons_begin",
                                 "Closes the current file; the lessons are then listed here"),
                              true}});
    }
    StartButton all{tr("common.all_lessons", "All lessons"), CloseLesson{},
                    tr("common.list_lessons", "The list of lessons")};
    const auto next = course.next();
    if (next == nullptr) {
        all.primary = true;
        return draw_buttons(card, context, area, y, {all});
    }
    const float baseline = y + 13;
    // Translators: minutes
    const std::string minutes = tr("common.min", "{} min", next->minutes), name = next->title,
                      title = (next->number > 0 ? std::to_string(next->number) + "  " : "") + name;
    const float right = draw_text(card, context, area.right(), baseline, minutes, figure::Font::ui, text_size,
                                  theme.muted, figure::Align::right);
    const float room = area.w - right - 10;
    draw_text(card, context, area.x, baseline, fitted(context, title, figure::Font::ui_medium, 13, room),
              figure::Font::ui_medium, 13, theme.ink);
    card.tips.push_back({{area.x, y, room, text_line}, title + ". " + next->summary});
    if (with_picture) { // the lesson's, with its sentence beside it
        constexpr float gap = 12;
        draw_lesson_picture(card, context, course, next->id, area.x, y + 25);
        const float beside = area.x + lesson_picture_wide + gap;
        const float end =
            draw_note(card, context, {beside, y, area.right() - beside, 0}, y + 24, next->summary);
        y = std::max(y + 25 + lesson_picture_high - 18, end - 14);
    }
    return draw_buttons(card, context, area, y + 27,
                        {{go_on_label(course, *next), OpenLesson{next->id}, name, true}, all});
}

float draw_model_card(Picture& card, const DrawContext& context, const FilesState& files,
                      const figure::Rect& area) {
    const bool packaged = !files.packaged.empty();
    const std::string name = packaged ? files.packaged.front() : "";
    float y = area.y;
    if (is_roomy(context) || !packaged)
        y = draw_note(
            card, context, area, y,
            packaged
                ? tr("start_panel.comes_program_small_language",
                     "{} is a small language model that ships with Headscope. Explore it head by head.", name)
                : tr("start_panel.folder_checkpoint_hugging",
                     "The folder of a checkpoint from Hugging Face, with config.json and "
                     "the weights."));
    if (packaged)
        y = draw_buttons(card, context, area, y + 4,
                         {{tr("common.open", "Open {}", name), OpenPath{name},
                           tr("start_panel.all_heads_predicts", "All its heads and its predictions")}}) +
            4;
    std::vector<StartButton> buttons{
        {tr("start_panel.from_hub", "From the Hub…"), HubAction{HubAction::Kind::open},
         tr("start_panel.from_hub_tip", "A model of the Hugging Face Hub by its name, such as gpt2")}};
    buttons.push_back({tr("start_panel.other_file", "Other file…"), ChooseProject{},
                       with_key(tr("start_panel.checkpoints_folder_gguf_file",
                                   "A checkpoint's folder, a GGUF file, attention weights, a project, or a "
                                   "file with your own tensors"),
                                "open")});
    return draw_buttons(card, context, area, y + 4, buttons);
}

std::string kind_of_recent(const std::string& path) {
    switch (kind_of_ending(path)) {
    case PathKind::project:
        return tr("start_panel.project", "project");
    case PathKind::lesson:
        return tr("common.lesson", "lesson");
    case PathKind::problem:
    case PathKind::tensors:
    case PathKind::patch:
    case PathKind::survey:
        return tr("common.numbers", "numbers");
    case PathKind::checkpoint:
    case PathKind::folder:
    case PathKind::unknown:
        return tr("start_panel.model",
                  "model"); // only opened folders lack an extension
    }
    return {};
}

float draw_recent(Picture& picture, const DrawContext& context, const std::vector<std::string>& recent,
                  float y) {
    const Theme& theme = context.theme;
    const float width = context.width - 2 * start_pad, right = start_pad + width;
    draw_text(picture, context, start_pad, y + 19, tr("common.recent", "Recent"), figure::Font::ui_semibold,
              13, theme.ink);
    y += 28;
    for (std::size_t i = 0; i < std::min(recent.size(), most_recent_rows); ++i, y += recent_high) {
        draw_hairline(picture, context, start_pad, y, width);
        const std::string name = text::plain_text(std::filesystem::path(recent[i]).filename().string());
        const float baseline = figure::baseline_for(y + recent_high / 2, 13);
        const float kind = draw_text(picture, context, right, baseline, kind_of_recent(recent[i]),
                                     figure::Font::ui, text_size, theme.muted, figure::Align::right);
        draw_text(picture, context, start_pad, baseline,
                  fitted(context, name, figure::Font::ui_medium, 13, width - kind - 12),
                  figure::Font::ui_medium, 13, theme.ink);
        picture.add_hotspot({start_pad, y, width, recent_high}, "recent " + std::to_string(i + 1),
                            OpenPath{recent[i]}, text::plain_text(recent[i]));
    }
    return y + card_gap;
}

} // namespace

Picture draw_start(const DrawContext& context, const CourseState& course, const FilesState& files) {
    if (shows_tour(context))
        return draw_tour(context, course, files);
    Picture picture;
    float y = draw_welcome(picture, context, 14);
    y = draw_card(
        picture, context, y, tr("start_panel.type_own_sentence", "Type your own sentence"),
        [&](Picture& card, const figure::Rect& area) { return draw_sentence_card(card, context, area); });
    if (!course.lessons.empty())
        y = draw_card(picture, context, y, tr("common.take_course", "Take the course"),
                      [&](Picture& card, const figure::Rect& area) {
                          return draw_course_card(card, context, course, area,
                                                  is_roomy(context) && files.recent.empty());
                      });
    y = draw_card(
        picture, context, y, tr("start_panel.open_trained_model", "Open a trained model"),
        [&](Picture& card, const figure::Rect& area) { return draw_model_card(card, context, files, area); });
    if (!files.recent.empty())
        y = draw_recent(picture, context, files.recent, y);
    picture.scene.width = context.width;
    picture.scene.height = y;
    return picture;
}

Picture draw_start_foot(const DrawContext& context) {
    Picture picture;
    const Theme& theme = context.theme;
    const bool on = context.view.start_page;
    const figure::Rect box{start_pad, 15, 16, 16};
    draw_hairline(picture, context, 0, 0.5F, context.width);
    picture.scene.add(figure::RectItem{.area = box,
                                       .fill = on ? theme.ink : theme.raise,
                                       .stroke = on ? theme.ink : theme.muted,
                                       .radius = 4});
    if (on) {
        const figure::Point knee{box.x + 7, box.y + 11.5F};
        picture.scene.add(figure::LineItem{{box.x + 4, box.y + 8}, knee, theme.canvas, 2});
        picture.scene.add(figure::LineItem{knee, {box.x + 12.5F, box.y + 4.5F}, theme.canvas, 2});
    }
    const float width = draw_text(picture, context, box.right() + 8, figure::baseline_for(box.y + 8, 13),
                                  tr("start_panel.show_page_start", "Show this screen at start"),
                                  figure::Font::ui, 13, theme.text);
    picture.add_hotspot(
        {box.x - 6, box.y - 6, 16 + 8 + width + 12, 28}, "show at start", OpenWithStart{!on},
        on ? tr("start_panel.program_opens_latest_file",
                "Off: the program opens with your latest file instead")
           : tr("start_panel.program_opens_page_again", "On: the program opens with this screen again"));
    picture.scene.width = context.width;
    picture.scene.height = start_foot;
    return picture;
}

} // namespace headscope::app
