#pragma once

#include "core/figure/scene.h"

#include <optional>

namespace headscope::app {

/// Maps one rectangle to another: sizes and positions, separately in x and y.
struct Mapping {
    figure::Rect from, to;

    float across() const { return from.w > 0 ? to.w / from.w : 1; }
    float down() const { return from.h > 0 ? to.h / from.h : 1; }
    figure::Point point(figure::Point p) const {
        return {to.x + (p.x - from.x) * across(), to.y + (p.y - from.y) * down()};
    }
    figure::Rect rect(const figure::Rect& r) const {
        const figure::Point corner = point({r.x, r.y});
        return {corner.x, corner.y, r.w * across(), r.h * down()};
    }
};

/// A rectangle between two, for t from 0 to 1.
figure::Rect between(const figure::Rect& a, const figure::Rect& b, float t);

/// A point inside an item, by which it belongs to a cell, and the size of the item; nothing for a clip.
struct ItemPlace {
    figure::Point center;
    float w = 0, h = 0;
};
std::optional<ItemPlace> place_of(const figure::SceneItem& item);

/// Moves an item. The text keeps whole even sizes, so that few fonts are needed; text that becomes unreadable
/// is left out, and so is text that becomes huge. Returns false if the item is left out.
bool move_item(figure::SceneItem& item, const Mapping& mapping);

/// Multiplies the opacity of an item. An image becomes paler by a veil in the color `background`, which is
/// returned for drawing over it.
std::optional<figure::SceneItem> fade_item(figure::SceneItem& item, float opacity, figure::Color background);

} // namespace headscope::app
