#pragma once

#include "app/draw/kit/controls.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/reading.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Parts shared by the pages of weights.

inline constexpr int longest_word = 10; ///< code points of a word on a chip; the whole word is shown on hover

/// "“sat” may attend to nothing: its weights are 0".
std::string reads_nothing_text(const DrawContext& context, std::int64_t i);

/// The emphasis of a word.
enum class WordState : std::uint8_t {
    plain,
    marked, ///< the key in focus
    spoken  ///< the query row in focus
};

/// A query word as a chip; a click puts its row in focus. `head` is the head of the figure; in figures of
/// other heads than the one in focus, the label carries the head's number.
void draw_query_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                     std::int64_t head, WordState state, float size);

/// Only the click area, for a word that is drawn elsewhere.
void add_query_spot(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                    std::int64_t head);

/// A key word without a click area.
void draw_key_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t j,
                   WordState state, float size, figure::Align align);

/// A chip filled from the bottom by the weight of key j in row i (full = 1), with the word and the number.
/// Text is in the lower half, where it is on the fill or on a fill that is still pale. Hoverable.
void draw_gauge(Picture& picture, const Reading& reading, std::int64_t i, std::int64_t j,
                const figure::Rect& area, const std::string& word);

/// The same without the word, and with the number below: for chips whose word is elsewhere.
void draw_vessel(Picture& picture, const Reading& reading, std::int64_t i, std::int64_t j,
                 const figure::Rect& area);

/// The sums of a map's rows to the right of it, sum_width wide, with what is to be said of each.
inline constexpr float sum_width = 50.0F, sum_gap = 8.0F;
void draw_row_sums(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                   const MatrixSpec& spec);
/// The sink of the head that a map shows, above the sums of the rows.
void draw_sink(Picture& picture, const DrawContext& context, const MatrixSpec& map);

/// The title of a page of maps: that of the stage, with the head that is open in a model.
std::string map_title(const DrawContext& context, const TensorInfo& info);
/// The title of a page of weights, and the line below the title.
std::string weights_title(const DrawContext& context);
std::string weights_formula(const DrawContext& context);

/// What stands above a figure.
struct FigureTitle {
    std::string text, role;
    std::int64_t head = -1; ///< whose bar it has; -1: no head's
};
/// Of "Head 0 × 0.50" the name without the gain.
std::string name_alone(const std::string& title);
/// Title and role at (x, y..y+20), and below them a bar, 4 high, in the head's colour, from y+22 to y+26. The
/// role may reach so far `beside` the bar.
void draw_figure_title(Picture& picture, const DrawContext& context, const FigureTitle& title, float x,
                       float y, float width, float beside = 0);
void draw_figure_title(Picture& picture, const Reading& reading, float x, float y, float width);
/// A bar in the colour of the reading's head, hollow where the head is switched off.
void draw_reading_bar(Picture& picture, const Reading& reading, const figure::Rect& area);

/// The width of the widest word, shortened as on a chip.
float widest_word(const DrawContext& context, bool keys, float size);

/// The switch between the views of weights, and a choice of the switch between the heads that they show.
std::vector<Segment> view_segments(const ViewState& view);
Segment heads_segment(const ViewState& view, const std::string& label, HeadsView as, const std::string& tip);

/// Small buttons that put another head in focus, on as many lines as needed. Returns their lower edge.
float draw_head_buttons(Picture& picture, const DrawContext& context, float x, float y, float width);

/// The meaning of lines on a page: their widths, the lines left out, the colours of a difference; and
/// `fills`, the meaning of fillings. Returns the lower edge.
float draw_link_legend(Picture& picture, const Reading& reading, float y, float end,
                       const std::string& fills);

/// Whether the readings' batch entry has a masked key.
bool any_masked(const std::vector<Reading>& readings);

} // namespace headscope::app
