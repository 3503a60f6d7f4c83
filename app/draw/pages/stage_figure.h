#pragma once

#include "app/draw/kit/picture.h"
#include "core/figure/figure.h"

#include <string>

namespace headscope::app {

struct StageFigure {
    figure::FigureFormat format = figure::FigureFormat::png;
    float scale = 1;          ///< pixels of a PNG per logical pixel
    float width = 960;        ///< logical pixels
    float height = 848;       ///< at least
    bool fixed_width = false; ///< off: as wide as the figure needs to print all its numbers
};

/// The canvas as a figure for paper: legend and labels, no switches and buttons, in the view's theme. The
/// bytes of the file. May run on any thread. Throws what draw_figure throws.
std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure);

/// The tensor that the canvas is about: `weights` for a heatmap of weights, `weights_mean` for their mean.
TensorId stage_on_canvas(const ViewState& view);

} // namespace headscope::app
