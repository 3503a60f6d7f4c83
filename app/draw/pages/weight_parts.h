#pragma once

#include "app/draw/pages/reading.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Pieces that the pages of weights share.

inline constexpr int longest_word = 10; ///< code points of a word on a chip; the rest is told on hover

/// "“sat” may attend to nothing: its weights are 0".
std::string reads_nothing_text(const DrawContext& context, std::int64_t i);

/// A cell that may not be read: one diagonal, no number.
void draw_hatched(Picture& picture, const Theme& theme, const figure::Rect& area);

/// How a word stands out.
enum class WordState : std::uint8_t {
    plain,
    marked, ///< the key that is spoken of
    spoken  ///< the query row that is spoken of
};

/// A query word as a chip; a click makes its row the one that is spoken of. `head` is the head whose weights
/// the figure shows; the words of other heads than the one in focus carry its number in their label.
void draw_query_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                     std::int64_t head, WordState state, float size);

/// The click alone, where the word itself is set otherwise.
void add_query_spot(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                    std::int64_t head);

/// A key word, without a click.
void draw_key_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t j,
                   WordState state, float size, figure::Align align);

/// A chip filled from the bottom by how much query i reads key j (full = 1), with the key's word and the
/// number. Text stands in the lower half, so that it is either on the fill or on a fill that is still pale.
/// Can be hovered.
void draw_gauge(Picture& picture, const Reading& reading, std::int64_t i, std::int64_t j,
                const figure::Rect& area, const std::string& word);

/// The same without the word, and the number below: for chips whose word stands elsewhere.
void draw_vessel(Picture& picture, const Reading& reading, std::int64_t i, std::int64_t j,
                 const figure::Rect& area);

/// The title of a page of weights, and what stands under it.
std::string weights_title(const DrawContext& context);
std::string weights_formula(const DrawContext& context);

/// Title and role at (x, y..y+20) and below them a 4-high bar in the head's colour, y+22 to y+26.
void draw_figure_title(Picture& picture, const Reading& reading, float x, float y, float width);

/// Small buttons to put another head in focus, in as many lines as they need; returns the y below them.
float draw_head_buttons(Picture& picture, const DrawContext& context, float x, float y, float width);

/// What lines mean on a page: their widths, which are left out, colours of a difference; and `fills`, what
/// fillings mean. Returns the y below.
float draw_link_legend(Picture& picture, const Reading& reading, float y, float end,
                       const std::string& fills);

/// Whether some key of the readings' batch entry is masked.
bool any_masked(const std::vector<Reading>& readings);

} // namespace headscope::app
