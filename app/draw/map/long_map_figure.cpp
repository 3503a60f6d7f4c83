#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "app/draw/map/long_map_parts.h"
#include "app/state/screens/map_pixels.h"
#include "core/base/message.h"

namespace headscope::app {

void fit_figure_to_map(DrawContext& context) {
    const LongMapView& view = context.view.attention.long_map;
    // A narrow figure has no overview next to the map, so its map is wider for the same total width.
    for (const float width : {min_width_with_overview, min_width_with_overview - 1}) {
        context.width = width;
        context.width += view.width - long_map_area(context).w;
        if ((context.width >= min_width_with_overview) == (width >= min_width_with_overview))
            break;
    }
    context.height += view.height - long_map_area(context).h;
}

std::string map_place_text(const LongMap& map, const LongMapView& view) {
    const MapPart part = visible_pixel_part(map, view);
    const std::string queries = grouped(part.row + part.rows - 1), keys = grouped(part.col + part.cols - 1);
    return part == MapPart{0, 0, map.rows, map.cols}
               ? tr("long_map_figure.whole_map_queries_0", "the whole map: queries 0 to {}, keys 0 to {}",
                    queries, keys)
               : tr("common.queries_keys", "queries {} to {}, keys {} to {}", grouped(part.row), queries,
                    grouped(part.col), keys);
}

std::string map_number_text(const LongMap& map, const LongMapView& view) {
    const int scale = tile_scale(visible_map(view, map.rows, map.cols).scale);
    const std::string side = grouped(std::int64_t{1} << scale);
    return scale == 0 ? tr("long_map_figure.each_number_one_weight", "each number is one weight")
           : view.pooling == Pooling::max ? tr("long_map_figure.each_number_largest",
                                               "each number is the largest of {} × {} weights", side, side)
                                          : tr("long_map_figure.each_number_mean_weights",
                                               "each number is the mean of {} × {} weights", side, side);
}

} // namespace headscope::app
