#include "core/figure/scene.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headscope::figure {
namespace {

void move_by(Point& point, float dx, float dy) {
    point.x += dx;
    point.y += dy;
}

void move_by(Rect& area, float dx, float dy) {
    area.x += dx;
    area.y += dy;
}

struct Mover {
    float dx, dy;
    void operator()(RectItem& item) const { move_by(item.area, dx, dy); }
    void operator()(GridItem& item) const { move_by(item.area, dx, dy); }
    void operator()(ClipItem& item) const { move_by(item.area, dx, dy); }
    void operator()(TextItem& item) const { move_by(item.at, dx, dy); }
    void operator()(LineItem& item) const {
        move_by(item.from, dx, dy);
        move_by(item.to, dx, dy);
    }
    void operator()(CurveItem& item) const {
        move_by(item.from, dx, dy);
        move_by(item.control_from, dx, dy);
        move_by(item.control_to, dx, dy);
        move_by(item.to, dx, dy);
    }
    void operator()(PolygonItem& item) const {
        for (Point& point : item.points)
            move_by(point, dx, dy);
    }
};

} // namespace

void Scene::move_by(float dx, float dy) {
    for (SceneItem& item : items)
        std::visit(Mover{dx, dy}, item);
}

void add_text(Scene& scene, Point at, std::string text, Font font, float size, Color color, Align align,
              float angle) {
    scene.items.emplace_back(TextItem{at, std::move(text), font, size, color, align, angle});
}

void Scene::append(Scene other, float dx, float dy) {
    other.move_by(dx, dy);
    std::ranges::move(other.items, std::back_inserter(items));
}

} // namespace headscope::figure
