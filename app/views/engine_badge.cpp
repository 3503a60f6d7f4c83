#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/panels/engine_panel.h"
#include "app/state/screens/long_map.h"
#include "app/views/controls/items.h"
#include "app/views/dialog.h"
#include "app/views/given_weights.h"
#include "app/views/imgui_keys.h"
#include "app/views/views.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Null if no checkpoint is open.
checkpoint::TextModelPtr open_model_of(const AppState& state) {
    return state.document->is_checkpoint() ? state.document->part()->model : nullptr;
}

void engine_list(const AppState& state, const figure::Rect& badge, const ViewTools& tools) {
    const float scale = tools.surface.scale();
    const DrawContext context{.shown = state.shown,
                              .view = state.view,
                              .theme = tools.theme,
                              .measure = tools.measure,
                              .width = engine_panel_width,
                              .height = 0};
    const Picture panel = draw_engine_panel(state.engines, open_model_of(state), context);
    ImGui::SetNextWindowPos({badge.right() - panel.scene.width * scale, badge.bottom() + 4 * scale});
    ImGui::SetNextWindowSize({panel.scene.width * scale, panel.scene.height * scale});
    if (!ImGui::BeginPopup("engine list", ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoScrollbar))
        return;
    const ImVec2 origin = ImGui::GetWindowPos();
    // The focus ring continues from the badge into the list.
    if (!ImGui::IsWindowAppearing()) {
        move_focus_with_tab(tools);
        if (enter_pressed() && tools.focus.visible())
            tools.focus.activate();
    }
    show_picture(panel, origin.x, origin.y, tools, nullptr);
    if (key_pressed(ImGuiKey_Escape, false))
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace

float view_engine_badge(const AppState& state, float right, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    // A whole checkpoint runs on the CPU; weights alone are only read.
    const Trace* const trace = shows_transformed_weights(state) ? nullptr : state.shown.trace.get();
    const LongMap* const map = state.shown.map.get();
    const std::string name = trace != nullptr                         ? engine_title(*trace)
                             : map != nullptr && !map->device.empty() ? engine_title(map->device)
                                                                      : engine_title("cpu");
    const std::string time = trace == nullptr || !state.shows_run_time ? "" : time_text(trace->seconds);
    const bool incomplete = shows_transformed_weights(state) && state.model.run != nullptr &&
                            !state.model.run->model().ignored_tensors().empty();
    const ModelCheck* const check = state.engines.check_of(open_model_of(state));
    const bool failed = check != nullptr && check->failed();
    const bool warns = !state.engines.fallback_reason.empty() || incomplete || failed;
    const std::string captioned =
        warns ? "⚠ " + tr("engine_badge.engine", "engine") : tr("engine_badge.engine", "engine");
    const float caption = tools.measure(captioned, figure::Font::ui, 13);
    // Wide enough for any time and name, so that the badge does not move when they change.
    const float name_width = std::max(tools.measure(name, figure::Font::ui_medium, 13),
                                      tools.measure("CPU", figure::Font::ui_medium, 13));
    const float time_width = state.shows_run_time
                                 ? std::max(tools.measure(time, figure::Font::mono, 12.5F),
                                            tools.measure("000.0 ms", figure::Font::mono, 12.5F))
                                 : 0;
    const float width = caption + name_width + time_width + 66;
    const figure::Rect area{right - width, 10, width, 32};
    figure::Scene scene;
    scene.add(figure::RectItem{.area = area,
                               .fill = theme.raise,
                               .stroke = warns ? theme.bad : theme.line2,
                               .stroke_width = warns ? 2.0F : 1.0F,
                               .radius = 6});
    const float baseline = figure::baseline_for(26, 13);
    add_text(scene, {area.x + 12, baseline}, captioned, figure::Font::ui, 13,
             warns ? theme.bad : theme.muted);
    add_text(scene, {area.x + 12 + caption + 7, baseline}, name, figure::Font::ui_medium, 13, theme.ink);
    add_text(scene, {area.right() - 32, baseline}, time, figure::Font::mono, 12.5F, theme.muted,
             figure::Align::right);
    const figure::Point chevron{area.right() - 16, 28};
    draw_chevron(scene, chevron, Pointing::down, theme.muted);
    paint_here(scene, tools);

    const figure::Rect place = physical(area, tools);
    ImGui::SetCursorScreenPos({place.x, place.y});
    const bool clicked = invisible_button("engine", {place.w, place.h}, tools.surface);
    if (clicked || tools.focus.register_item(place)) {
        ImGui::OpenPopup("engine list");
        tools.send(EngineAction{EngineAction::Kind::list});
    } else if (ImGui::IsItemHovered()) {
        const std::string left_to_cpu =
            trace == nullptr ? std::string() : left_to_cpu_sentence(*trace, state.engines);
        show_tip(incomplete ? tr("engine_badge.model_runs_without_family",
                                 "This model runs without {}, which Headscope does not support for its "
                                 "family: its numbers may be wrong.",
                                 state.model.run->model().ignored_tensors().front())
                 : failed   ? check->sentence()
                 : warns ? tr("common.cpu_goes", "Using the CPU instead: {}.", state.engines.fallback_reason)
                         : tr("engine_badge.time_last_run_click",
                              "Time of the last run. {} Click to choose the engine.", state.recomputed) +
                               (left_to_cpu.empty() ? "" : " " + left_to_cpu) +
                               (check == nullptr || state.engines.checking ? "" : " " + check->sentence()),
                 tools);
    }
    engine_list(state, place, tools);
    return width;
}

} // namespace headscope::app
