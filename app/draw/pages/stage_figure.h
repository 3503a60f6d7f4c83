#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/picture_choice.h"
#include "core/figure/figure.h"

#include <string>

namespace headscope::app {

struct StageFigure {
    figure::FigureFormat format = figure::FigureFormat::png;
    float scale = 1;          ///< pixels of a PNG per logical pixel
    float paper = 1;          ///< 96ths of an inch on paper per logical pixel
    float width = 960;        ///< logical pixels
    float height = 848;       ///< smallest height, logical pixels
    bool fixed_width = false; ///< false: as wide as the figure needs to print all its numbers
    bool crop = true;         ///< to the content, with an even margin
    FigureGround ground = FigureGround::theme;
};

/// The canvas as a figure for paper: with legend and labels, without switches and buttons, in the view's
/// theme. What a lesson points at is no part of it. May run on any thread, as stage_figure.
figure::Scene stage_scene(const Shown& shown, const ViewState& view, const StageFigure& figure);
/// What a scene of the view is drawn on.
figure::Color ground_colour(const ViewState& view, FigureGround ground);
/// Draws that scene and returns the bytes of the file. Throws like draw_figure.
std::string stage_figure(const Shown& shown, const ViewState& view, const StageFigure& figure);

/// The tensor on the canvas: `weights` for a heatmap of weights, `weights_mean` for their mean.
TensorId stage_on_canvas(const ViewState& view);

} // namespace headscope::app
