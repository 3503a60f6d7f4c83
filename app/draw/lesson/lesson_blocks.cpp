#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/formula_layout.h"
#include "app/draw/kit/text_column.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

constexpr float block_inset = 14.0F;

class BlockColumn : public TextColumn {
public:
    BlockColumn(Picture& picture, const DrawContext& context, const CourseState& course,
                const lesson::LessonState& state, float x, float y, float width)
        : TextColumn(picture, context, state, x, y, width), course_(course) {}

    float all(const std::vector<lesson::LessonBlock>& blocks) {
        for (const lesson::LessonBlock& block : blocks)
            std::visit([this](const auto& one) { draw(one); }, block);
        return y_;
    }

private:
    using TextColumn::draw;

    void draw(const lesson::FormulaBlock& block) {
        try {
            const lesson::Formula formula = lesson::parse_formula(block.tex);
            FormulaBox box = set_formula(formula, context_, 16, context_.theme.ink);
            if (box.width > width_) // shrinks a formula that is wider than the panel
                box = set_formula(formula, context_, std::max(16 * width_ / box.width, 11.0F),
                                  context_.theme.ink);
            y_ += 6;
            picture_.scene.append(box.scene, x_ + std::max(0.0F, (width_ - box.width) / 2), y_ + box.ascent);
            y_ += box.ascent + box.descent + 14;
        } catch (const Error&) {
            draw(lesson::CodeBlock{.language = "tex", .text = block.tex});
        }
    }

    /// A bordered box with a name. `fill` draws the content, which is added after the frame.
    template<class Inside>
    void boxed(const std::string& name, figure::Color stroke, const Inside& fill) {
        const float top = y_;
        Picture inner;
        BlockColumn column(inner, context_, course_, state_, x_ + block_inset, top + 34,
                           width_ - 2 * block_inset);
        column.link_terms(linked_terms_);
        fill(column);
        if (inner.scene.items.empty())
            return; // an empty box would be only a frame
        const float height = column.y_ - top + 8;
        picture_.scene.add(figure::RectItem{
            .area = {x_, top, width_, height}, .fill = context_.theme.raise, .stroke = stroke, .radius = 6});
        draw_text(picture_, context_, x_ + block_inset, top + 23, name, figure::Font::ui_medium, 12.5F,
                  context_.theme.muted);
        picture_.append(std::move(inner), 0, 0);
        y_ = top + height + 12;
    }

    void draw(const lesson::Callout& callout) {
        if (callout.when) {
            if (!lesson::is_shown(callout, state_))
                return;
            const lesson::LessonState inside = lesson::state_inside(callout, state_);
            BlockColumn column(picture_, context_, course_, inside, x_, y_, width_);
            column.link_terms(linked_terms_);
            y_ = column.all(callout.blocks);
            return;
        }
        // Translators: headings of a box: something to try, a warning, a remark
        const std::string name = callout.kind == "try"       ? tr("common.try", "Try it")
                                 : callout.kind == "warning" ? tr("lesson_blocks.take_care", "Take care")
                                                             : tr("lesson_blocks.note", "Note");
        boxed(name, context_.theme.line, [&](BlockColumn& column) { column.all(callout.blocks); });
    }

    /// Marks the area drawn since `top` as the page's open task, unless an earlier task is marked.
    void point_at_task(float top) {
        if (picture_.pointed_area.w == 0)
            picture_.pointed_area = {x_, top, width_, y_ - top};
    }

    void draw(const lesson::Gate& gate) {
        const bool met = state_.done.contains(gate_name(gate));
        const float top = y_;
        boxed(met ? tr("lesson_blocks.done", "Done ✓") : tr("common.turn", "Your turn"),
              met ? context_.theme.good : context_.theme.line2, [&](BlockColumn& column) {
                  column.draw(lesson::Paragraph{
                      {lesson::Span{.style = lesson::SpanStyle::plain, .text = gate.task}}});
                  if (is_on(gate.solution))
                      column.button(tr("lesson_blocks.take_back", "Take it back"), ReturnToLesson{},
                                    back_words());
                  else if (!met)
                      column.button(tr("lesson_blocks.show_me", "Show me"), ShowScene{gate.solution},
                                    tr("lesson_blocks.does_it_for_you", "Does it for you"));
              });
        if (!met)
            point_at_task(top);
        else if (!gate.after.empty())
            draw(lesson::Paragraph{gate.after});
    }

    void draw(const lesson::FillTable& table) {
        const bool met = state_.done.contains(table.id);
        const float top = y_;
        boxed(met ? tr("lesson_blocks.all_right", "All right ✓") : tr("lesson_blocks.fill", "Fill in"),
              met ? context_.theme.good : context_.theme.line2, [&](BlockColumn& column) {
                  column.draw(lesson::Paragraph{
                      {lesson::Span{.style = lesson::SpanStyle::plain, .text = table.task}}});
                  column.cells(table);
              });
        if (!met)
            point_at_task(top);
    }

    void draw(const lesson::StepQuestion& question) {
        const bool met = state_.done.contains(question.id);
        const auto given = course_.of_open().given;
        const auto answer = given.find(question.id);
        const bool shown = answer != given.end() && answer->second.shown;
        const float top = y_;
        // Translators: headings of a question's box: before, after a right answer, after "Show the answer"
        boxed(!met    ? tr("lesson_blocks.question", "Question")
              : shown ? tr("lesson_blocks.answer_shown", "Answer shown")
                      : tr("lesson_blocks.right_answer", "Right ✓"),
              met && !shown ? context_.theme.good : context_.theme.line2, [&](BlockColumn& column) {
                  column.draw(lesson::Paragraph{question.text});
                  column.y_ = draw_answer(column.picture_, context_, course_, question, column.x_, column.y_,
                                          column.width_);
              });
        if (!met)
            point_at_task(top);
        else if (!question.after.empty())
            draw(lesson::Paragraph{question.after});
    }

    void draw(const lesson::Claim& claim) {
        if (claim.source.empty())
            return;
        y_ = draw_paragraph(picture_, context_, x_, y_ + 8, width_,
                            tr("lesson_blocks.source", "Source: {}", claim.source), figure::Font::ui, 12, 17,
                            context_.theme.muted) -
             2;
    }

    /// A field for each cell, named by its row and column. Tab moves to the next one.
    void cells(const lesson::FillTable& table) {
        lesson::CellRange range;
        std::vector<float> values;
        try {
            range = lesson::resolve(table.cells, state_.problem);
            values = lesson::values_of(range, state_.problem, state_.trace);
        } catch (const Error& fault) {
            draw(lesson::Paragraph{{lesson::Span{.style = lesson::SpanStyle::plain, .text = fault.what()}}});
            return;
        }
        const TensorInfo& info = tensor_info(table.cells.tensor);
        const auto row_axis = static_cast<std::size_t>(info.rank() - 2), col_axis = row_axis + 1;
        const int columns = static_cast<int>(range.count[col_axis]), count = static_cast<int>(values.size());
        const auto label = [&](std::size_t axis, int n) {
            const std::int64_t at = range.first[axis] + n;
            return shortened(info.axes[axis] == Axis::Tq   ? state_.problem.query_label(at)
                             : info.axes[axis] == Axis::Tk ? state_.problem.key_label(at)
                                                           : std::to_string(at),
                             8);
        };
        constexpr float gap = 6, height = 28, pitch = 44;
        float labels = 0;
        for (int row = 0; row * columns < count; ++row)
            labels = std::max(labels, context_.measure(label(row_axis, row), figure::Font::ui, 12.5F) + 8);
        const float width = std::min(
            (width_ - labels - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns), 64.0F);
        const auto name = [&](int n) {
            return n < 0 || n >= count ? std::string() : table.id + " " + std::to_string(n);
        };
        for (int col = 0; col < columns; ++col)
            draw_text(picture_, context_, x_ + labels + static_cast<float>(col) * (width + gap) + width / 2,
                      y_ + 10, label(col_axis, col), figure::Font::ui, 12.5F, context_.theme.muted,
                      figure::Align::center);
        y_ += 16;
        const auto typed = course_.typed.find(table.id);
        for (int n = 0; n < count; ++n) {
            std::string text;
            if (typed != course_.typed.end())
                if (const auto cell = typed->second.find(n); cell != typed->second.end())
                    text = cell->second;
            const figure::Rect area{x_ + labels + static_cast<float>(n % columns) * (width + gap),
                                    y_ + static_cast<float>(n / columns) * pitch, width, height};
            if (n % columns == 0)
                draw_text(picture_, context_, x_, figure::baseline_for(area.y + height / 2, 12.5F),
                          label(row_axis, n / columns), figure::Font::ui, 12.5F, context_.theme.muted);
            using Mark = TextField::Mark;
            const Mark mark = text.empty() ? Mark::none
                              : lesson::is_correct(table, text, values[static_cast<std::size_t>(n)])
                                  ? Mark::right
                                  : Mark::wrong;
            picture_.fields.push_back({.area = area,
                                       .label = name(n),
                                       .text = text,
                                       .action =
                                           [id = table.id, n](const std::string& entered) {
                                               return FillCell{id, n, entered};
                                           },
                                       .tip = mark == Mark::right ? tr("lesson_blocks.right_correct", "Right")
                                              : mark == Mark::wrong
                                                  ? tr("lesson_blocks.not_yet_engine_another",
                                                       "Not yet: the computed number is different")
                                                  : "",
                                       .mark = mark,
                                       .before = name(n - 1),
                                       .after = name(n + 1)});
        }
        y_ += static_cast<float>((count + columns - 1) / columns) * pitch + 2;
    }

    void draw(const lesson::LessonPanel& panel) {
        y_ = draw_lesson_panel(picture_, context_, course_, panel, x_, y_, width_);
    }

    void draw(const lesson::ShowMe& show) {
        if (is_on(show.scene))
            button(show.label, ReturnToLesson{}, back_words(), true);
        else
            button(show.label, ShowScene{show.scene},
                   lesson::changes_problem(show.scene)
                       ? tr("lesson_blocks.changes_problem_second",
                            "Changes the problem; a second click undoes it")
                       : tr("lesson_blocks.shows_another_place_same",
                            "Shows another part of the same problem; a second click returns"));
    }

    /// Returns true if this scene's button was pressed last and the problem on screen is still the one that
    /// it set.
    bool is_on(const lesson::StepScene& scene) const {
        return scene.line > 0 && button_shown(course_, *context_.shown.document) == scene.line;
    }
    static std::string back_words() {
        return tr("common.lessons_sentence_weights_view",
                  "Restores the sentence, parameters and view of the lesson");
    }

    void button(const std::string& label, const LessonAction& action, const std::string& tip,
                bool on = false) {
        const float width = draw_text_button(picture_, context_, x_, y_, label, on, action, tip);
        // Translators: beside a button that is pressed down
        const std::string again = tr("lesson_blocks.click_take_back", "on; click to undo");
        if (on && width + 10 + context_.measure(again, figure::Font::ui, 12) < width_)
            draw_text(picture_, context_, x_ + width + 10, figure::baseline_for(y_ + 12, 12), again,
                      figure::Font::ui, 12, context_.theme.muted);
        y_ += 34;
    }

    const CourseState& course_;
};

} // namespace

float draw_blocks(Picture& picture, const DrawContext& context, const CourseState& course,
                  const std::vector<lesson::LessonBlock>& blocks, float x, float y, float width) {
    const lesson::LessonState state = lesson_state(context.shown, context.view, course);
    std::set<std::string> met;
    BlockColumn column(picture, context, course, state, x, y, width);
    column.link_terms(&met);
    return column.all(blocks);
}

} // namespace headscope::app
