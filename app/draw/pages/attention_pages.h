#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

class Sheet;

// Views of attention weights that come from a file or a model. context.shown.document->shows_weights() is
// true, and the grid of heads (`context.head_grid`) is usually set.

/// Draws all heads as small maps, one row per layer. Only rows that overlap [top, bottom) of the picture are
/// drawn, but the picture has the height of all rows. A click opens a head.
Picture draw_head_grid(const DrawContext& context, float top, float bottom);
/// The width of the grid of heads next to an open head, out of context.width.
float head_grid_width(const DrawContext& context);
/// The first and last layer whose rows overlap [top, bottom); and the area of one row, for scrolling to it.
struct VisibleRows {
    std::int64_t first = 0, last = 0;
};
VisibleRows visible_rows(const DrawContext& context, float top, float bottom);
figure::Rect head_grid_row_area(const DrawContext& context, std::int64_t l);

/// The width at which the open head's map shows numbers with one decimal; 0 if it has too many rows for them.
float width_for_numbers(const DrawContext& context);

/// The open head, the difference of two heads or the mean over the layer, in the chosen view.
Picture draw_head_page(const DrawContext& context);
/// Draws the switches of the head view.
void draw_head_switches(Picture& picture, const DrawContext& context);
/// The title of the head view, and the line below the title.
std::string head_page_title(const DrawContext& context);
std::string head_page_line(const DrawContext& context);

/// Returns true if the map is too large for readable cells, or zoomed.
bool wants_large_map(const DrawContext& context);
Picture draw_large_map_page(const DrawContext& context);
/// The cell at a point of a large map: the largest of the cells that share the pixel.
std::optional<CellAddress> large_map_cell_at(const DrawContext& context, const MatrixGrid& grid, float x,
                                             float y);

/// A list of the largest weights, for sentences too long for lines or words. `why`: the reason, shown above
/// the list.
Picture draw_strongest_page(const DrawContext& context, const std::string& why);

/// Side panels: patterns of the heads; content of the file; arithmetic of the focused weight.
Picture draw_patterns_panel(const DrawContext& context);
Picture draw_source_panel(const DrawContext& context);
Picture draw_attention_inspector(const DrawContext& context);

/// The measured facts about a head of the layer on screen; null while the head has not been read.
const analysis::HeadFacts* facts_of(const DrawContext& context, std::int64_t h);
/// Returns true if weight (i, j) of head h has no value: not a number, or 0 at a later key of a causal head.
bool is_without_value(const DrawContext& context, std::int64_t h, std::int64_t i, std::int64_t j);

/// A label of core/analysis/heads/head_metrics.h, in words and as a letter in the grid of heads.
struct Pattern {
    Message label; ///< empty for heads without a clear pattern
    char letter;
    std::string meaning; ///< its meaning, in a few words of the user's language
};
/// One pattern for each score that names heads, and one for heads without a label.
const std::vector<Pattern>& patterns();
const Pattern& pattern_of(const analysis::HeadMetrics& metrics);
/// The label in the user's language: "previous token", "previous token, apart from the first token"; empty if
/// there is none.
std::string label_words(const analysis::HeadMetrics& metrics);
/// A score with its unit: "0.53", "1.39 nats", "25 %".
std::string score_text(analysis::HeadScore score, float value);
/// The weight that the label is based on, averaged over rows.
float pattern_score(const analysis::HeadMetrics& metrics);

/// The name of a column of the grid of heads: "H3", or "mean".
std::string head_column_name(const Document& document, std::int64_t h);
/// The name of the content on screen: "Head 3"; "Mean" for a mean over heads; "Head 3 − head 5"; "Mean over
/// 12 heads".
std::string head_title(const DrawContext& context, std::int64_t h);
/// The name inside a sentence: "head 3", "mean".
std::string head_title_in_sentence(const DrawContext& context, std::int64_t h);
std::string pair_word(const DrawContext& context, std::int64_t a, std::int64_t b);
std::string mean_word(const DrawContext& context);
/// "2 layers × 8 heads".
std::string set_size_text(const AttentionInfo& info);
/// The reason why a row of the set contains only zeros.
std::string why_empty(const DrawContext& context);

/// Draws a line above the title that describes the filters on the weights; draws nothing without a filter.
void draw_reading_line(Picture& picture, const DrawContext& context);
/// Draws the filter switches as a section of a panel.
void draw_reading_switches(Sheet& sheet);

/// Errors of a head as sentences, for example rows that do not sum to 1; empty if there are none.
std::vector<std::string> flags_of(const analysis::HeadFacts& facts, const AttentionInfo& info);

} // namespace headscope::app
