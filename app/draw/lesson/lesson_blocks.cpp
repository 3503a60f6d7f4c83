#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/formula_layout.h"
#include "app/draw/lesson/lesson_panel.h"
#include "app/draw/lesson/lesson_panels.h"
#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"

#include <algorithm>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float block_text_size = 14.5F, block_text_line = 22.0F;
constexpr float block_inset = 14.0F;

class BlockColumn {
public:
    BlockColumn(Picture& picture, const DrawContext& context, const CourseState& course, float x, float y,
                float width)
        : picture_(picture), context_(context), course_(course),
          state_(lesson_state(context.shown, context.view, course)), x_(x), y_(y), width_(width) {}

    float all(const std::vector<lesson::LessonBlock>& blocks) {
        for (const lesson::LessonBlock& block : blocks)
            std::visit([this](const auto& one) { draw(one); }, block);
        return y_;
    }

private:
    TextStyle body() const {
        return {.size = block_text_size,
                .line = block_text_line,
                .color = context_.theme.text,
                .strong = context_.theme.ink};
    }

    float spans(const lesson::Spans& text, float x, float width, const TextStyle& style) {
        return draw_spans(picture_, context_, x, y_ + style.size, width, text, state_, style) - style.size;
    }

    void draw(const lesson::Paragraph& paragraph) { y_ = spans(paragraph.spans, x_, width_, body()) + 8; }

    void draw(const lesson::Heading& heading) {
        y_ += 6;
        TextStyle style = body();
        style.size = 15.5F;
        style.color = context_.theme.ink;
        lesson::Spans strong = heading.spans;
        for (lesson::Span& span : strong)
            if (span.style == lesson::SpanStyle::plain)
                span.style = lesson::SpanStyle::strong;
        y_ = spans(strong, x_, width_, style) + 4;
    }

    void draw(const lesson::ListBlock& list) {
        int number = 0;
        for (const lesson::Spans& item : list.items) {
            const std::string mark = list.numbered ? std::to_string(++number) + "." : "•";
            draw_text(picture_, context_, x_, y_ + block_text_size, mark, figure::Font::ui, block_text_size,
                      context_.theme.muted);
            y_ = spans(item, x_ + 20, width_ - 20, body()) + 3;
        }
        y_ += 6;
    }

    /// Each column is as wide as its text if all fit, and never narrower than its longest word. Remaining
    /// room is shared in proportion to the text that does not fit yet.
    std::vector<float> column_widths(const lesson::TableBlock& table, std::size_t columns, float room,
                                     float size) const {
        std::vector<float> least(columns, 0.0F), whole(columns, 0.0F);
        const auto look = [&](const std::vector<lesson::Spans>& cells) {
            for (std::size_t c = 0; c < cells.size() && c < columns; ++c) {
                const TextWidth width = width_of(context_, cells[c], state_, size);
                least[c] = std::max(least[c], width.word);
                whole[c] = std::max(whole[c], width.line);
            }
        };
        look(table.header);
        std::ranges::for_each(table.rows, look);
        const float words = std::accumulate(least.begin(), least.end(), 0.0F),
                    lines = std::accumulate(whole.begin(), whole.end(), 0.0F);
        if (lines <= room) {
            whole.back() += room - lines;
            return whole;
        }
        if (words >= room) {
            for (float& width : least)
                width *= room / words;
            return least;
        }
        for (std::size_t c = 0; c < columns; ++c)
            least[c] += (room - words) * (whole[c] - least[c]) / (lines - words);
        return least;
    }

    void draw(const lesson::TableBlock& table) {
        const std::size_t columns = std::max<std::size_t>(table.header.size(), 1);
        const TextStyle style{
            .size = 13, .line = 18, .color = context_.theme.text, .strong = context_.theme.ink};
        const float gap = 12;
        const std::vector<float> widths =
            column_widths(table, columns, width_ - gap * static_cast<float>(columns - 1), style.size);
        const auto row = [&](const std::vector<lesson::Spans>& cells, bool head) {
            const float top = y_;
            float end = y_, x = x_;
            for (std::size_t c = 0; c < cells.size() && c < columns; ++c) {
                TextStyle own = style;
                if (head)
                    own.color = context_.theme.muted;
                y_ = top;
                end = std::max(end, spans(cells[c], x, widths[c], own));
                x += widths[c] + gap;
            }
            y_ = end + 6;
            draw_hairline(picture_, context_, x_, y_ - 1, width_);
            y_ += 5;
        };
        row(table.header, true);
        for (const auto& cells : table.rows)
            row(cells, false);
        y_ += 6;
    }

    void draw(const lesson::CodeBlock& code) {
        const float size = 12, line = 18;
        const float top = y_;
        Picture words;
        float baseline = top + 10 + size;
        for (std::size_t begin = 0; begin < code.text.size();) {
            const std::size_t end = std::min(code.text.find('\n', begin), code.text.size());
            draw_text(words, context_, x_ + 10, baseline, code.text.substr(begin, end - begin),
                      figure::Font::mono, size, context_.theme.ink);
            baseline += line;
            begin = end + 1;
        }
        const figure::Rect area{x_, top, width_, baseline - line - top + 14};
        picture_.scene.add(figure::RectItem{.area = area, .fill = context_.theme.highlight, .radius = 4});
        picture_.scene.add(figure::ClipItem{area});
        picture_.append(words, 0, 0);
        picture_.scene.add(figure::ClipItem{});
        y_ = area.bottom() + 12;
    }

    void draw(const lesson::FormulaBlock& block) {
        try {
            const lesson::Formula formula = lesson::parse_formula(block.tex);
            FormulaBox box = set_formula(formula, context_, 16, context_.theme.ink);
            if (box.width > width_) // shrinks a formula that is too wide for the panel to the width it has
                box = set_formula(formula, context_, std::max(16 * width_ / box.width, 11.0F),
                                  context_.theme.ink);
            y_ += 6;
            picture_.scene.append(box.scene, x_ + std::max(0.0F, (width_ - box.width) / 2), y_ + box.ascent);
            y_ += box.ascent + box.descent + 14;
        } catch (const Error&) {
            draw(lesson::CodeBlock{.language = "tex", .text = block.tex});
        }
    }

    /// A bordered box with a name. `inside` draws the content, which is added after the frame.
    template<class Inside>
    void boxed(const std::string& name, figure::Color stroke, const Inside& fill) {
        const float top = y_;
        Picture inner;
        BlockColumn column(inner, context_, course_, x_ + block_inset, top + 34, width_ - 2 * block_inset);
        fill(column);
        const float height = column.y_ - top + 8;
        picture_.scene.add(figure::RectItem{
            .area = {x_, top, width_, height}, .fill = context_.theme.raise, .stroke = stroke, .radius = 6});
        draw_text(picture_, context_, x_ + block_inset, top + 23, name, figure::Font::ui_medium, 12.5F,
                  context_.theme.muted);
        picture_.append(inner, 0, 0);
        y_ = top + height + 12;
    }

    void draw(const lesson::Callout& callout) {
        const std::string name = callout.kind == "try"       ? "Try it"
                                 : callout.kind == "warning" ? "Take care"
                                                             : "Note";
        boxed(name, context_.theme.line, [&](BlockColumn& column) { column.all(callout.blocks); });
    }

    /// Marks the area drawn since `top` as the page's open task, unless an earlier task is marked.
    void point_at_task(float top) {
        if (picture_.pointed.w == 0)
            picture_.pointed = {x_, top, width_, y_ - top};
    }

    void draw(const lesson::Gate& gate) {
        const bool met = state_.done.contains(gate_name(gate));
        const float top = y_;
        boxed(met ? "Done ✓" : "Your turn", met ? context_.theme.good : context_.theme.line2,
              [&](BlockColumn& column) {
                  column.draw(lesson::Paragraph{
                      {lesson::Span{.style = lesson::SpanStyle::plain, .text = gate.task, .value = {}}}});
                  if (!met)
                      column.button("Show me", LessonAction(ShowScene{gate.solution}), "Does it for you");
              });
        if (!met)
            point_at_task(top);
    }

    void draw(const lesson::FillTable& table) {
        const bool met = state_.done.contains(table.id);
        const float top = y_;
        boxed(met ? "All right ✓" : "Fill in", met ? context_.theme.good : context_.theme.line2,
              [&](BlockColumn& column) {
                  column.draw(lesson::Paragraph{
                      {lesson::Span{.style = lesson::SpanStyle::plain, .text = table.task, .value = {}}}});
                  column.cells(table);
              });
        if (!met)
            point_at_task(top);
    }

    /// A field for each cell, named by its row and its column. Tab goes to the next one.
    void cells(const lesson::FillTable& table) {
        lesson::CellRange range;
        std::vector<float> values;
        try {
            range = lesson::resolve(table.cells, state_.problem);
            values = lesson::values_of(range, state_.problem, state_.trace);
        } catch (const Error& fault) {
            draw(lesson::Paragraph{
                {lesson::Span{.style = lesson::SpanStyle::plain, .text = fault.what(), .value = {}}}});
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
                              : lesson::is_right(table, text, values[static_cast<std::size_t>(n)])
                                  ? Mark::right
                                  : Mark::wrong;
            picture_.fields.push_back({.area = area,
                                       .label = name(n),
                                       .text = text,
                                       .action =
                                           [id = table.id, n](const std::string& entered) {
                                               return Action(LessonAction(FillCell{id, n, entered}));
                                           },
                                       .tip = mark == Mark::right ? "Right"
                                              : mark == Mark::wrong
                                                  ? "Not yet: the engine has another number here"
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
        button(show.label, LessonAction(ShowScene{show.scene}), "Changes the problem; one click leads back");
    }

    void button(const std::string& label, const LessonAction& action, const std::string& tip) {
        draw_text_button(picture_, context_, x_, y_, label, false, action, tip);
        y_ += 34;
    }

    Picture& picture_;
    const DrawContext& context_;
    const CourseState& course_;
    lesson::LessonState state_;
    float x_, y_, width_;
};

} // namespace

float draw_blocks(Picture& picture, const DrawContext& context, const CourseState& course,
                  const std::vector<lesson::LessonBlock>& blocks, float x, float y, float width) {
    return BlockColumn(picture, context, course, x, y, width).all(blocks);
}

} // namespace headscope::app
