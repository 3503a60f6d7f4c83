#include "app/draw/kit/controls.h"
#include "app/shell/handout/worksheet.h"
#include "core/base/message.h"
#include "core/figure/figure.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

using figure::Align;
using figure::Font;

// A4 at 96 pixels per inch.
constexpr float paper_wide = 793.7F, paper_high = 1122.5F, paper_margin = 68;
constexpr float column_room = paper_wide - 2 * paper_margin, page_foot = 36;
constexpr figure::Color paper_ink = figure::rgb(0x111111), paper_gray = figure::rgb(0x555555),
                        paper_line = figure::rgb(0x999999);

/// The size of a kind of text.
struct PaperStyle {
    Font font = Font::ui;
    float size = 13, line = 19;
    figure::Color color = paper_ink;
};
constexpr PaperStyle plain_style{}, strong_style{.font = Font::ui_semibold},
    hint_style{.size = 12, .line = 17, .color = paper_gray},
    part_style{.font = Font::ui_semibold, .size = 16, .line = 24},
    title_style{.font = Font::ui_semibold, .size = 23, .line = 30};

/// Fills pages from the top.
class Paper {
public:
    Paper() : measure_(figure::figure_measure()) { pages_.push_back(new_page()); }

    /// Begins a page unless that much fits on this one.
    void need(float height) {
        if (y_ + height <= paper_high - paper_margin - page_foot)
            return;
        pages_.push_back(new_page());
        y_ = paper_margin;
    }
    void space(float height) { y_ += height; }

    void text(const std::string& words, const PaperStyle& style, float indent = 0) {
        for (const std::string& line :
             wrapped(words, column_room - indent, measure_, style.font, style.size)) {
            need(style.line);
            add_text(page(), {paper_margin + indent, y_ + style.size},
                     fitting(line, style, column_room - indent), style.font, style.size, style.color);
            y_ += style.line;
        }
    }
    float height_of(const std::string& words, const PaperStyle& style, float indent = 0) const {
        return style.line *
               static_cast<float>(
                   wrapped(words, column_room - indent, measure_, style.font, style.size).size());
    }

    /// A line to write on after some words; returns its right end.
    float line_to_write_on(const std::string& words, float x, float width) {
        add_text(page(), {x, y_ + 14}, words, Font::ui, 13, paper_gray);
        const float from = x + (words.empty() ? 0 : measure_(words, Font::ui, 13) + 8);
        page().add(figure::LineItem{{from, y_ + 17}, {x + width, y_ + 17}, paper_line, 1});
        return x + width;
    }

    void answer_line() {
        need(34);
        line_to_write_on("", paper_margin + 24, 260);
        y_ += 30;
    }

    /// A small square at the left of a text.
    void ticked(const std::string& words, bool round) {
        constexpr float box = 11, indent = 46;
        need(plain_style.line);
        const figure::Rect place{paper_margin + 24, y_ + 2, round ? 2 * box : box, round ? box + 4 : box};
        page().add(figure::RectItem{.area = place, .stroke = paper_gray, .radius = 2});
        text(words, plain_style, round ? indent + 8 : indent);
        y_ += 3;
    }

    /// Words in a line, each with a box to tick.
    void ticked_words(const std::vector<std::string>& words) {
        constexpr float box = 11, gap = 22;
        need(plain_style.line);
        float x = paper_margin + 24;
        for (const std::string& word : words) {
            const float width = measure_(word, Font::ui, plain_style.size);
            if (x + box + 7 + width > paper_margin + column_room) {
                x = paper_margin + 24;
                y_ += plain_style.line + 3;
                need(plain_style.line);
            }
            page().add(figure::RectItem{.area = {x, y_ + 2, box, box}, .stroke = paper_gray, .radius = 2});
            add_text(page(), {x + box + 7, y_ + plain_style.size}, word, Font::ui, plain_style.size,
                     paper_ink);
            x += box + 7 + width + gap;
        }
        y_ += plain_style.line + 3;
    }

    void table(const HandTable& table, bool solved) {
        constexpr float widest_label = 190, widest_cell = 92, narrowest_cell = 46;
        float label = 40;
        for (const std::string& row : table.rows)
            label = std::max(label, measure_(row, Font::ui_medium, 12.5F) + 14);
        label = std::min(label, widest_label);
        const std::size_t columns = table.columns.size();
        const auto most = static_cast<std::size_t>((column_room - label) / narrowest_cell);
        for (std::size_t from = 0; from < columns; from += most) {
            const std::size_t count = std::min(most, columns - from);
            const float cell = std::min(widest_cell, (column_room - label) / static_cast<float>(count));
            table_part(table, solved, from, count, label, cell);
            y_ += 8;
        }
    }

    std::vector<figure::Scene> finish(const std::string& name) {
        for (std::size_t n = 0; n < pages_.size(); ++n) {
            const float baseline = paper_high - paper_margin + 18;
            add_text(pages_[n], {paper_margin, baseline}, fitting(name, hint_style, column_room - 90),
                     Font::ui, 11, paper_gray);
            add_text(pages_[n], {paper_wide - paper_margin, baseline},
                     tr("common.of_2", "{} of {}", n + 1, pages_.size()), Font::ui, 11, paper_gray,
                     Align::right);
        }
        return std::move(pages_);
    }

private:
    static figure::Scene new_page() { return {.width = paper_wide, .height = paper_high, .items = {}}; }
    figure::Scene& page() { return pages_.back(); }

    /// A text that is too wide is cut at its end.
    std::string fitting(const std::string& text, const PaperStyle& style, float width) const {
        if (measure_(text, style.font, style.size) <= width)
            return text;
        std::string cut = text;
        while (!cut.empty() && measure_(cut + "…", style.font, style.size) > width) {
            do
                cut.pop_back();
            while (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0U) == 0x80U);
            // Remove the first byte of a character whose other bytes are gone.
            if (!cut.empty() && (static_cast<unsigned char>(cut.back()) & 0xC0U) == 0xC0U)
                cut.pop_back();
        }
        return cut + "…";
    }

    void table_part(const HandTable& table, bool solved, std::size_t from, std::size_t count, float label,
                    float cell) {
        constexpr float head = 24, row_high = 29;
        constexpr PaperStyle name{.font = Font::ui_medium, .size = 12.5F};
        const auto heading = [&] {
            for (std::size_t c = 0; c < count; ++c) {
                const std::string& title = table.columns[from + c];
                PaperStyle small = name;
                while (small.size > 9 && measure_(title, small.font, small.size) > cell - 4)
                    small.size -= 0.5F;
                add_text(page(), {paper_margin + label + (static_cast<float>(c) + 0.5F) * cell, y_ + 15},
                         fitting(title, small, cell - 4), small.font, small.size, paper_gray, Align::center);
            }
            y_ += head;
        };
        need(head + row_high * static_cast<float>(std::min<std::size_t>(table.rows.size(), 4)));
        heading();
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            if (y_ + row_high > paper_high - paper_margin - page_foot) {
                need(row_high + head);
                heading();
            }
            add_text(page(), {paper_margin, figure::baseline_for(y_ + row_high / 2, name.size)},
                     fitting(table.rows[r], name, label - 8), name.font, name.size, paper_ink);
            for (std::size_t c = 0; c < count; ++c) {
                const HandTable::Cell& number = table.cells[r * table.columns.size() + from + c];
                const figure::Rect area{paper_margin + label + static_cast<float>(c) * cell, y_, cell,
                                        row_high};
                page().add(figure::RectItem{.area = area, .stroke = paper_line});
                if (number.given || solved)
                    add_text(page(), {area.x + cell / 2, figure::baseline_for(y_ + row_high / 2, 12.5F)},
                             printed(number), number.given ? Font::mono : Font::mono_semibold,
                             cell < 60 ? 11.0F : 12.5F, number.given ? paper_gray : paper_ink, Align::center);
            }
            y_ += row_high;
        }
    }

    figure::TextMeasure measure_;
    std::vector<figure::Scene> pages_;
    float y_ = paper_margin;
};

void write_head(Paper& paper, const Worksheet& sheet, bool solution) {
    paper.text(sheet.title, title_style);
    paper.space(2);
    paper.text(solution ? tr("handout.solution", "Solution") : tr("handout.worksheet", "Worksheet"),
               part_style);
    if (!sheet.sentence.empty())
        paper.text(tr("handout.sentence", "Sentence") + ": " + sheet.sentence, plain_style);
    if (!solution) {
        paper.space(14);
        const float right =
            paper.line_to_write_on(tr("worksheet.name", "Name"), paper_margin, column_room * 0.6F);
        paper.line_to_write_on(tr("worksheet.date", "Date"), right + 24,
                               column_room - column_room * 0.6F - 24);
        paper.space(24);
    }
    paper.space(12);
}

void write_table(Paper& paper, const HandTable& table, bool solution) {
    constexpr float rows_at_least = 140;
    paper.need(part_style.line + paper.height_of(table.task, plain_style) + rows_at_least);
    paper.text(table.title, part_style);
    paper.text(table.task, plain_style);
    paper.space(6);
    paper.table(table, solution);
    if (!table.hint.empty())
        paper.text(table.hint, hint_style);
    paper.space(16);
}

void write_room(Paper& paper, const PaperQuestion& question) {
    switch (question.room) {
    case PaperQuestion::Room::line:
        return paper.answer_line();
    case PaperQuestion::Room::words:
        return paper.ticked_words(question.items);
    case PaperQuestion::Room::boxes:
    case PaperQuestion::Room::numbers:
        for (const std::string& item : question.items)
            paper.ticked(item, question.room == PaperQuestion::Room::numbers);
        return;
    case PaperQuestion::Room::cells:
        return paper.table(*question.cells, false);
    }
}

void write_question(Paper& paper, const PaperQuestion& question, std::size_t number, bool solution) {
    const std::string text = std::to_string(number) + ". " + question.text;
    const float rest = solution ? paper.height_of(question.answer, plain_style, 24) +
                                      paper.height_of(question.after, hint_style, 24)
                                : 22 * static_cast<float>(std::max<std::size_t>(question.items.size(), 2));
    paper.need(paper.height_of(text, strong_style) + std::min(rest, 300.0F));
    paper.text(text, strong_style);
    paper.space(3);
    if (solution) {
        paper.text(question.answer, plain_style, 24);
        if (!question.after.empty())
            paper.text(question.after, hint_style, 24);
    } else {
        if (!question.hint.empty())
            paper.text(question.hint, hint_style, 24);
        write_room(paper, question);
    }
    paper.space(12);
}

} // namespace

std::string worksheet_pdf(const Worksheet& worksheet, bool solution) {
    Paper paper;
    write_head(paper, worksheet, solution);
    for (const HandTable& table : worksheet.tables)
        write_table(paper, table, solution);
    if (!worksheet.questions.empty()) {
        paper.need(120);
        paper.text(tr("handout.quiz", "Questions"), part_style);
        paper.space(4);
    }
    for (std::size_t n = 0; n < worksheet.questions.size(); ++n)
        write_question(paper, worksheet.questions[n], n + 1, solution);
    if (solution && !worksheet.tasks.empty()) {
        paper.need(90);
        paper.text(tr("handout.tasks", "Tasks in Headscope"), part_style);
        for (const Worksheet::Task& task : worksheet.tasks) {
            paper.space(4);
            paper.text(task.task, plain_style);
            if (!task.after.empty())
                paper.text(task.after, hint_style, 24);
        }
    }
    const std::string title =
        worksheet.title + ": " +
        (solution ? tr("handout.solution", "Solution") : tr("handout.worksheet", "Worksheet"));
    return figure::draw_pages(paper.finish(title), title);
}

} // namespace headscope::app
