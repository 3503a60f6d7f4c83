#include "app/shell/layout.h"

#include "app/views/presentation/presentation.h"
#include "app/views/presentation/presented_bars.h"
#include "app/views/views.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr float smallest_canvas = 620.0F; ///< a window of 1280 minus its frame borders
/// The inspector opens automatically only if this much is left; the second value applies if the grid of heads
/// is next to the open head.
constexpr float comfortable_canvas = smallest_canvas, comfortable_with_head_grid = 800.0F;
constexpr float comfortable_model_flow = 1400.0F;                        ///< the layers of a language model
constexpr float comfortable_flow = 1220.0F;                              ///< the Flow shows its numbers
constexpr float roomy_window = 1440.0F, smallest_beside_manual = 540.0F; ///< width of the manual
constexpr float narrowest_canvas = 480.0F;                               ///< below that, opened panels fold

/// In a small window, the canvas shrinks first in favor of one open panel.
float narrowest_in(float width) {
    return std::min(narrowest_canvas, width / 2 - 80);
}

/// Returns the layout of a presentation: the open lesson on the left of the canvas, and on its right the
/// arithmetic that the lesson explains.
ProgramLayout presented(const AppState& state, float width, float height) {
    ProgramLayout out;
    out.window = {0, 0, width, height};
    out.left_open = state.course.open != nullptr;
    const float left = out.left_open ? std::min(presented_lesson_width, width / 2) : 0;
    // In an enlarged view, the arithmetic is dropped first, in favor of the canvas.
    constexpr float least_canvas = 400, least_inspector = 280;
    const float beside = std::min(presented_inspector_width, width - left - least_canvas);
    out.inspector_open = presents_arithmetic(state) && beside >= least_inspector;
    const float right = out.inspector_open ? beside : 0;
    out.left = {0, 0, left, height};
    out.inspector = {width - right, 0, right, height};
    const float top = presents_sentence(state) ? presented_sentence_height : 0,
                foot = presents_prediction(state) ? presented_prediction_height : 0;
    out.toolbar = {left, 0, width - left - right, top};
    out.bottom = {left, height - foot, width - left - right, foot};
    out.canvas = {left, top, width - left - right, height - top - foot};
    return out;
}

/// The strip of an attention input shows small pictures of its stages where they fit; else only names.
float height_of_strip(const AppState& state, float width, float window_height) {
    constexpr float least_width = 800, low_window = 800, lowest_window = 640;
    const bool stages = state.shown.document != nullptr && state.shown.document->is_experiment() &&
                        !state.shown.document->is_long() && state.document->is_experiment();
    if (!stages || width < least_width || window_height < lowest_window)
        return strip_height;
    return window_height < low_window ? low_live_strip_height : live_strip_height;
}

/// The width of the left panel. The text of a lesson has more room where that leaves a canvas.
float left_panel_width(const AppState& state, float width) {
    constexpr float lesson = 400;
    const ViewState& view = state.view;
    if (view.tab != LeftTab::course || state.course.open == nullptr)
        return view.left_width;
    const bool room = width - lesson - view.inspector_width >= comfortable_canvas;
    return view.lesson_width.value_or(room ? std::max(lesson, view.left_width) : view.left_width);
}

} // namespace

bool presents_arithmetic(const AppState& state) {
    const lesson::Step* const step = state.course.open == nullptr ? nullptr : state.course.step();
    return state.presentation.on && step != nullptr && step->scene.select.has_value();
}

ProgramLayout compute_layout(const AppState& state, float width, float height) {
    if (state.presentation.on)
        return presented(state, width, height);
    const ViewState& view = state.view;
    ProgramLayout out;
    out.window = {0, 0, width, height};
    out.toolbar = {0, 0, width, toolbar_height};
    out.bottom = {0, height - bottom_height, width, bottom_height};
    const float top = toolbar_height, middle = height - toolbar_height - bottom_height;
    const float left_width =
        state.manual.open ? std::clamp(view.manual_width.value_or(width < roomy_window ? 312.0F : 400.0F),
                                       280.0F, std::max(width - smallest_beside_manual, 312.0F))
                          : left_panel_width(state, width);
    const float room = width - left_width - view.inspector_width;
    const bool flow = view.flow.on_screen;
    const float flow_room = state.document->is_checkpoint() ? comfortable_model_flow : comfortable_flow;
    out.inspector_open =
        view.inspector_open.value_or(room >= (flow                              ? flow_room
                                              : state.document->has_head_grid() ? comfortable_with_head_grid
                                                                                : comfortable_canvas));
    const float beside = out.inspector_open ? view.inspector_width : rail_width;
    // The text of an open lesson stays next to the canvas.
    const bool in_lesson = view.tab == LeftTab::course && state.course.open != nullptr;
    out.left_open =
        state.manual.open ||
        view.left_open.value_or(width - left_width - beside >=
                                    (flow && view.tab != LeftTab::start ? flow_room : smallest_canvas) ||
                                in_lesson);
    // If the canvas would be too narrow, fold opened panels, the last opened one last.
    const auto canvas_width = [&] {
        return width - (out.left_open ? left_width : rail_width) -
               (out.inspector_open ? view.inspector_width : rail_width);
    };
    bool* const first = view.inspector_opened_last ? &out.left_open : &out.inspector_open;
    bool* const then = view.inspector_opened_last ? &out.inspector_open : &out.left_open;
    for (bool* const open : {first, then})
        if (canvas_width() < narrowest_in(width))
            *open = false;
    const float left = out.left_open ? left_width : rail_width;
    const float right = out.inspector_open ? view.inspector_width : rail_width;
    out.left = {0, top, left, middle};
    if (state.manual.open)
        out.manual = {0, top, std::min(left_width, width), middle};
    out.inspector = {width - right, top, right, middle};
    const float strip = height_of_strip(state, width - left - right, height);
    out.canvas_head = {left, top, width - left - right, strip};
    out.canvas = {left, top + strip, width - left - right, middle - strip};
    return out;
}

void view_splitters(const ProgramLayout& places, AppState& state, const ViewTools& tools) {
    const auto drag = [&](const char* id, float x, float& size, float direction, float low, float high) {
        const float to = drag_edge(id, x, toolbar_height + strip_height, places.left.h - strip_height, tools);
        if (to != x)
            size = std::clamp(direction > 0 ? to : places.window.w - to, low, high);
    };
    if (state.manual.open) {
        float wide = places.manual.w;
        drag("left edge", places.manual.right(), wide, 1, 280, 720);
        if (wide != places.manual.w)
            state.view.manual_width = wide;
    } else if (places.left_open) {
        const bool in_lesson = state.view.tab == LeftTab::course && state.course.open != nullptr;
        float wide = places.left.w;
        drag("left edge", places.left.right(), wide, 1, 280, 480);
        if (wide != places.left.w && in_lesson)
            state.view.lesson_width = wide;
        else if (wide != places.left.w)
            state.view.left_width = wide;
    }
    if (places.inspector_open)
        drag("inspector edge", places.inspector.x, state.view.inspector_width, -1, 280, 420);
}

} // namespace headscope::app
