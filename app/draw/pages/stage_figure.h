#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/picture_choice.h"
#include "core/figure/figure.h"

#include <string>

namespace headscope::app {

struct StageFigure {
    figure::FigureFormat format = figure::FigureFormat::png;
    float scale = 1;          ///< pixels of a PNG per logical pixel
    float paper_scale = 1;    ///< 1/96 inch on paper per logical pixel
    float width = 960;        ///< logical pixels
    float height = 848;       ///< minimum height, logical pixels
    bool fixed_width = false; ///< false: as wide as needed to print all numbers
    bool crop = true;         ///< crops to the content, with an even margin
    FigureBackground background = FigureBackground::theme;
    bool title = true;                   ///< with title, formula and caption
    bool all_heads = false;              ///< see DrawContext
    const HeadGrid* head_grid = nullptr; ///< the document's grid of heads, if it has one
};

/// The usual size of a figure of the screen, in logical pixels: the Flow is wider than the others.
figure::Point usual_figure_size(const Shown& shown, const ViewState& view);

/// The canvas as a figure for export: with legend and labels, without switches and buttons, in the view's
/// theme. Areas that a lesson points at are not marked. May run on any thread, like stage_figure.
figure::Scene stage_scene(const Shown& shown, const ViewState& view, const StageFigure& figure);
/// The background color of a figure of the view.
figure::Color background_color(const ViewState& view, FigureBackground ground);
/// Draws that scene and returns the bytes of the file. Throws like draw_figure.
std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure);

/// The tensor on the canvas: `weights` for a heatmap of weights, `weights_mean` for their mean.
TensorId stage_on_canvas(const ViewState& view);

} // namespace headscope::app
