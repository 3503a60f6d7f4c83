#pragma once

#include "app/state/screens/long_map.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The visible numbers of a map: one for each pixel of the map at the scale of the view.
struct MapPixels {
    MapPart part;           ///< the weights under the pixels, clipped to the map
    std::int64_t cells = 1; ///< a pixel shows cells x cells weights
    Pooling pooling = Pooling::max;
    Tensor values; ///< (rows, columns) of pixels
};

/// Returns the weights under the visible pixels. Rounded to whole pixels, so that it may exceed the view
/// slightly.
MapPart visible_pixel_part(const LongMap& map, const LongMapView& view);
/// Throws Error(input), with the reading progress, while some of them are not known.
MapPixels visible_pixels(const LongMap& map, const LongMapView& view);

/// Returns those numbers as a table with the first key of each column and the first query of each row.
std::vector<std::vector<std::string>> map_table(const MapPixels& pixels);

} // namespace headscope::app
