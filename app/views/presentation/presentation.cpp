#include "app/views/presentation/presentation.h"

#include "app/views/widgets.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// The room that a page is given, in logical pixels: as much larger as the window is.
constexpr float page_width = 960, page_height = 600;

constexpr double rest_seconds = 4; ///< then the spot goes away
constexpr double fade_seconds = 0.4, follow_seconds = 0.05;

} // namespace

float presentation_zoom(const Presentation& presentation, float usual, float width, float height) {
    constexpr float largest = 4;
    return std::clamp(std::min(width / page_width, height / page_height) * presentation.larger, usual,
                      std::max(usual, largest));
}

bool follow_mouse(PointerSpot& spot, const std::optional<figure::Point>& mouse, double seconds, bool moves) {
    constexpr float near = 0.25F; // logical pixels
    const PointerSpot before = spot;
    const bool was_seen = spot.strength > 0;
    float way = 0;
    if (mouse) {
        const float x = mouse->x - spot.at.x, y = mouse->y - spot.at.y;
        way = std::hypot(x, y);
        const float share = !moves || !was_seen || way < near
                                ? 1
                                : 1 - static_cast<float>(std::exp(-seconds / follow_seconds));
        spot.at = {spot.at.x + x * share, spot.at.y + y * share};
    }
    spot.rested = way > near ? 0 : spot.rested + seconds;
    const bool seen = mouse && spot.rested < rest_seconds;
    const auto step = moves ? static_cast<float>(seconds / fade_seconds) : 1.0F;
    spot.strength = std::clamp(spot.strength + (seen ? step : -step), 0.0F, 1.0F);
    return seen || spot.strength != before.strength;
}

void view_presentation(const Presentation& presentation, const figure::Rect& window, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    if (presentation.dark) {
        figure::Scene scene;
        scene.add(figure::RectItem{.area = window, .fill = figure::rgb(0x000000)});
        return paint(scene, origin.x, origin.y, tools.surface, list);
    }
    if (presentation.spot.strength <= 0)
        return;
    // Rings that add up: faint in the middle, so that what lies below can be read, strong towards the rim.
    constexpr float inner = 16, outer = 34, ring = 1;
    constexpr float strongest = 190;
    const float scale = tools.surface.scale();
    const ImVec2 center{origin.x + presentation.spot.at.x * scale, origin.y + presentation.spot.at.y * scale};
    const auto colour = [&](float alpha) {
        return figure::with_alpha(tools.theme.pointer,
                                  static_cast<std::uint32_t>(alpha * presentation.spot.strength));
    };
    constexpr int corners = 64;
    list.AddCircleFilled(center, inner * scale, colour(40), corners);
    for (float radius = inner; radius < outer; radius += ring) {
        const float place = (radius + ring / 2 - inner) / (outer - inner);
        const float share = place < 0.3F ? place / 0.3F : (1 - place) / 0.7F;
        list.AddCircle(center, (radius + ring / 2) * scale,
                       colour(40 * (1 - place) + (strongest - 40) * share), corners, ring * scale + 0.5F);
    }
}

} // namespace headscope::app
