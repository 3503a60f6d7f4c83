#include "app/draw/block/block_strip.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace headscope::app {

void view_strip(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const ImVec2 origin = ImGui::GetWindowPos();
    const float scale = tools.surface.scale();
    Picture picture;
    picture.scene.add(figure::LineItem{{0, area.h - 0.5F}, {area.w, area.h - 0.5F}, theme.line, 1});
    if (const Screen screen = screen_of(state.shown, state.view); has_strip(screen)) {
        picture.append(draw_screen_strip(screen, draw_context(state, tools, area.w, area.h)), 0, 0);
        show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
        return;
    }
    if (state.view.walk.whole_block()) {
        picture.append(draw_block_strip(state.view, theme, tools.measure, area.w, area.h), 0, 0);
        show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
        return;
    }
    std::array<float, group_count> widths{};
    for (int g = 0; g < group_count; ++g)
        widths[static_cast<std::size_t>(g)] = tools.measure(
            std::string(group_info(static_cast<StageGroup>(g)).label), figure::Font::ui_semibold, 13);
    const float all = std::reduce(widths.begin(), widths.end());
    // Spread over the width as in a menu; where it is narrow the arrows between the names go first.
    const float edge = area.w < 600 ? 12.0F : 28.0F;
    const float gap =
        std::clamp((area.w - 2 * edge - all) / static_cast<float>(group_count - 1), 6.0F, 44.0F);
    const auto current =
        static_cast<std::size_t>(std::clamp(static_cast<int>(state.view.group), 0, group_count - 1));
    // Where even so not all names fit, the one of the stage on screen stays in the middle.
    const float length = all + gap * static_cast<float>(group_count - 1) + 2 * edge;
    const float middle = edge +
                         std::reduce(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(current)) +
                         gap * static_cast<float>(current) + widths[current] / 2;
    const float passed_by = std::clamp(middle - area.w / 2, 0.0F, std::max(length - area.w, 0.0F));
    float x = edge - passed_by;
    // Names that go on beyond an edge leave its last pixels to a step that way.
    constexpr float chevron = 16;
    const bool before = passed_by > 0, behind = length - area.w > passed_by;
    const float first = before ? chevron : 0, last = behind ? area.w - chevron : area.w;
    picture.scene.add(figure::ClipItem{{0, 0, area.w, area.h}});
    std::array<std::pair<float, float>, group_count> places{}; // left edge and width of each name
    for (int g = 0; g < group_count; ++g) {
        const auto group = static_cast<StageGroup>(g);
        const GroupInfo& info = group_info(group);
        const std::string label(info.label);
        const bool on = group == state.view.group;
        const bool passed = group <= state.view.group;
        const float width = widths[static_cast<std::size_t>(g)];
        const float left = std::max(x - gap / 2, first), right = std::min(x + width + gap / 2, last);
        picture.scene.add(figure::TextItem{{x + width / 2, figure::baseline_for(area.h / 2 - 1, 13)},
                                           label,
                                           on ? figure::Font::ui_semibold : figure::Font::ui_medium,
                                           13,
                                           passed ? theme.ink : theme.muted,
                                           figure::Align::center});
        places[static_cast<std::size_t>(g)] = {x, width};
        if (left < right)
            picture.hotspots.push_back({{left, 0, right - left, area.h},
                                        "stage " + std::string(info.label),
                                        ViewChange(GoTo{group}),
                                        tr(info.title)});
        x += width;
        if (g + 1 < group_count && gap >= 24) {
            const figure::Point tip{x + gap / 2 + 2, area.h / 2};
            draw_chevron(picture.scene, tip, Pointing::right, theme.line2);
        }
        x += gap;
    }
    // The mark under the name slides there from the stop before.
    const auto place = [&](StageGroup group) {
        return places[static_cast<std::size_t>(std::clamp(static_cast<int>(group), 0, group_count - 1))];
    };
    const auto [from, from_width] = place(state.view.came_from);
    const auto [to, to_width] = place(state.view.group);
    const float t = settled(state.view.arrival);
    picture.scene.add(
        figure::RectItem{.area = {std::lerp(from, to, t), area.h - 2, std::lerp(from_width, to_width, t), 2},
                         .fill = theme.ink});
    picture.scene.add(figure::ClipItem{});
    const auto more = [&](float left, Pointing where, int step) {
        const float tip = where == Pointing::left ? left + 5 : left + chevron - 5;
        picture.scene.add(figure::RectItem{.area = {left, 0, chevron, area.h - 1}, .fill = theme.canvas});
        draw_chevron(picture.scene, {tip, area.h / 2}, where, theme.ink);
        const auto next = static_cast<StageGroup>(static_cast<int>(current) + step);
        picture.hotspots.push_back({{left, 0, chevron, area.h},
                                    step < 0 ? "stage before in the strip" : "next stage in the strip",
                                    ViewChange(GoTo{next}),
                                    tr(group_info(next).title)});
    };
    if (before)
        more(0, Pointing::left, -1);
    if (behind)
        more(last, Pointing::right, 1);
    show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
}

} // namespace headscope::app
