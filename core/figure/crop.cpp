#include "core/figure/crop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace headscope::figure {
namespace {

constexpr float ascent = 0.95F, descent = 0.25F; ///< of a line of text, as fractions of its size

struct Bounds {
    float left = std::numeric_limits<float>::max(), top = left, right = -left, bottom = -left;

    bool empty() const { return left > right || top > bottom; }
    void include(Point point) {
        left = std::min(left, point.x);
        right = std::max(right, point.x);
        top = std::min(top, point.y);
        bottom = std::max(bottom, point.y);
    }
    void join(const Bounds& other) {
        include({other.left, other.top});
        include({other.right, other.bottom});
    }
    bool holds(const Bounds& other) const {
        return other.left >= left && other.right <= right && other.top >= top && other.bottom <= bottom;
    }
    void clip(const Bounds& other) {
        left = std::max(left, other.left);
        right = std::min(right, other.right);
        top = std::max(top, other.top);
        bottom = std::min(bottom, other.bottom);
    }
};

constexpr float far_away = std::numeric_limits<float>::infinity();
constexpr Bounds everywhere{-far_away, -far_away, far_away, far_away};

Bounds around(std::initializer_list<Point> points, float reach = 0) {
    Bounds bounds;
    for (const Point& point : points) {
        bounds.include({point.x - reach, point.y - reach});
        bounds.include({point.x + reach, point.y + reach});
    }
    return bounds;
}

Bounds around(const Rect& area) {
    return area.w > 0 && area.h > 0 ? around({{area.x, area.y}, {area.right(), area.bottom()}}) : Bounds{};
}

Bounds of_text(const TextItem& item, float width) {
    const float before = item.align == Align::left ? 0 : item.align == Align::center ? width / 2 : width;
    const float turn = item.angle * std::numbers::pi_v<float> / 180;
    Bounds bounds;
    for (const float x : {-before, width - before})
        for (const float y : {-ascent * item.size, descent * item.size})
            bounds.include({item.at.x + x * std::cos(turn) - y * std::sin(turn),
                            item.at.y + x * std::sin(turn) + y * std::cos(turn)});
    return bounds;
}

/// Computes the bounding box of all items.
class Content {
public:
    Content(const Scene& scene, const TextMeasure& measure, Color background)
        : scene_(scene), measure_(measure), background_(background) {}

    bool divides(const LineItem& line) const {
        return line.from.y == line.to.y && std::abs(line.to.x - line.from.x) >= 0.85F * scene_.width;
    }

    Bounds bounds() {
        for (const SceneItem& item : scene_.items)
            if (!std::holds_alternative<TextItem>(item))
                std::visit(*this, item);
        clip_ = everywhere;
        for (const SceneItem& item : scene_.items) // last, when few texts extend beyond the other items
            if (const TextItem* const text = std::get_if<TextItem>(&item))
                add_text(*text);
            else if (const ClipItem* const clip = std::get_if<ClipItem>(&item))
                (*this)(*clip);
        if (!all_.empty() && !dividers_.empty()) {
            all_.top = std::min(all_.top, dividers_.top);
            all_.bottom = std::max(all_.bottom, dividers_.bottom);
        }
        return all_;
    }

    void operator()(const RectItem& item) {
        if ((is_visible(item.fill) && item.fill != background_) ||
            (is_visible(item.stroke) && item.stroke_width > 0))
            add(around(item.area));
    }
    void operator()(const LineItem& item) {
        if (is_visible(item.color) && divides(item))
            dividers_.join(around({item.from, item.to}));
        else if (is_visible(item.color))
            add(around({item.from, item.to}, item.width / 2));
    }
    void operator()(const CurveItem& item) {
        if (is_visible(item.color)) // a curve stays within the hull of its four points
            add(around({item.from, item.control_from, item.control_to, item.to}, item.width / 2));
    }
    void operator()(const PolygonItem& item) {
        Bounds bounds;
        for (const Point& point : item.points)
            bounds.include(point);
        if (is_visible(item.fill) && item.points.size() > 2)
            add(bounds);
    }
    void operator()(const BandItem& item) {
        Bounds bounds;
        for (const std::vector<Point>* const edge : {&item.edge, &item.other_edge})
            for (const Point& point : *edge)
                bounds.include(point);
        if (is_drawn(item))
            add(bounds);
    }
    void operator()(const TextItem& item) { add_text(item); }
    void operator()(const GridItem& item) { add(around(item.area)); }
    void operator()(const ClipItem& item) {
        clip_ = item.area.w > 0 && item.area.h > 0 ? around(item.area) : everywhere;
    }

private:
    void add_text(const TextItem& item) {
        if (item.text.empty() || !is_visible(item.color))
            return;
        // No character is wider than twice its size: most texts need not be measured.
        const float most = 2 * item.size * static_cast<float>(item.text.size());
        if (!all_.holds(of_text(item, most)))
            add(of_text(item, measure_(item.text, item.font, item.size)));
    }
    void add(Bounds bounds) {
        bounds.clip(clip_);
        if (!bounds.empty())
            all_.join(bounds);
    }

    const Scene& scene_;
    const TextMeasure& measure_;
    Color background_;
    Bounds all_, dividers_;
    Bounds clip_ = everywhere;
};

} // namespace

Scene cropped(const Scene& scene, const TextMeasure& measure, Color background, float margin) {
    Content content(scene, measure, background);
    Bounds bounds = content.bounds();
    if (bounds.empty())
        return scene;
    // Whole pixels, so that straight edges keep their position between pixels.
    bounds = {std::floor(bounds.left), std::floor(bounds.top), std::ceil(bounds.right),
              std::ceil(bounds.bottom)};
    Scene trimmed = scene;
    for (SceneItem& item : trimmed.items)
        if (LineItem* const line = std::get_if<LineItem>(&item); line != nullptr && content.divides(*line)) {
            line->from.x = std::clamp(line->from.x, bounds.left, bounds.right);
            line->to.x = std::clamp(line->to.x, bounds.left, bounds.right);
        }
    trimmed.width = bounds.right - bounds.left + 2 * margin;
    trimmed.height = bounds.bottom - bounds.top + 2 * margin;
    trimmed.move_by(margin - bounds.left, margin - bounds.top);
    return trimmed;
}

} // namespace headscope::figure
