#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The canvas: the stage of context.view with its outlines. The canvas fits context.width x context.height if
/// it is readable at that size; else it is larger and the window scrolls.
Picture draw_canvas(const DrawContext& context);

// The pages of the canvas, one per stop of the strip. Each returns a picture without outlines.

Picture draw_x_page(const DrawContext& context);
Picture draw_projection_page(const DrawContext& context);
Picture draw_split_page(const DrawContext& context);
/// scores, scaled, masked and weights: a heatmap per head, the difference of two heads, or their mean.
Picture draw_heatmap_page(const DrawContext& context);
/// weights as arcs between tokens, as highlighted text, or as a graph of tokens.
Picture draw_arcs_page(const DrawContext& context);
Picture draw_text_page(const DrawContext& context);
Picture draw_graph_page(const DrawContext& context);
Picture draw_head_out_page(const DrawContext& context);
Picture draw_concat_page(const DrawContext& context);
Picture draw_contributions_page(const DrawContext& context);
Picture draw_output_page(const DrawContext& context);

/// The formula over the page of a stage, as the problem on screen computes it: without the biases it has not.
std::string page_formula(const Shown& shown, TensorId stage);

/// Where a page from scores to weights goes on below its head, as long as the head's line has room.
inline constexpr float weights_top = 96.0F;
/// The head of the pages from scores to weights: the title, the line below the title, and at the top right
/// the switches: view of the weights, heads, colour scale. A line that has no room beside the switches stands
/// below them. Where the page has a fixed top (`grows`: false), the line is cut, and its tip has the whole.
/// Returns where the page goes on.
float draw_weights_head(Picture& picture, const DrawContext& context, const std::string& title,
                        const std::string& line, bool grows = true);

/// "What <token> reads": one row of chips per head, for the query row in focus. Returns the height of the
/// rows.
float draw_what_row_reads(Picture& picture, const DrawContext& context, float y, float height);

} // namespace headscope::app
