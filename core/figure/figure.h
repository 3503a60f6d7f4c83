#pragma once

#include "core/figure/scene.h"

#include <string>

namespace headscope::figure {

enum class FigureFormat { png, svg, pdf };
constexpr int largest_png_side = 16384; ///< pixels

/// The format that the path's ending names. Throws Error(input) for another ending, naming the three.
FigureFormat figure_format(const std::string& path);

constexpr double logical_pixels_per_inch = 96;

/// Draws a scene through Cairo and Pango on `background`, which may be invisible, and returns the file's
/// bytes. `scale` multiplies the pixels of a PNG (at most largest_png_side a side, else Error(input)); SVG
/// and PDF keep text and shapes as vectors. On paper a logical pixel is `paper` / 96 inch, which a PNG says
/// too.
std::string draw_figure(const Scene& scene, FigureFormat format, float scale, Color background,
                        float paper = 1);

/// The same scene as the cells of a grid, one cell per pixel. Throws Error(input) likewise.
GridItem draw_pixels(const Scene& scene, float scale, Color background);

/// Text widths from Pango, for the layout of a scene that draw_figure draws. Not shared between threads.
TextMeasure figure_measure();

} // namespace headscope::figure
