#include "app/commands/actions.h"
#include "app/draw/kit/format.h"
#include "app/draw/map/long_map.h"
#include "app/state/screens/screen.h"
#include "app/views/controls/items.h"
#include "app/views/files/file_views.h"
#include "app/views/given_weights.h"
#include "app/views/scrolled.h"
#include "app/views/transport/flow_bar.h"
#include "app/views/views.h"
#include "core/attention/cost.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

void draw_transport_icon(figure::Scene& scene, TransportIcon icon, figure::Point center,
                         figure::Color color) {
    const auto triangle = [&](float x, float side) {
        scene.add(figure::PolygonItem{
            {{x - 4 * side, center.y - 5}, {x + 4 * side, center.y}, {x - 4 * side, center.y + 5}}, color});
    };
    const auto bar = [&](float x) {
        scene.add(figure::RectItem{.area = {x - 1, center.y - 6, 2, 12}, .fill = color});
    };
    switch (icon) {
    case TransportIcon::first:
        bar(center.x - 6);
        triangle(center.x + 1, -1);
        break;
    case TransportIcon::back:
        triangle(center.x, -1);
        break;
    case TransportIcon::play:
        triangle(center.x + 1, 1.2F);
        break;
    case TransportIcon::pause:
        scene.add(figure::RectItem{.area = {center.x - 5, center.y - 6, 3.5F, 12}, .fill = color});
        scene.add(figure::RectItem{.area = {center.x + 1.5F, center.y - 6, 3.5F, 12}, .fill = color});
        break;
    case TransportIcon::next:
        triangle(center.x, 1);
        break;
    case TransportIcon::last:
        triangle(center.x - 1, 1);
        bar(center.x + 6);
        break;
    }
}

figure::PolygonItem filled_disc(figure::Point center, float radius, figure::Color color) {
    figure::PolygonItem item{{}, color};
    constexpr int corners = 40;
    for (int i = 0; i < corners; ++i) {
        const float angle = 6.2831853F * static_cast<float>(i) / corners;
        item.points.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
    }
    return item;
}

namespace {

struct Status {
    std::string text;
    float width = 0;
    std::string tip = {};
};

/// The dimensions, shortened to the available width; a warning about missing fonts takes precedence.
Status status_of(const AppState& state, float room, const ViewTools& tools) {
    if (const std::string package = tools.surface.missing_font(); !package.empty()) {
        const std::string whole =
            tr("bottom_bar.some_characters_no_font",
               "⚠ No font of this system has some of the characters: install the package {}", package);
        for (const std::string& text :
             {whole, tr("bottom_bar.fonts_missing_install", "⚠ Fonts are missing: install {}", package),
              "⚠ " + package})
            if (const float width = tools.measure(text, figure::Font::ui, 13); width <= room)
                return {text, width, whole};
    }
    // The layer's own dimensions, even if its weights are shown transformed.
    const Problem& problem =
        (shows_transformed_weights(state) ? state.document : state.shown.document)->problem;
    const Dims& d = problem.dims;
    const Cost cost = cost_of(d, problem.weights.b_Q != nullptr || problem.weights.b_O != nullptr);
    std::string sizes = problem.cross() || d.Tq != d.Tk
                            ? "Tq " + std::to_string(d.Tq) + "  Tk " + std::to_string(d.Tk)
                            : "T " + std::to_string(d.Tq);
    sizes += "  D " + std::to_string(d.D) + "  H " + std::to_string(d.H);
    if (d.Hkv != d.H)
        sizes += "  Hkv " + std::to_string(d.Hkv);
    sizes += "  dk " + std::to_string(d.dk);
    if (d.dv != d.dk)
        sizes += "  dv " + std::to_string(d.dv);
    if (d.B > 1)
        sizes = "B " + std::to_string(d.B) + "  " + sizes;
    const std::string counted =
        sizes + "  ·  " + tr("common.parameters", "{} parameters", grouped(cost.parameters));
    for (const std::string& text : {counted + "  ·  " + flops_text(cost.flops()), counted, sizes})
        if (const float width = tools.measure(text, figure::Font::ui, 13); width <= room)
            return {text, width,
                    problem.relative
                        ? tr("bottom_bar.without_relative_terms",
                             "Parameters are the numbers in W_Q, W_K, W_V, W_O and biases. One multiply-add "
                             "counts as 2 FLOP: projections and attention, without softmax and without the "
                             "terms by relative position.")
                        : tr("bottom_bar.parameters_numbers_w_q",
                             "Parameters are the numbers in W_Q, W_K, W_V, W_O and biases. One multiply-add "
                             "counts "
                             "as 2 FLOP: projections and attention, without softmax.")};
    return {};
}

std::string place_text(const AppState& state) {
    const ViewState& view = state.drawn_view(); // its row belongs to what is on screen
    std::string text(group_info(view.group).label);
    if (view.step_strip.whole_block() && &view.step_strip.section_with(view.group) == &view.step_strip.layer)
        text = "L" + std::to_string(view.attention.layer) + " · " + text;
    if (view.row >= 0)
        text += " · " +
                tr("bottom_bar.row", "row {}", shortened(query_word(state.shown.problem(), view.row), 12));
    return text;
}

void speed_choice(const AppState& state, Picture& picture, const figure::Rect& area, const ViewTools& tools) {
    const float speed = state.view.speed;
    const std::string text = (speed < 1 ? number(speed, 1) : std::to_string(static_cast<int>(speed))) + "×";
    picture.scene.add(
        figure::RectItem{.area = area, .fill = tools.theme.raise, .stroke = tools.theme.line2, .radius = 6});
    add_text(picture.scene, {area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, 13)}, text,
             figure::Font::ui_medium, 13, tools.theme.ink, figure::Align::center);
    const float next = speed >= 4 ? 0.5F : speed * 2;
    picture.add_hotspot(area, "speed", SetSpeed{next},
                        tr("bottom_bar.playback_speed_click_next", "Playback speed; click for the next one"));
}

/// The track with its ticks and handle. Dragging it moves to the stage and row under the mouse.
void scrubber(const AppState& state, const figure::Rect& track, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const std::vector<StageGroup>& strip_steps = scrubber_steps(state.view);
    const float step = track.w / static_cast<float>(std::max<std::size_t>(strip_steps.size() - 1, 1));
    const float y = track.y + track.h / 2;
    const Dims& dims = state.shown.dims();
    const float handle = track.x + step * scrubber_position(state.view, dims);
    figure::Scene scene;
    scene.add(figure::RectItem{.area = {track.x, y - 1, track.w, 2}, .fill = theme.line2});
    scene.add(figure::RectItem{.area = {track.x, y - 1, handle - track.x, 2}, .fill = theme.ink});
    for (std::size_t g = 0; g < strip_steps.size(); ++g) {
        const float x = track.x + step * static_cast<float>(g);
        scene.add(figure::RectItem{.area = {x - 1, y - 5, 2, 10},
                                   .fill = x <= handle + 0.5F ? theme.ink : theme.line2});
    }
    scene.add(filled_disc({handle, y}, 6.5F, theme.ink));
    const std::string text = place_text(state);
    const float half = tools.measure(text, figure::Font::ui_semibold, 12.5F) / 2;
    tools.surface.need_glyphs(text);
    const float text_x =
        std::clamp(handle, track.x + half - 4, std::max(track.right() - half + 4, track.x + half - 4));
    add_text(scene, {text_x, y - 13}, text, figure::Font::ui_semibold, 12.5F, theme.ink,
             figure::Align::center);
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());

    const figure::Rect place{origin.x + (track.x - 8) * scale, origin.y + (y - 12) * scale,
                             (track.w + 16) * scale, 24 * scale};
    ImGui::SetCursorScreenPos({place.x, place.y});
    invisible_button("scrubber", {place.w, place.h}, tools.surface);
    const ControlSteps steps = tools.focus.register_steppable(place).steps;
    if (std::abs(steps.across) >= ControlSteps::to_end)
        tools.send(GoTo{steps.across > 0 ? state.view.step_strip.last() : state.view.step_strip.first()});
    else if (steps.across != 0)
        tools.send(StepStage{steps.across});
    else if (steps.up != 0)
        tools.send(StepRow{-steps.up});
    if (!ImGui::IsItemActive())
        return;
    const float mouse = (ImGui::GetIO().MousePos.x - origin.x) / scale;
    const GoTo target = scrubber_target(
        state.view, std::clamp((mouse - track.x) / step, 0.0F, static_cast<float>(strip_steps.size() - 1)),
        dims);
    if (target.group != state.view.group || target.row != state.view.row)
        tools.send(target);
}

} // namespace

const std::vector<StageGroup>& scrubber_steps(const ViewState& view) {
    return view.step_strip.section_with(view.group);
}

float scrubber_position(const ViewState& view, const Dims& dims) {
    const std::vector<StageGroup>& strip_steps = scrubber_steps(view);
    const auto stage = static_cast<float>(std::ranges::find(strip_steps, view.group) - strip_steps.begin());
    if (view.row < 0 || stage == 0)
        return stage;
    return stage - 1 + static_cast<float>(view.row + 1) / static_cast<float>(dims.Tq + 1);
}

GoTo scrubber_target(const ViewState& view, float place, const Dims& dims) {
    const std::vector<StageGroup>& strip_steps = scrubber_steps(view);
    const float nearest = std::round(place);
    if (std::abs(place - nearest) < 0.12F || place <= 0)
        return {strip_steps[static_cast<std::size_t>(nearest)], -1};
    const float stage = std::ceil(place);
    const float share = place - (stage - 1);
    const auto row = static_cast<std::int64_t>(share * static_cast<float>(dims.Tq));
    return {strip_steps[static_cast<std::size_t>(stage)], std::clamp<std::int64_t>(row, 0, dims.Tq - 1)};
}

void view_bottom_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    if (state.view.flow.on_screen)
        return view_flow_bar(state, area, tools);
    const ImVec2 origin = ImGui::GetWindowPos();
    if (screen_of(state.shown, state.view) == Screen::map) {
        Picture bar;
        bar.append(draw_long_map_bar(draw_context(state, tools, area.w, area.h)), area.x, area.y);
        return show_picture(bar, origin.x, origin.y, tools, nullptr);
    }
    const Theme& theme = tools.theme;
    Picture picture;
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
    picture.scene.add(figure::LineItem{{0, area.y}, {area.w, area.y}, theme.line, 1});
    if (state.shown.trace == nullptr) // a long text has no stages to step through
        return show_picture(picture, origin.x, origin.y, tools, nullptr);
    const float y = area.y + area.h / 2;
    const bool playing = state.view.playing;
    struct Button {
        TransportIcon icon;
        const char* label;
        Action action;
        std::string tip;
    };
    const Button buttons[] = {
        {TransportIcon::first, "first", GoTo{state.view.step_strip.first()},
         with_key(tr("common.first_stage", "First stage"), "first stage")},
        {TransportIcon::back, "back", StepStage{-1},
         with_key(tr("common.stage_before", "Previous stage"), "stage before")},
        {playing ? TransportIcon::pause : TransportIcon::play, "play", TogglePlay{},
         with_key(playing ? tr("common.pause", "Pause") : tr("common.play", "Play"), "play")},
        {TransportIcon::next, "next", StepStage{1},
         with_key(tr("common.next_stage", "Next stage"), "next stage")},
        {TransportIcon::last, "last", GoTo{state.view.step_strip.last()},
         with_key(tr("common.last_stage", "Last stage"), "last stage")}};
    float x = 32;
    for (const Button& button : buttons) {
        const bool play = std::string_view(button.label) == "play";
        x += play ? 8.0F : 0.0F;
        if (play)
            picture.scene.add(filled_disc({x, y}, 17, theme.ink));
        draw_transport_icon(picture.scene, button.icon, {x, y}, play ? theme.canvas : theme.ink);
        picture.add_hotspot({x - 17, y - 17, 34, 34}, button.label, button.action, button.tip);
        x += play ? 42.0F : 34.0F;
    }
    const float left = x + 6;
    const SaveStatus saved = save_status(state.files);
    // As wide as the longest text, so that the scrubber does not move while edits are saved.
    const std::string failed = "⚠ " + tr("common.not_saved", "not saved");
    const float saved_width =
        saved.text.empty()
            ? 0
            : tools.measure("  ·  ", figure::Font::ui, 13) +
                  std::max(tools.measure(tr("common.autosaved", "autosaved"), figure::Font::ui, 13),
                           tools.measure(failed, figure::Font::ui, 13));
    const Status status = status_of(state, area.w - left - 24 - 360 - saved_width, tools);
    const float status_x = area.w - 24 - status.width - saved_width;
    if (!saved.text.empty()) {
        const float x_saved = area.w - 24 - saved_width;
        const float baseline = figure::baseline_for(y, 13);
        if (!status.text.empty())
            add_text(picture.scene, {x_saved, baseline}, "  ·  ", figure::Font::ui, 13, theme.text);
        add_text(picture.scene, {x_saved + tools.measure("  ·  ", figure::Font::ui, 13), baseline},
                 saved.failed ? failed : saved.text, figure::Font::ui, 13,
                 saved.failed ? theme.bad : theme.text);
        picture.tips.push_back({{x_saved, area.y, saved_width, area.h}, saved.tip});
    }
    if (!status.text.empty()) {
        picture.scene.add(figure::LineItem{{status_x - 20, y - 12}, {status_x - 20, y + 12}, theme.line2, 1});
        add_text(picture.scene, {status_x, figure::baseline_for(y, 13)}, status.text, figure::Font::ui, 13,
                 theme.text);
        picture.tips.push_back({{status_x, area.y, status.width, area.h}, status.tip});
    }
    const float speed_x = status_x - 40 - 44;
    speed_choice(state, picture, {speed_x, y - 14, 44, 28}, tools);
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    scrubber(state, {left, area.y, std::max(speed_x - 24 - left, 60.0F), area.h}, tools);
}

} // namespace headscope::app
