#include "app/draw/kit/controls.h"
#include "app/draw/kit/rich_text.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/questions/answer_text.h"
#include "core/lesson/questions/grade.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace headscope::app {

namespace {

constexpr float answer_height = 30, answer_gap = 8;

/// The column in which a question is answered.
class AnswerColumn {
public:
    AnswerColumn(Picture& picture, const DrawContext& context, const CourseState& course,
                 const lesson::StepQuestion& question, const lesson::LessonState& numbers, float x, float y,
                 float width)
        : picture_(picture), context_(context), course_(course), question_(question), numbers_(numbers),
          x_(x), y_(y), width_(width) {}

    float draw() {
        const LessonProgress progress = course_.of_open();
        done_ = progress.done.contains(question_.id);
        if (const auto given = progress.given.find(question_.id); given != progress.given.end())
            given_ = given->second;
        if (const auto* const choice = std::get_if<lesson::ChoiceTask>(&question_.task)) {
            draw(*choice);
            show_link();
        } else if (done_) {
            accepted();
        } else {
            std::visit([this](const auto& task) { draw(task); }, question_.task);
            verdict();
        }
        return y_;
    }

private:
    std::string draft() const {
        const auto found = course_.drafts.find(question_.id);
        return found == course_.drafts.end() ? std::string() : found->second;
    }
    const std::vector<std::string>& tries() const {
        static const std::vector<std::string> none;
        const auto found = course_.tries.find(question_.id);
        return found == course_.tries.end() ? none : found->second;
    }
    bool tried(const std::string& answer) const {
        return std::ranges::find(tries(), answer) != tries().end();
    }
    std::string name(const std::string& part) const { return question_.id + ": " + part; }

    /// A button whose name is unique among those of all questions of the page. Returns its right edge.
    float button(float x, float y, const std::string& label, const std::string& part,
                 const LessonAction& action, bool on = false, figure::Color stroke = 0, float radius = 6) {
        const Theme& theme = context_.theme;
        const float width = context_.measure(label, figure::Font::ui_medium, 13) + 20;
        const figure::Rect area{x, y, width, answer_height};
        picture_.scene.add(figure::RectItem{.area = area,
                                            .fill = on ? theme.ink : theme.raise,
                                            .stroke = on            ? theme.ink
                                                      : stroke == 0 ? theme.line2
                                                                    : stroke,
                                            .radius = radius});
        draw_text(picture_, context_, area.x + width / 2, figure::baseline_for(y + answer_height / 2, 13),
                  label, figure::Font::ui_medium, 13, on ? theme.canvas : theme.ink, figure::Align::center);
        picture_.add_hotspot(area, name(part), action);
        return area.right();
    }

    float button_width(const std::string& label) const {
        return context_.measure(label, figure::Font::ui_medium, 13) + 20;
    }

    void check_button(float x) {
        button(x, y_, tr("lesson_question.check", "Check"), "check", CheckAnswer{question_.id});
    }

    /// The link that gives the answer away, on its own line.
    void show_link() {
        if (done_ || !context_.controls)
            return;
        const std::string label = tr("lesson_question.show_answer", "Show the answer");
        const float width = context_.measure(label, figure::Font::ui, 12.5F), baseline = y_ + 14;
        draw_text(picture_, context_, x_, baseline, label, figure::Font::ui, 12.5F, context_.theme.muted);
        picture_.scene.add(
            figure::LineItem{{x_, baseline + 3}, {x_ + width, baseline + 3}, context_.theme.line2, 1});
        picture_.add_hotspot(
            {x_ - 4, baseline - 15, width + 8, 22}, name("show"), ShowAnswer{question_.id},
            tr("lesson_question.shown_not_earned", "Shows the right answer. It does not count as yours"));
        y_ += 26;
    }

    void draw(const lesson::NumberTask&) { typed(tr("lesson_question.number", "Your answer, a number")); }
    void draw(const lesson::ShapeTask&) {
        typed(tr("lesson_question.shape", "Your answer, the sizes, such as 3 x 5"));
    }
    /// A field and the button that checks it.
    void typed(const std::string& tip) {
        constexpr float field_width = 112;
        const std::string text = draft();
        draw_text(picture_, context_, x_, y_ + 12, tip, figure::Font::ui, 12.5F, context_.theme.muted);
        y_ += 21;
        picture_.fields.push_back(
            {.area = {x_, y_, field_width, answer_height},
             .label = name("answer"),
             .text = text,
             .action = [id = question_.id](const std::string& entered) -> Action {
                 return LessonAction(CheckAnswer{id, entered});
             },
             .leave = [id = question_.id](const std::string& entered) -> Action {
                 return LessonAction(DraftAnswer{id, entered});
             },
             .tip = tr("lesson_question.press_enter", "Type your answer and press Enter"),
             .keeps_keyboard = true});
        check_button(x_ + field_width + answer_gap);
        y_ += answer_height + answer_gap;
    }

    void draw(const lesson::CellTask& task) {
        y_ = draw_paragraph(picture_, context_, x_, y_ + 13, width_,
                            tr("lesson_question.click_cell", "Click a cell of {} on the canvas.",
                               lesson::target_text(task.among)),
                            figure::Font::ui_medium, 13, 18, context_.theme.text) -
             7;
    }

    void draw(const lesson::TokenTask& task) {
        std::vector<std::string> chosen = lesson::parts_of(draft(), ',');
        std::erase(chosen, "");
        float x = x_;
        for (std::int64_t at = 0; at < numbers_.problem.dims.Tq; ++at) {
            const std::string label = numbers_.problem.query_label(at), answer = std::to_string(at);
            if (x > x_ && x + button_width(label) > x_ + width_) {
                x = x_;
                y_ += answer_height + answer_gap;
            }
            const bool on = task.many && std::ranges::find(chosen, answer) != chosen.end();
            LessonAction action = AnswerStep{question_.id, answer};
            if (task.many) {
                std::vector<std::string> next = chosen;
                if (std::erase(next, answer) == 0)
                    next.push_back(answer);
                action = DraftAnswer{question_.id, joined(next)};
            }
            const bool wrong = !task.many && tried(answer);
            x = button(x, y_, label, "word " + answer, action, on, wrong ? context_.theme.bad : 0,
                       answer_height / 2) +
                answer_gap;
        }
        y_ += answer_height + answer_gap;
        if (task.many) {
            check_button(x_);
            y_ += answer_height + answer_gap;
        }
    }

    void draw(const lesson::OrderTask& task) {
        const std::vector<std::size_t> chosen = lesson::numbers_in(draft());
        draw_text(picture_, context_, x_, y_ + 12,
                  tr("lesson_question.order", "Click from the largest to the smallest"), figure::Font::ui,
                  12.5F, context_.theme.muted);
        y_ += 21;
        const std::string seed = lesson::order_seed(course_.open->id, question_.id);
        for (const std::size_t item : lesson::shuffled(seed, task.items.size()))
            item_row(task.items[item], item, chosen);
        check_button(x_);
        y_ += answer_height + answer_gap;
    }
    /// An item with its place in the chosen order. A click adds it, a second click removes it.
    void item_row(const lesson::OrderTask::Item& item, std::size_t index,
                  const std::vector<std::size_t>& chosen) {
        const Theme& theme = context_.theme;
        constexpr float text_inset = 40, badge = 20;
        std::vector<std::string> next;
        for (const std::size_t one : chosen)
            if (one != index)
                next.push_back(std::to_string(one + 1));
        const auto place = std::ranges::find(chosen, index);
        const bool on = place != chosen.end();
        if (!on)
            next.push_back(std::to_string(index + 1));
        Picture words;
        const float baseline =
            draw_spans(words, context_, x_ + text_inset, y_ + 20, width_ - text_inset - 10, item.text,
                       lesson_state(context_.shown, context_.view, course_),
                       {.size = 13.5F, .line = 19, .color = theme.ink, .strong = theme.ink});
        const figure::Rect area{x_, y_, width_, baseline - y_ - 8};
        picture_.scene.add(
            figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
        const float middle = y_ + area.h / 2;
        picture_.scene.add(figure::RectItem{.area = {x_ + 10, middle - badge / 2, badge, badge},
                                            .fill = on ? theme.ink : figure::Color{0},
                                            .stroke = on ? theme.ink : theme.line2,
                                            .radius = badge / 2});
        if (on)
            draw_text(picture_, context_, x_ + 10 + badge / 2, figure::baseline_for(middle, 12),
                      std::to_string(place - chosen.begin() + 1), figure::Font::ui_semibold, 12, theme.canvas,
                      figure::Align::center);
        picture_.append(std::move(words), 0, 0);
        picture_.add_hotspot(area, name("item " + std::to_string(index + 1)),
                             DraftAnswer{question_.id, joined(next)});
        y_ = area.bottom() + answer_gap;
    }

    void draw(const lesson::ChoiceTask& task) {
        const std::string seed = lesson::order_seed(course_.open->id, question_.id);
        for (const std::size_t c : lesson::screen_order(seed, task.choices)) {
            const std::string answer = std::to_string(c + 1);
            const bool given = given_ && given_->text == answer, wrong = tried(answer);
            y_ = draw_choice(picture_, context_, course_,
                             {.choice = task.choices[c],
                              .open = !done_ && !wrong,
                              .judged = wrong || (done_ && task.choices[c].correct),
                              .chosen = wrong || (given && !given_->shown),
                              .name = name("choice " + answer),
                              .action = AnswerStep{question_.id, answer}},
                             x_, y_, width_);
        }
        y_ += 2;
    }

    /// The verdict on the last try, and the link to the answer.
    void verdict() {
        const Theme& theme = context_.theme;
        if (const auto hint = course_.hints.find(question_.id); hint != course_.hints.end())
            paragraph(hint->second, theme.text);
        else if (!tries().empty())
            try {
                const lesson::Grade grade = lesson::grade(question_, tries().back(), numbers_);
                paragraph(grade.hint, theme.bad);
                if (grade.why != nullptr)
                    y_ = draw_spans(picture_, context_, x_, y_ + 14, width_, *grade.why,
                                    lesson_state(context_.shown, context_.view, course_),
                                    {.size = 13.5F, .line = 19, .color = theme.text, .strong = theme.ink}) -
                         8;
            } catch (const Error& fault) {
                paragraph(fault.what(), theme.bad);
            }
        show_link();
    }
    void paragraph(const std::string& text, figure::Color colour) {
        y_ = draw_paragraph(picture_, context_, x_, y_ + 14, width_, text, figure::Font::ui_medium, 13, 18,
                            colour) -
             8;
    }

    void accepted() {
        if (!given_)
            return;
        const std::string text = lesson::printed_answer(question_, given_->text, numbers_);
        paragraph(given_->shown ? tr("lesson_question.the_answer", "The answer: {}", text)
                                : tr("lesson_question.your_answer", "Your answer: {}", text),
                  given_->shown ? context_.theme.text : context_.theme.good);
        y_ += 4;
    }

    Picture& picture_;
    const DrawContext& context_;
    const CourseState& course_;
    const lesson::StepQuestion& question_;
    const lesson::LessonState& numbers_;
    float x_, y_, width_;
    bool done_ = false;
    std::optional<GivenAnswer> given_;
};

} // namespace

float draw_answer(Picture& picture, const DrawContext& context, const CourseState& course,
                  const lesson::StepQuestion& question, float x, float y, float width) {
    if (const auto numbers = own_state(course))
        return AnswerColumn(picture, context, course, question, *numbers, x, y, width).draw();
    draw_text(picture, context, x, y + 14,
              tr("lesson_question.computing", "Computing the numbers of this page"), figure::Font::ui, 13,
              context.theme.muted);
    return y + 24;
}

} // namespace headscope::app
