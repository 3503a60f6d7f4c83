#pragma once

#include "core/figure/scene.h"

#include <string>
#include <vector>

namespace headscope::figure {

enum class FigureFormat { png, svg, pdf };
constexpr int largest_png_side = 16384; ///< pixels

/// The format for the path's extension. Throws Error(input) for another extension; the message lists the
/// three.
FigureFormat figure_format(const std::string& path);

constexpr double logical_pixels_per_inch = 96;

/// Draws a scene with Cairo and Pango on `background`, which may be transparent, and returns the file's
/// bytes. `scale` multiplies the pixels of a PNG (at most largest_png_side per side, else Error(input)); SVG
/// and PDF keep text and shapes as vectors. On paper a logical pixel is `paper_scale` / 96 inch, which a PNG
/// records too.
std::string draw_figure(const Scene& scene, FigureFormat format, float scale, Color background,
                        float paper_scale = 1);

/// Draws scenes as the pages of one PDF, each of its own size. `title`: of the document; may be empty.
std::string draw_pages(const std::vector<Scene>& pages, const std::string& title,
                       Color background = rgb(0xFFFFFF), float paper_scale = 1);

/// Draws the scene as the cells of a grid, one cell per pixel. Throws Error(input) for the same reason.
GridItem draw_pixels(const Scene& scene, float scale, Color background);

/// Measures text widths with Pango, for the layout of a scene for draw_figure. Not shared between threads.
TextMeasure figure_measure();

} // namespace headscope::figure
