#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

class Sheet;

// What is drawn for attention weights that come from a file or a model:
// context.shown.document->shows_weights() holds, and context.board mostly.

/// All heads as small maps, one row per layer; only the rows that touch [top, bottom) of the picture are
/// drawn, while its height is that of all. A click opens a head.
Picture draw_board_page(const DrawContext& context, float top, float bottom);
/// The width that the board wants beside an open head, out of context.width.
float board_width(const DrawContext& context);
/// The layers whose rows touch [top, bottom), first and last; and the strip that one row takes, so that it
/// can be scrolled to.
struct BoardRows {
    std::int64_t first = 0, last = 0;
};
BoardRows board_rows(const DrawContext& context, float top, float bottom);
figure::Rect board_row_area(const DrawContext& context, std::int64_t l);

/// The open head, the difference of two or the mean over its layer, in the view that was chosen.
Picture draw_head_page(const DrawContext& context);
/// The switches of that page.
void draw_head_switches(Picture& picture, const DrawContext& context);
/// Its title, and the line under it.
std::string head_page_title(const DrawContext& context);
std::string head_page_line(const DrawContext& context);

/// A map too large for one cell per number at a readable size, or looked at in part.
bool wants_large_map(const DrawContext& context);
Picture draw_large_map_page(const DrawContext& context);
/// The cell whose number is seen at a point of a large map: the largest under that pixel.
std::optional<CellAddress> seen_at(const DrawContext& context, const MatrixGrid& grid, float x, float y);

/// For sentences that no figure of lines or words can hold: the largest weights as a list.
Picture draw_strongest_page(const DrawContext& context, const std::string& why);

/// Side panels: what the heads do; what the file holds; the weight that is spoken of.
Picture draw_patterns_panel(const DrawContext& context);
Picture draw_source_panel(const DrawContext& context);
Picture draw_attention_inspector(const DrawContext& context);

/// What is known of a head of the layer on screen; null while it has not been read.
const analysis::HeadFacts* facts_of(const DrawContext& context, std::int64_t h);
/// Weight (i, j) of head h stands where nothing was read: not a number, or a later key of a causal head.
bool nothing_read(const DrawContext& context, std::int64_t h, std::int64_t i, std::int64_t j);

/// A label of core/analysis/head_metrics.h as a word and as the letter that stands for it on the board.
struct Pattern {
    std::string label; ///< "" for heads without a clear one
    char letter;
    std::string says; ///< what it means, in a few words
};
/// One for each score that names heads, and one for the heads without a name.
const std::vector<Pattern>& patterns();
const Pattern& pattern_of(const analysis::HeadMetrics& metrics);
/// With its unit: "0.53", "1.39 nats", "25 %".
std::string score_text(analysis::HeadScore score, float value);
/// The weight that the label speaks of, averaged over rows.
float pattern_score(const analysis::HeadMetrics& metrics);

/// "H3", or "mean": a column of the board.
std::string column_word(const Document& document, std::int64_t h);
/// "Head 3", or "Mean" for a mean over heads; "Head 3 − head 5"; "Mean over 12 heads" of what is on screen.
std::string head_word(const DrawContext& context, std::int64_t h);
std::string pair_word(const DrawContext& context, std::int64_t a, std::int64_t b);
std::string mean_word(const DrawContext& context);
/// Why a row of a given set has nothing but zeros.
std::string why_empty(const DrawContext& context);

/// What is read otherwise than it is held, as a line above the title; nothing where nothing is.
void draw_reading_line(Picture& picture, const DrawContext& context);
/// The switches for that, as a section of a panel.
void draw_reading_switches(Sheet& sheet);

/// What is wrong with a head as sentences: rows that don't sum to 1 and so on; empty when nothing is.
std::vector<std::string> flags_of(const analysis::HeadFacts& facts, const AttentionInfo& info);

} // namespace headscope::app
