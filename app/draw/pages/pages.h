#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The canvas: the stage of context.view with its outlines. The canvas fits context.width x context.height if
/// it is readable at that size; otherwise it is larger and the window scrolls.
Picture draw_canvas(const DrawContext& context);

// The views of the canvas, one per step of the strip. Each returns a picture without outlines.

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
/// The gate on the head outputs: how it is computed, and what it does to the open head.
Picture draw_gate_page(const DrawContext& context);
Picture draw_concat_page(const DrawContext& context);
Picture draw_contributions_page(const DrawContext& context);
Picture draw_output_page(const DrawContext& context);

/// The lower edge of the heading for views from scores to weights, if the line below the title fits.
inline constexpr float weights_top = 96.0F;
/// Draws the heading of the views from scores to weights: the title, the line below the title, and at the top
/// right the switches for the view of the weights, the heads and the color scale. A line that does not fit
/// next to the switches is placed below them. If the heading has a fixed height (`grows`: false), the line is
/// shortened and its tooltip shows it in full. Returns the lower edge of the heading.
float draw_weights_head(Picture& picture, const DrawContext& context, const std::string& title,
                        const std::string& line, bool grows = true);

/// Draws "What <token> reads": one row of chips per head, for the focused query row. Returns the height of
/// the rows.
float draw_what_row_reads(Picture& picture, const DrawContext& context, float y, float height);

} // namespace headscope::app
