#pragma once

#include "app/draw/kit/controls.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/figure_weights.h"

#include <string>
#include <vector>

namespace headscope::app {

/// Parts shared by the views of weights.

inline constexpr int longest_word = 10; ///< code points of a word on a chip; the tooltip shows the whole word

/// "“sat” may attend to nothing: its weights are 0".
std::string fully_masked_text(const DrawContext& context, std::int64_t i);

/// The emphasis of a word.
enum class WordState : std::uint8_t {
    plain,
    focused_key,  ///< the focused key
    focused_query ///< the focused query row
};

/// Draws a query word as a chip; a click focuses its row. `head`: the head of the figure. In figures of
/// unfocused heads, the label contains the head's number.
void draw_query_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                     std::int64_t head, WordState state, float size);

/// Adds only the click area, for a word that is drawn elsewhere.
void add_query_spot(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t i,
                    std::int64_t head);

/// Draws a key word without a click area.
void draw_key_word(Picture& picture, const DrawContext& context, const figure::Rect& area, std::int64_t j,
                   WordState state, float size, figure::Align align);

/// Draws a chip filled from the bottom by the weight of key j in row i (full = 1), with the word and the
/// number. The text is in the lower half, on the fill or on a fill that is still pale. Hoverable.
void draw_gauge(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j,
                const figure::Rect& area, const std::string& word);

/// The same without the word and with the number below, for chips whose word is elsewhere.
void draw_gauge_without_word(Picture& picture, const FigureWeights& reading, std::int64_t i, std::int64_t j,
                             const figure::Rect& area);

/// Draws the row sums of a map at its right, sum_width wide, with a tooltip for each.
inline constexpr float sum_width = 50.0F, sum_gap = 8.0F;
void draw_row_sums(Picture& picture, const DrawContext& context, const MatrixGrid& grid,
                   const MatrixSpec& spec);
/// Draws the attention sink of the map's head above the row sums.
void draw_sink(Picture& picture, const DrawContext& context, const MatrixSpec& map);

/// The title of a view of maps: that of the stage, for a model followed by the open head.
std::string map_title(const DrawContext& context, const TensorInfo& info);
/// The title of a view of weights, and the line below the title.
std::string weights_title(const DrawContext& context);
std::string weights_formula(const DrawContext& context);

/// The heading of a figure.
struct FigureTitle {
    std::string text, role;
    std::int64_t head = -1; ///< the head whose bar it has; -1: none
};
/// The name without the head gain: "Head 0" for "Head 0 × 0.50".
std::string name_without_gain(const std::string& title);
/// Draws title and role at (x, y..y+20), and below them a bar in the head's color, 4 pixels high, from y+22
/// to y+26. The role may extend `beside` pixels past the end of the bar.
void draw_figure_title(Picture& picture, const DrawContext& context, const FigureTitle& title, float x,
                       float y, float width, float beside = 0);
void draw_figure_title(Picture& picture, const FigureWeights& reading, float x, float y, float width);
/// A bar in the color of the figure's head; an outline if the head is ablated.
void draw_figure_bar(Picture& picture, const FigureWeights& reading, const figure::Rect& area);

/// The width of the widest word, shortened as on a chip.
float widest_word(const DrawContext& context, bool keys, float size);

/// The switch between the views of weights, and one choice of the switch between the heads that they show.
std::vector<Segment> view_segments(const ViewState& view);
Segment heads_segment(const ViewState& view, const std::string& label, HeadsView as, const std::string& tip);

/// Draws small buttons that focus another head, on as many lines as needed. Returns their lower edge.
float draw_head_buttons(Picture& picture, const DrawContext& context, float x, float y, float width);

/// Draws the legend of lines: their widths, the omitted lines, the colors of a difference; and `fills`, the
/// meaning of fills. Returns the lower edge.
float draw_link_legend(Picture& picture, const FigureWeights& reading, float y, float end,
                       const std::string& fills);

/// Returns true if the batch entry of the figures has a masked key.
bool any_masked(const std::vector<FigureWeights>& readings);

} // namespace headscope::app
