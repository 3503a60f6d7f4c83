#include "app/views/presentation/presentation.h"

#include "app/views/widgets.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headscope::app {

namespace {

/// The size of the canvas at 100 %, in logical pixels; the zoom grows with the window.
constexpr float page_width = 960, page_height = 600;

/// One circle of a colored band.
struct Rim {
    float radius; ///< physical pixels
    figure::Color colour;
};

/// Fills the area between two circles with a gradient from one color to the other.
void band(ImDrawList& list, const ImVec2& center, const Rim& from, const Rim& to) {
    constexpr int corners = 64;
    const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
    list.PrimReserve(6 * corners, 2 * (corners + 1));
    for (int i = 0; i < corners; ++i) {
        const unsigned first = list._VtxCurrentIdx + 2 * static_cast<unsigned>(i);
        for (const unsigned corner : {0U, 1U, 3U, 0U, 3U, 2U})
            list.PrimWriteIdx(static_cast<ImDrawIdx>(first + corner));
    }
    for (int i = 0; i <= corners; ++i) {
        const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / corners;
        for (const Rim& rim : {from, to})
            list.PrimWriteVtx(
                {center.x + rim.radius * std::cos(angle), center.y + rim.radius * std::sin(angle)}, white,
                rim.colour);
    }
}

constexpr double rest_seconds = 4; ///< the spot fades out after this time
constexpr double fade_seconds = 0.4, follow_seconds = 0.05;

} // namespace

float presentation_zoom(const Presentation& presentation, float width, float height, float beside) {
    constexpr float smallest = 1, largest = 4;
    return std::clamp(std::min(width / (page_width + beside), height / page_height) *
                          presentation.zoom_factor,
                      smallest, largest);
}

void open_presented_field(Presentation& presentation) {
    presentation.types_sentence = true;
    presentation.frames_left = 10; // an input gets the keyboard some frames later
}

bool move_spot_to_mouse(PointerSpot& spot, const std::optional<figure::Point>& mouse, double seconds,
                        bool moves) {
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
    spot.seconds_at_rest = way > near ? 0 : spot.seconds_at_rest + seconds;
    const bool seen = mouse && spot.seconds_at_rest < rest_seconds;
    const auto step = moves ? static_cast<float>(seconds / fade_seconds) : 1.0F;
    spot.strength = std::clamp(spot.strength + (seen ? step : -step), 0.0F, 1.0F);
    return seen || spot.strength != before.strength;
}

void view_presentation(const Presentation& presentation, const figure::Rect& window, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    if (presentation.blank) {
        figure::Scene scene;
        scene.add(figure::RectItem{.area = window, .fill = figure::rgb(0x000000)});
        return paint(scene, origin.x, origin.y, tools.surface, list);
    }
    if (presentation.spot.strength <= 0)
        return;
    // Faint in the center, so that the content below stays readable, and strong near the rim.
    constexpr float inner = 16, strong = 22, outer = 36;
    constexpr float faint_alpha = 40, strong_alpha = 200;
    const float scale = tools.surface.scale();
    const ImVec2 center{origin.x + presentation.spot.at.x * scale, origin.y + presentation.spot.at.y * scale};
    const auto colour = [&](float alpha) {
        return figure::with_alpha(tools.theme.pointer,
                                  static_cast<std::uint32_t>(alpha * presentation.spot.strength));
    };
    band(list, center, {0, colour(faint_alpha)}, {inner * scale, colour(faint_alpha)});
    band(list, center, {inner * scale, colour(faint_alpha)}, {strong * scale, colour(strong_alpha)});
    band(list, center, {strong * scale, colour(strong_alpha)}, {outer * scale, colour(0)});
}

} // namespace headscope::app
