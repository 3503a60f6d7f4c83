#include "app/draw/block/block_strip.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/strip_layout.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/strip/stage_miniature.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

namespace headscope::app {

namespace {

/// The stage that the Flow's story is at; none at rest.
std::optional<StageGroup> told_stage(const FlowView& flow) {
    if (flow.time <= 0 || flow.time >= flow.story.duration())
        return std::nullopt;
    constexpr std::array stages{StageGroup::qkv,     StageGroup::scores,   StageGroup::scaled,
                                StageGroup::weights, StageGroup::head_out, StageGroup::head_out,
                                StageGroup::output};
    return stages[static_cast<std::size_t>(flow.story.step_at(flow.time))];
}

} // namespace

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
    if (state.view.step_strip.whole_block()) {
        picture.append(draw_block_strip(state.view, theme, tools.measure, area.w, area.h), 0, 0);
        show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
        return;
    }
    const DrawContext context = draw_context(state, tools, area.w, area.h);
    const bool live = area.h >= low_live_strip_height && state.shown.trace != nullptr &&
                      state.shown.document->is_experiment();
    // The small picture stands above the name.
    const float mini_top = area.h >= live_strip_height ? 10 : 7,
                mini_height = area.h >= live_strip_height ? 30 : 22;
    const float name_middle = live ? (mini_top + mini_height + area.h) / 2 - 2 : area.h / 2 - 1;
    std::array<float, group_count> widths{}, names{}, minis{};
    for (int g = 0; g < group_count; ++g) {
        const auto n = static_cast<std::size_t>(g);
        names[n] = tools.measure(std::string(group_info(static_cast<StageGroup>(g)).label),
                                 figure::Font::ui_semibold, 13);
        if (live)
            minis[n] = std::min(miniature_width(context, static_cast<StageGroup>(g), mini_height), 76.0F);
        widths[n] = std::max(names[n], minis[n]);
    }
    const float edge = area.w < 600 ? 12.0F : 28.0F;
    const auto gap_of = [&](const std::array<float, group_count>& all) {
        return (area.w - 2 * edge - std::reduce(all.begin(), all.end())) /
               static_cast<float>(group_count - 1);
    };
    constexpr float least_live_gap = 10;
    if (live && gap_of(widths) < least_live_gap) { // pictures shrink before names shorten
        const float excess = (least_live_gap - gap_of(widths)) * static_cast<float>(group_count - 1);
        const float pictures = std::reduce(minis.begin(), minis.end());
        for (std::size_t n = 0; n < widths.size(); ++n)
            widths[n] = std::max(names[n], minis[n] * std::max(1 - excess / std::max(pictures, 1.0F), 0.3F));
    }
    // Names are spread over the width. In a narrow strip the arrows between them are dropped first.
    const float gap = std::clamp(gap_of(widths), 6.0F, 44.0F);
    const auto current =
        static_cast<std::size_t>(std::clamp(static_cast<int>(state.view.group), 0, group_count - 1));
    const StripLayout strip = lay_out_strip({widths.begin(), widths.end()}, gap, edge, area.w, current);
    picture.scene.add(figure::ClipItem{{0, 0, area.w, area.h}});
    const std::optional<StageGroup> current_group =
        state.view.flow.on_screen ? told_stage(state.view.flow) : std::optional(state.view.group);
    std::array<std::pair<float, float>, group_count> places{}; // left edge and width of each name
    for (int g = 0; g < group_count; ++g) {
        const auto group = static_cast<StageGroup>(g);
        const auto n = static_cast<std::size_t>(g);
        const GroupInfo& info = group_info(group);
        const std::string label(info.label);
        const bool on = group == current_group;
        const bool passed = state.view.flow.on_screen || group <= state.view.group;
        const float width = widths[n], x = strip.left[n];
        const figure::Rect spot = clickable_name_area(strip, x - gap / 2, width + gap, area.h);
        if (live) {
            const figure::Rect mini{x, mini_top, width, mini_height};
            if (on)
                picture.scene.add(figure::RectItem{
                    .area = {x - 7, 2, width + 14, area.h - 4}, .fill = theme.highlight, .radius = 5});
            draw_stage_miniature(picture, context, group, mini);
            if (has_changed(context, group))
                picture.scene.add(figure::RectItem{
                    .area = {x - 6, mini_top - 5, width + 12, mini_height + 10},
                    .stroke = figure::with_alpha(theme.ink, static_cast<std::uint32_t>(std::lround(
                                                                255 * eased(context.flash->strength)))),
                    .stroke_width = 1.5F,
                    .radius = 4});
        }
        add_text(picture.scene, {x + width / 2, figure::baseline_for(name_middle, 13)}, label,
                 on ? figure::Font::ui_semibold : figure::Font::ui_medium, 13,
                 passed ? theme.ink : theme.muted, figure::Align::center);
        places[n] = {x + (width - names[n]) / 2, names[n]};
        if (spot.w > 0)
            picture.add_hotspot(spot, "stage " + std::string(info.label), GoTo{group}, tr(info.title));
        if (g + 1 < group_count && gap >= 24) {
            const figure::Point tip{x + width + gap / 2 + 2, live ? mini_top + mini_height / 2 : area.h / 2};
            draw_chevron(picture.scene, tip, Pointing::right, theme.line2);
        }
    }
    if (state.view.flow.on_screen) {
        if (current_group) {
            const auto [x, width] = places[static_cast<std::size_t>(*current_group)];
            picture.scene.add(figure::RectItem{.area = {x, area.h - 2, width, 2}, .fill = theme.ink});
        }
        picture.scene.add(figure::ClipItem{});
        show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
        return;
    }
    // The mark under the name slides from the previous step.
    const auto place = [&](StageGroup group) {
        return places[static_cast<std::size_t>(std::clamp(static_cast<int>(group), 0, group_count - 1))];
    };
    const auto [from, from_width] = place(state.view.previous_step);
    const auto [to, to_width] = place(state.view.group);
    const float t = eased(state.view.arrival);
    picture.scene.add(
        figure::RectItem{.area = {std::lerp(from, to, t), area.h - 2, std::lerp(from_width, to_width, t), 2},
                         .fill = theme.ink});
    picture.scene.add(figure::ClipItem{});
    const auto step = [&](const char* label, std::size_t group) {
        const auto next = static_cast<StageGroup>(std::min<std::size_t>(group, group_count - 1));
        return Hotspot{{}, label, GoTo{next}, tr(group_info(next).title)};
    };
    draw_strip_buttons(picture, theme, strip, area.w, area.h,
                       step("stage before in the strip", current == 0 ? 0 : current - 1),
                       step("next stage in the strip", current + 1));
    show_picture(picture, origin.x + area.x * scale, origin.y + area.y * scale, tools, nullptr);
}

} // namespace headscope::app
