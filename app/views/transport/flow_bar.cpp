#include "app/views/transport/flow_bar.h"

#include "app/commands/actions.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/state/screens/flow.h"
#include "app/views/controls/items.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float clock_size = 13, names_size = 12.5F;

/// "0:03.9"
std::string clock_text(float seconds) {
    const auto tenths = static_cast<int>(std::lround(seconds * 10));
    return fmt::format("{}:{:02}.{}", tenths / 600, tenths / 10 % 60, tenths % 10);
}

void flow_scrubber(const AppState& state, const figure::Rect& track, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    const FlowView& flow = state.view.flow;
    const float scale = tools.surface.scale(), length = std::max(flow.story.duration(), 0.1F);
    const ImVec2 origin = ImGui::GetWindowPos();
    const float y = track.y + track.h / 2 + 6;
    const auto x_of = [&](float time) { return track.x + track.w * time / length; };
    const float handle = x_of(flow.time);
    figure::Scene scene;
    scene.add(figure::RectItem{.area = {track.x, y - 1, track.w, 2}, .fill = theme.line2});
    scene.add(figure::RectItem{.area = {track.x, y - 1, handle - track.x, 2}, .fill = theme.ink});
    const FlowStep current = flow.story.step_at(flow.time);
    const bool told = flow.time > 0 && flow.time < length;
    for (int n = 0; n < flow_step_count; ++n) {
        const auto step = static_cast<FlowStep>(n);
        const float from = x_of(flow.story.start(step)), to = x_of(flow.story.end(step));
        scene.add(figure::RectItem{.area = {from - 1, y - 5, 2, 10},
                                   .fill = from <= handle + 0.5F ? theme.ink : theme.line2});
        const bool on = told && step == current;
        const figure::Font font = on ? figure::Font::ui_semibold : figure::Font::ui;
        const std::string name = flow_step_name(step, state.shown, state.view);
        if (on || tools.measure(name, font, names_size) + 6 <= to - from)
            add_text(scene, {(from + to) / 2, y - 12}, name, font, names_size, on ? theme.ink : theme.muted,
                     figure::Align::center);
    }
    scene.add(filled_disc({handle, y}, 6.5F, theme.ink));
    paint(scene, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    const figure::Rect place{origin.x + (track.x - 8) * scale, origin.y + (y - 12) * scale,
                             (track.w + 16) * scale, 24 * scale};
    ImGui::SetCursorScreenPos({place.x, place.y});
    invisible_button("scrubber", {place.w, place.h}, tools.surface);
    const ControlSteps steps = tools.focus.register_steppable(place).steps;
    if (std::abs(steps.across) >= ControlSteps::to_end)
        tools.send(SetFlowTime{steps.across > 0 ? length : 0});
    else if (steps.across != 0)
        tools.send(StepFlow{steps.across, !steps.fine});
    if (!ImGui::IsItemActive())
        return;
    const float mouse = (ImGui::GetIO().MousePos.x - origin.x) / scale;
    const float time = std::clamp((mouse - track.x) / track.w, 0.0F, 1.0F) * length;
    if (std::abs(time - flow.time) > 0.001F)
        tools.send(SetFlowTime{time});
}

/// The word of the story; of a checkpoint the token whose prediction is shown.
std::int64_t word_in_focus(const AppState& state) {
    const std::int64_t Tq = state.shown.problem().dims.Tq;
    return state.shown.document->is_checkpoint() ? std::clamp<std::int64_t>(state.shown.position, 0, Tq - 1)
                                                 : flow_word(state.view.flow, Tq);
}

std::vector<Choice> word_choices(const AppState& state) {
    std::vector<Choice> all;
    const Problem& problem = state.shown.problem();
    const std::int64_t now = word_in_focus(state);
    const bool checkpoint = state.shown.document->is_checkpoint();
    for (std::int64_t i = 0; i < problem.dims.Tq; ++i)
        all.push_back({problem.query_label(i), checkpoint ? Action(PredictAt{i}) : FocusFlowWord{i}, i == now,
                       tr("flow_bar.story_of_word", "The story of “{}”", problem.query_label(i))});
    return all;
}

} // namespace

void view_flow_bar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const FlowView& flow = state.view.flow;
    Picture picture;
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
    picture.scene.add(figure::LineItem{{0, area.y}, {area.w, area.y}, theme.line, 1});
    const float y = area.y + area.h / 2;
    struct Button {
        TransportIcon icon;
        const char* label;
        Action action;
        std::string tip;
        float x;
    };
    const bool playing = state.view.playing;
    const Button buttons[] = {
        {TransportIcon::first, "first", StepFlow{-1},
         with_key(tr("flow_keys.step_before", "Previous step of the story"), "flow step before"), 32},
        {playing ? TransportIcon::pause : TransportIcon::play, "play", TogglePlay{},
         with_key(playing ? tr("common.pause", "Pause") : tr("common.play", "Play"), "play"), 76},
        {TransportIcon::last, "last", StepFlow{1},
         with_key(tr("flow_keys.next_step", "Next step of the story"), "next flow step"), 120}};
    for (const Button& button : buttons) {
        const bool play = std::string_view(button.label) == "play";
        if (play)
            picture.scene.add(filled_disc({button.x, y}, 17, theme.ink));
        draw_transport_icon(picture.scene, button.icon, {button.x, y}, play ? theme.canvas : theme.ink);
        picture.add_hotspot({button.x - 17, y - 17, 34, 34}, button.label, button.action, button.tip);
    }
    float x = 150;
    const Problem& problem = state.shown.problem();
    const std::string word = shortened(problem.query_label(word_in_focus(state)), 10);
    const std::string caption = tr("flow_bar.play_word", "play");
    const float field = combo_width(caption, word, tools);
    const figure::Rect word_area{x, y - 16, field, 32};
    x += field + 16;
    const float clock = tools.measure("0:00.0", figure::Font::mono, clock_size);
    add_text(picture.scene, {x, figure::baseline_for(y, clock_size)}, clock_text(flow.time),
             figure::Font::mono, clock_size, theme.ink);
    x += clock + 18;
    // From the right: sizes of the problem, the switch, the speed.
    float right = area.w - 24;
    const Dims& dims = problem.dims;
    const std::string sizes = tr_n("flow_bar.heads", "{} head", "{} heads", dims.H, dims.H) + " · " +
                              tr_n("flow_bar.words", "{} word", "{} words", dims.Tq, dims.Tq);
    constexpr float roomy = 1360;
    if (area.w >= roomy) {
        const float wide = tools.measure(sizes, figure::Font::ui, 13);
        add_text(picture.scene, {right - wide, figure::baseline_for(y, 13)}, sizes, figure::Font::ui, 13,
                 theme.text);
        right -= wide + 20;
        picture.scene.add(figure::LineItem{{right, y - 12}, {right, y + 12}, theme.line2, 1});
        right -= 20;
    }
    const bool waits = flow.wait_for_reading;
    const std::string wait = tr("flow_keys.wait", "Wait for reading");
    const float wait_w = tools.measure(wait, figure::Font::ui, 13);
    const bool named = area.w >= 1180;
    const figure::Rect knob{right - 30, y - 8, 30, 16};
    picture.scene.add(figure::RectItem{.area = knob, .fill = waits ? theme.ink : theme.line2, .radius = 8});
    picture.scene.add(figure::RectItem{.area = {waits ? knob.right() - 14 : knob.x + 2, knob.y + 2, 12, 12},
                                       .fill = theme.canvas,
                                       .radius = 6});
    if (named)
        add_text(picture.scene, {knob.x - 8 - wait_w, figure::baseline_for(y, 13)}, wait, figure::Font::ui,
                 13, theme.text);
    const float switch_x = named ? knob.x - 8 - wait_w : knob.x;
    picture.add_hotspot({switch_x - 4, y - 14, right - switch_x + 8, 28}, "wait for reading",
                        WaitForReading{!waits},
                        with_key(tr("flow_keys.wait_tip",
                                    "The story waits at the end of a step until its sentence can be read"),
                                 "wait for reading"));
    right = switch_x - 16;
    const float speed = state.view.speed;
    const figure::Rect speed_area{right - 48, y - 14, 48, 28};
    const std::string speed_text = (speed < 0.5F ? number(speed, 2)
                                    : speed < 1  ? number(speed, 1)
                                                 : std::to_string(static_cast<int>(speed))) +
                                   "×";
    picture.scene.add(
        figure::RectItem{.area = speed_area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    add_text(picture.scene, {speed_area.x + speed_area.w / 2, figure::baseline_for(y, 13)}, speed_text,
             figure::Font::ui_medium, 13, theme.ink, figure::Align::center);
    picture.add_hotspot(speed_area, "speed", SetSpeed{speed >= 4 ? 0.25F : speed * 2},
                        tr("bottom_bar.playback_speed_click_next", "Playback speed; click for the next one"));
    right = speed_area.x - 14;
    add_text(picture.scene, {right - clock, figure::baseline_for(y, clock_size)},
             clock_text(flow.story.duration()), figure::Font::mono, clock_size, theme.muted);
    right -= clock + 16;
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    combo(
        caption, word, word_area, [&state] { return word_choices(state); }, tools);
    flow_scrubber(state, {x, area.y, std::max(right - x, 60.0F), area.h}, tools);
}

} // namespace headscope::app
