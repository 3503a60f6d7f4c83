#pragma once

#include "app/draw/kit/picture.h"
#include "core/figure/figure.h"

#include <string>

namespace headscope::app {

struct StageFigure {
    figure::FigureFormat format = figure::FigureFormat::png;
    float scale = 1;          ///< pixels of a PNG per logical pixel
    float width = 960;        ///< logical pixels
    float height = 848;       ///< smallest height, logical pixels
    bool fixed_width = false; ///< false: as wide as the figure needs to print all its numbers
};

/// Draws the canvas as a figure for paper: with legend and labels, without switches and buttons, in the
/// view's theme. Returns the bytes of the file. May run on any thread. Throws like draw_figure.
std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure);

/// The tensor on the canvas: `weights` for a heatmap of weights, `weights_mean` for their mean.
TensorId stage_on_canvas(const ViewState& view);

} // namespace headscope::app
