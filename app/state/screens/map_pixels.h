#pragma once

#include "app/state/screens/long_map.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The numbers that are seen of a map: one for each pixel of the map, as large as the view shows it.
struct MapPixels {
    MapPart part;           ///< the weights under them, without what lies beyond the map
    std::int64_t cells = 1; ///< a pixel stands for cells x cells weights
    Pooling pooling = Pooling::max;
    Tensor values; ///< (rows, columns) of pixels
};

/// The weights under the pixels that are seen: whole pixels, so that it may reach a little beyond the view.
MapPart pixels_part(const LongMap& map, const LongMapView& view);
/// Throws Error(input), which says how far reading is, while some of them are not known.
MapPixels seen_pixels(const LongMap& map, const LongMapView& view);

/// Those numbers under the number of their first key, beside the number of their first query.
std::vector<std::vector<std::string>> map_table(const MapPixels& pixels);

} // namespace headscope::app
