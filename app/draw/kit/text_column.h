#pragma once

#include "app/draw/kit/rich_text.h"

#include <set>
#include <string>
#include <vector>

namespace headscope::app {

/// Running text, set block by block from the top: what lessons and the manual are made of. Nothing is wider
/// than the column: words and listings are broken, and of a table without room for its columns each row
/// becomes a small list.
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
    /// From now on the words of the glossary are linked, each where it stands first. `met`: those that are.
    void link_terms(std::set<std::string>* met) { met_ = met; }
    /// From now on listings have a button that copies them.
    void copy_listings() { copies_ = true; }

protected:
    TextStyle body() const;
    float spans(const lesson::Spans& text, float x, float width, const TextStyle& style);

    Picture& picture_;
    const DrawContext& context_;
    const lesson::LessonState& state_;
    float x_, y_, width_;
    std::set<std::string>* met_ = nullptr;
    bool copies_ = false;

private:
    /// Empty where the longest words do not fit side by side.
    std::vector<float> column_widths(const lesson::TableBlock& table, std::size_t columns, float room) const;
    void row(const std::vector<lesson::Spans>& cells, const std::vector<float>& widths, bool head);
    void as_list(const std::vector<lesson::Spans>& header, const std::vector<lesson::Spans>& cells);
};

inline constexpr float block_text_size = 14.5F, block_text_line = 22.0F;

} // namespace headscope::app
