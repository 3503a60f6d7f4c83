#pragma once

#include "app/draw/kit/picture.h"
#include "app/state/screens/long_map.h"

#include <string>

namespace headscope::app {

/// The least width of a canvas with room for the whole map beside the main one.
inline constexpr float side_from = 860;

/// What every part of the page is drawn from.
struct MapScene {
    const DrawContext& context;
    const LongMap& map;
    const LongMapView& view;

    const Problem& problem() const { return context.shown.problem(); }
    MapSight sight() const { return sight_of(view, map.rows, map.cols); }
    /// "the@104518", or "104518" where tokens have no names.
    std::string query(std::int64_t i) const;
    std::string key(std::int64_t j) const;
    bool has_words() const { return !problem().tokens.empty(); }
};

/// The pixels of what `view` sees, into a room of its size: tiles where they are there, else the overview,
/// paler; hatched where nothing is known.
void draw_map_tiles(Picture& picture, const MapScene& scene, const LongMapView& view,
                    const figure::Rect& room);
/// Half way to the canvas: what is not sure at this size.
figure::Color paler(figure::Color colour, figure::Color canvas);
/// The colour of a weight, or of a pixel of weights, at that scale; of what no softmax gives, that of a
/// fault.
figure::Color map_colour(const MapScene& scene, float value, float end);

/// The whole map with what is seen as a rectangle that can be dragged.
void draw_map_whole(Picture& picture, const MapScene& scene, const figure::Rect& area);
/// On the main map: rings with numbers round the listed spots, and a frame round what is selected.
void draw_map_marks(Picture& picture, const MapScene& scene, const figure::Rect& room, std::size_t listed);
/// The strongest weights far from the diagonal, as many as there is room for.
void draw_map_spots(Picture& picture, const MapScene& scene, const figure::Rect& area);
/// The height of a list with so many rows.
float spots_height(int rows);
/// How many of them the list has room for.
std::size_t listed_spots(const MapScene& scene, float height);

/// "1 pixel = 64 × 64 weights, largest shown"; where there is little room, without the word weights.
std::string map_scale_text(const LongMapView& view, int scale, bool little_room = false);
/// "0.63", "0.00042", "3e-07": three digits of a weight.
std::string map_weight_text(float weight);

} // namespace headscope::app
