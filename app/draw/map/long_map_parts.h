#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/screens/long_map.h"

#include <string>

namespace headscope::app {

/// The minimum width of a canvas with the overview next to the main map.
inline constexpr float min_width_with_overview = 860;

/// The common inputs of all parts of the screen.
struct MapScene {
    const DrawContext& context;
    const LongMap& map;
    const LongMapView& view;

    const Problem& problem() const { return context.shown.problem(); }
    VisibleMap sight() const { return visible_map(view, map.rows, map.cols); }
    /// "the@104518", or "104518" if tokens have no names.
    std::string query(std::int64_t i) const;
    std::string key(std::int64_t j) const;
    bool has_words() const { return !problem().tokens.empty(); }
};

/// Draws the part of the map that `view` shows, in a rectangle of its size: tiles if available, otherwise a
/// paler section of the overview; hatched where nothing has been read.
void draw_map_tiles(Picture& picture, const MapScene& scene, const LongMapView& view,
                    const figure::Rect& room);
/// The color halfway to the canvas, for values that are not exact at this scale.
figure::Color paler(figure::Color colour, figure::Color canvas);
/// The color of a weight, or of a pixel that combines several, for a scale that ends at `end`; the error
/// color for values that no softmax can produce.
figure::Color map_colour(const MapScene& scene, float value, float end);

/// Draws the whole map, with a draggable rectangle around the visible part.
void draw_map_overview(Picture& picture, const MapScene& scene, const figure::Rect& area);
/// Draws numbered rings around the listed spots on the main map, and a frame around the selection.
void draw_map_marks(Picture& picture, const MapScene& scene, const figure::Rect& room, std::size_t listed);
/// Lists the strongest weights far from the diagonal, as many as fit.
void draw_map_spots(Picture& picture, const MapScene& scene, const figure::Rect& area);
/// The height of a list with that many rows.
float spots_height(int rows);
/// The number of spots that fit into the list.
std::size_t listed_spots(const MapScene& scene, float height);

/// "1 pixel = 64 × 64 weights, largest shown"; without the word "weights" if there is little space.
std::string map_scale_text(const LongMapView& view, int scale, bool little_room = false);
/// A weight with three digits: "0.63", "0.00042", "3e-07".
std::string map_weight_text(float weight);

} // namespace headscope::app
