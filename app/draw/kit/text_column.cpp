#include "app/draw/kit/text_column.h"

#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"
#include "core/manual/glossary.h"
#include "core/manual/manual.h"

#include <algorithm>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float table_text = 13, table_line = 18, column_gap = 12;
constexpr float code_size = 12, code_line = 18, code_inset = 10;

/// The lines of a listing; long lines are broken, at a space if one is near.
std::vector<std::string> code_lines(const std::string& text, std::size_t most) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        while (static_cast<std::size_t>(columns(line)) > most) {
            std::size_t cut = 0; // bytes of the first `most` characters
            for (std::size_t count = 0; count < most; ++count)
                do
                    ++cut;
                while (cut < line.size() && (static_cast<unsigned char>(line[cut]) & 0xC0U) == 0x80U);
            if (const auto blank = line.rfind(' ', cut); blank != std::string::npos && blank > cut / 2)
                cut = blank + 1;
            lines.push_back(line.substr(0, cut));
            line = "  " + line.substr(cut);
        }
        lines.push_back(line);
    }
    return lines;
}

} // namespace

TextColumn::TextColumn(Picture& picture, const DrawContext& context, const lesson::LessonState& state,
                       float x, float y, float width)
    : picture_(picture), context_(context), state_(state), x_(x), y_(y), width_(width) {}

TextStyle TextColumn::body() const {
    return {.size = block_text_size,
            .line = block_text_line,
            .color = context_.theme.text,
            .strong = context_.theme.ink};
}

float TextColumn::spans(const lesson::Spans& text, float x, float width, const TextStyle& style) {
    return draw_spans(picture_, context_, x, y_ + style.size, width,
                      linked_terms_ != nullptr ? manual::with_terms(text, *linked_terms_) : text, state_,
                      style) -
           style.size;
}

void TextColumn::draw(const lesson::Paragraph& paragraph) {
    y_ = spans(paragraph.spans, x_, width_, body()) + 8;
}

void TextColumn::draw(const lesson::Heading& heading) {
    constexpr float sizes[] = {20, 17, 15.5F};
    const std::size_t level = std::clamp<std::size_t>(heading.level, 1, std::size(sizes)) - 1;
    TextStyle style = body();
    style.size = sizes[level];
    style.line = style.size + 7;
    style.color = style.strong = context_.theme.ink;
    y_ += level == 1 ? 14 : 6;
    lesson::Spans strong = heading.spans;
    for (lesson::Span& span : strong)
        if (span.style == lesson::SpanStyle::plain)
            span.style = lesson::SpanStyle::strong;
    y_ = draw_spans(picture_, context_, x_, y_ + style.size, width_, strong, state_, style) - style.size + 4;
}

void TextColumn::draw(const lesson::ListBlock& list) {
    int number = 0;
    for (const lesson::Spans& item : list.items) {
        const std::string mark = list.numbered ? std::to_string(++number) + "." : "•";
        draw_text(picture_, context_, x_, y_ + block_text_size, mark, figure::Font::ui, block_text_size,
                  context_.theme.muted);
        y_ = spans(item, x_ + 20, width_ - 20, body()) + 3;
    }
    y_ += 6;
}

std::vector<float> TextColumn::column_widths(const lesson::TableBlock& table, std::size_t columns,
                                             float room) const {
    std::vector<float> least(columns, 0.0F), whole(columns, 0.0F);
    const auto look = [&](const std::vector<lesson::Spans>& cells) {
        for (std::size_t c = 0; c < cells.size() && c < columns; ++c) {
            const TextWidth width = width_of(context_, cells[c], state_, table_text);
            // Break a long word rather than let it take the space of all other columns.
            least[c] = std::max(least[c], std::min(width.word, room / 2));
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
    if (words > room)
        return {};
    for (std::size_t c = 0; c < columns; ++c)
        least[c] += (room - words) * (whole[c] - least[c]) / (lines - words);
    return least;
}

void TextColumn::row(const std::vector<lesson::Spans>& cells, const std::vector<float>& widths, bool head) {
    const TextStyle style{.size = table_text,
                          .line = table_line,
                          .color = head ? context_.theme.muted : context_.theme.text,
                          .strong = context_.theme.ink};
    const float top = y_;
    float end = y_, x = x_;
    for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c) {
        y_ = top;
        end = std::max(end, spans(cells[c], x, widths[c], style));
        x += widths[c] + column_gap;
    }
    y_ = end + 6;
    draw_hairline(picture_, context_, x_, y_ - 1, width_);
    y_ += 5;
}

void TextColumn::as_list(const std::vector<lesson::Spans>& header, const std::vector<lesson::Spans>& cells) {
    constexpr float indent = 12;
    for (std::size_t c = 0; c < cells.size(); ++c) {
        TextStyle style{.size = table_text,
                        .line = table_line,
                        .color = c == 0 ? context_.theme.ink : context_.theme.text,
                        .strong = context_.theme.ink};
        if (manual::plain(cells[c]).empty())
            continue;
        lesson::Spans words;
        if (c > 0 && c < header.size() && !manual::plain(header[c]).empty()) {
            words = header[c];
            words.push_back({.style = lesson::SpanStyle::plain, .text = ": "});
        }
        for (lesson::Span& span : words) // the column's name is as prominent as the cell
            span.style = span.style == lesson::SpanStyle::plain ? lesson::SpanStyle::emphasis : span.style;
        words.insert(words.end(), cells[c].begin(), cells[c].end());
        y_ = spans(words, x_ + (c == 0 ? 0 : indent), width_ - (c == 0 ? 0 : indent), style);
    }
    y_ += 4;
    draw_hairline(picture_, context_, x_, y_ - 1, width_);
    y_ += 5;
}

void TextColumn::draw(const lesson::TableBlock& table) {
    const std::size_t columns = std::max<std::size_t>(table.header.size(), 1);
    const std::vector<float> widths =
        column_widths(table, columns, width_ - column_gap * static_cast<float>(columns - 1));
    if (!widths.empty())
        row(table.header, widths, true);
    for (const auto& cells : table.rows)
        widths.empty() ? as_list(table.header, cells) : row(cells, widths, false);
    y_ += 6;
}

void TextColumn::draw(const lesson::CodeBlock& code) {
    const float top = y_;
    const float letter = context_.measure("0", figure::Font::mono, code_size);
    const auto most = static_cast<std::size_t>(std::max((width_ - 2 * code_inset) / letter, 8.0F));
    const std::vector<std::string> lines = code_lines(code.text, most);
    // The button gets its own line if it would cover text.
    const float wide =
        std::max(context_.measure(tr("text_column.copy", "Copy"), figure::Font::ui_medium, 12) + 12, 44.0F);
    const bool beside = lines.empty() || context_.measure(lines.front(), figure::Font::mono, code_size) <
                                             width_ - 2 * code_inset - wide;
    const float head = copies_ && !beside ? 20.0F : 0.0F;
    const figure::Rect area{x_, top, width_,
                            head + 2 * code_inset + code_line * static_cast<float>(lines.size()) - 4};
    picture_.scene.add(figure::RectItem{.area = area, .fill = context_.theme.highlight, .radius = 4});
    if (copies_) {
        draw_text(picture_, context_, area.right() - code_inset, top + 17, tr("text_column.copy", "Copy"),
                  figure::Font::ui_medium, 12, context_.theme.muted, figure::Align::right);
        picture_.add_hotspot({area.right() - wide - 8, top + 2, wide + 6, 22},
                             "copy listing " + std::to_string(picture_.hotspots.size()),
                             CopyText{code.text, tr("text_column.listing", "this listing")},
                             tr("text_column.copies_lines", "Copies these lines"));
    }
    float baseline = top + head + code_inset + code_size;
    for (const std::string& line : lines) {
        draw_text(picture_, context_, x_ + code_inset, baseline, line, figure::Font::mono, code_size,
                  context_.theme.ink);
        baseline += code_line;
    }
    y_ = area.bottom() + 12;
}

} // namespace headscope::app
