#pragma once

#include "app/draw/kit/rich_text.h"

#include <set>
#include <string>
#include <vector>

namespace headscope::app {

/// Running text of lessons and the manual, set block by block from the top. Nothing is wider than the column:
/// words and listings are broken, and a table whose columns do not fit becomes a small list for each row.
class TextColumn {
public:
    TextColumn(Picture& picture, const DrawContext& context, const lesson::LessonState& state, float x,
               float y, float width);

    void draw(const lesson::Paragraph& paragraph);
    void draw(const lesson::Heading& heading);
    void draw(const lesson::ListBlock& list);
    void draw(const lesson::TableBlock& table);
    void draw(const lesson::CodeBlock& code);

    float y() const { return y_; } ///< top of the next block
    /// Links the first occurrence of each glossary term from now on. `met`: the terms that have occurred.
    void link_terms(std::set<std::string>* met) { linked_terms_ = met; }
    /// Gives listings a copy button from now on.
    void add_copy_buttons() { copies_ = true; }

protected:
    TextStyle body() const;
    float spans(const lesson::Spans& text, float x, float width, const TextStyle& style);

    Picture& picture_;
    const DrawContext& context_;
    const lesson::LessonState& state_;
    float x_, y_, width_;
    std::set<std::string>* linked_terms_ = nullptr;
    bool copies_ = false;

private:
    /// Empty if the longest words of the columns do not fit side by side.
    std::vector<float> column_widths(const lesson::TableBlock& table, std::size_t columns, float room) const;
    void row(const std::vector<lesson::Spans>& cells, const std::vector<float>& widths, bool head);
    void as_list(const std::vector<lesson::Spans>& header, const std::vector<lesson::Spans>& cells);
};

inline constexpr float block_text_size = 14.5F, block_text_line = 22.0F;

} // namespace headscope::app
