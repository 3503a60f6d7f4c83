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
    void operator()(BandItem& item) const {
        for (std::vector<Point>* const edge : {&item.edge, &item.other_edge})
            for (Point& point : *edge)
                move_by(point, dx, dy);
    }
    void operator()(PolygonItem& item) const {
        for (Point& point : item.points)
            move_by(point, dx, dy);
    }
};

} // namespace

bool is_drawn(const BandItem& band) {
    return band.edge.size() >= 2 && band.other_edge.size() == band.edge.size() &&
           band.colors.size() == band.edge.size() && std::ranges::any_of(band.colors, is_visible);
}

std::vector<float> gradient_stops(const BandItem& band) {
    const auto middle = [&](std::size_t i) {
        return Point{(band.edge[i].x + band.other_edge[i].x) / 2,
                     (band.edge[i].y + band.other_edge[i].y) / 2};
    };
    const Point from = middle(0), to = middle(band.edge.size() - 1);
    const float dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
    std::vector<float> stops;
    float reached = 0;
    for (std::size_t i = 0; i < band.edge.size(); ++i) {
        const Point at = middle(i);
        const float along = square > 0 ? ((at.x - from.x) * dx + (at.y - from.y) * dy) / square : 0;
        reached = std::max(reached, std::clamp(along, 0.0F, 1.0F));
        stops.push_back(reached);
    }
    return stops;
}

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
