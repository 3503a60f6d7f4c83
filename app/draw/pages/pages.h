#pragma once

#include "app/draw/kit/picture.h"

namespace headscope::app {

/// The canvas: the stage of context.view, drawn to fit context.width x context.height where it can be read at
/// that size, else larger (the window then scrolls). Outlines included.
Picture draw_canvas(const DrawContext& context);

// The pages it is made of, one per stop of the strip. Each returns a picture without outlines.

Picture draw_x_page(const DrawContext& context);
Picture draw_projection_page(const DrawContext& context);
Picture draw_split_page(const DrawContext& context);
/// scores, scaled, masked and weights: a heatmap per head, the difference of two heads, or the mean.
Picture draw_heatmap_page(const DrawContext& context);
/// weights as arcs between tokens, as highlighted text, or as a graph of tokens.
Picture draw_arcs_page(const DrawContext& context);
Picture draw_text_page(const DrawContext& context);
Picture draw_graph_page(const DrawContext& context);
Picture draw_head_out_page(const DrawContext& context);
Picture draw_concat_page(const DrawContext& context);
Picture draw_contributions_page(const DrawContext& context);
Picture draw_output_page(const DrawContext& context);

/// The switches at the top right of the scores..weights pages: how weights are shown, which heads, same
/// scale. Returns the left edge of what stands beside the line under the title.
float draw_weights_switches(Picture& picture, const DrawContext& context);

/// "What <token> reads": one row of chips per head for the query row that is spoken of. Returns the height
/// drawn.
float draw_what_row_reads(Picture& picture, const DrawContext& context, float y, float height);

} // namespace headscope::app
