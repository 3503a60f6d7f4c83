#include "core/figure/band.h"

#include <cairo.h>

namespace headscope::figure {

void fill_band(cairo_t& cairo, const BandItem& band) {
    for (const Point& point : band.edge)
        cairo_line_to(&cairo, point.x, point.y);
    for (std::size_t i = band.other_edge.size(); i-- > 0;)
        cairo_line_to(&cairo, band.other_edge[i].x, band.other_edge[i].y);
    cairo_close_path(&cairo);
    const Point &a = band.edge.front(), &b = band.other_edge.front(), &c = band.edge.back(),
                &d = band.other_edge.back();
    cairo_pattern_t* const pattern =
        cairo_pattern_create_linear((a.x + b.x) / 2, (a.y + b.y) / 2, (c.x + d.x) / 2, (c.y + d.y) / 2);
    const std::vector<float> stops = gradient_stops(band);
    for (std::size_t i = 0; i < stops.size(); ++i) {
        const auto part = [&](int shift) {
            return static_cast<double>(band.colors[i] >> shift & 0xFFU) / 255;
        };
        cairo_pattern_add_color_stop_rgba(pattern, stops[i], part(0), part(8), part(16), part(24));
    }
    cairo_set_source(&cairo, pattern);
    cairo_pattern_destroy(pattern);
    cairo_set_antialias(&cairo, CAIRO_ANTIALIAS_DEFAULT);
    cairo_fill(&cairo);
}

} // namespace headscope::figure
