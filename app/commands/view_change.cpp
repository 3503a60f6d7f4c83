#include "app/commands/view_change.h"

#include "app/state/shown.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headscope::app {

namespace {

constexpr double slide_seconds = 0.4;
constexpr double arrival_seconds = 0.25, pointing_seconds = 0.5;
/// Start of `pointing` without animations: the single remaining frame scrolls the cells into view.
constexpr float at_once = 0.96F;
constexpr double stage_dwell_seconds = 2.4;
constexpr double shortest_row_seconds = 0.12;
constexpr double longest_row_seconds = 0.8;

/// Returns true for a fraction of an expert, from the router to the output of the MLP: the sum of the experts
/// shows the expert that is selected.
bool stays_selected(const ViewState& view, StageGroup group) {
    return view.selected && view.selected->tensor == TensorId::routing && group >= StageGroup::routing &&
           group <= StageGroup::mlp_out;
}

void go_to(ViewState& view, StageGroup group, std::int64_t row) {
    if (group != view.group) {
        if (!stays_selected(view, group))
            view.selected.reset();
        view.brush = {}; // it belongs to the view where it was turned on
        view.previous_step = view.group;
        view.arrival = view.animates() ? 0.0F : 1.0F;
        if (group == StageGroup::split) {
            view.apart = 0.0F;
            view.apart_target = 1.0F;
        }
        if (group == StageGroup::concat) {
            view.joined = 0.0F;
            view.joined_target = 1.0F;
        }
    } else if (row != view.row && row >= 0) {
        view.selected.reset();
    }
    view.group = group;
    view.row = row;
    view.hover.reset();
}

/// A stage that is opened from the Flow can be closed again.
void leave_flow(ViewState& view) {
    if (view.attention.screen != Screen::flow)
        return;
    view.playing = false;
    view.flow.opened_stage = true;
}

void open_flow_stage(ViewState& view, TensorId tensor) {
    // The queries of a head are made at the stage of all queries; the next stage only splits them.
    for (const auto& [blocks, joined] : {std::pair(TensorId::q_heads, TensorId::q),
                                         {TensorId::k_heads, TensorId::k},
                                         {TensorId::v_heads, TensorId::v}})
        tensor = tensor == blocks ? joined : tensor;
    leave_flow(view);
    view.attention.screen = Screen::stages;
    if (tensor == TensorId::q || tensor == TensorId::W_Q)
        view.projection = Projection::q;
    if (tensor == TensorId::k || tensor == TensorId::W_K)
        view.projection = Projection::k;
    if (tensor == TensorId::v || tensor == TensorId::W_V)
        view.projection = Projection::v;
    const std::optional<CellAddress> selected = view.selected;
    go_to(view, tensor_info(tensor).group, -1);
    view.selected = selected;
}

void show_tensor(ViewState& view, const ShowTensor& change) {
    apply(view, ShowStack{change.place.stack});
    view.selected.reset();
    apply(view,
          OpenHead{std::max<std::int64_t>(change.place.layer, 0), change.head < 0 ? view.head : change.head});
    open_flow_stage(view, change.tensor);
}

void step_stage(ViewState& view, int by) {
    const StripPosition next = stepped(view.step_strip, {view.group, view.attention.layer}, by);
    if (next.layer != view.attention.layer)
        view.selected.reset(); // belongs to the previous layer
    view.attention.layer = next.layer;
    go_to(view, next.step, -1);
}

/// Returns true if no step follows.
bool at_end(const ViewState& view) {
    const StepStrip& strip = view.step_strip;
    return view.group == strip.last() && (!strip.after.empty() || view.attention.layer + 1 >= strip.layers);
}

void step_row(ViewState& view, int by, const Dims& dims) {
    const std::int64_t rows = dims.Tq;
    std::int64_t row = view.row + by;
    if (row >= rows)
        row = -1;
    if (row < -1)
        row = rows - 1;
    go_to(view, view.group, row);
}

/// One tick of playback: the rows of a stage one by one, then the whole stage, then the next stage.
double play_on(ViewState& view, const Dims& dims) {
    const std::int64_t rows = dims.Tq;
    const double row_seconds =
        std::clamp(4.0 / static_cast<double>(rows), shortest_row_seconds, longest_row_seconds);
    const bool stepped = group_info(view.group).by_rows;
    if (stepped && view.row >= 0) {
        step_row(view, 1, dims);
        return view.row < 0 ? stage_dwell_seconds : row_seconds;
    }
    if (at_end(view)) {
        view.playing = false;
        return 0;
    }
    step_stage(view, 1);
    if (group_info(view.group).by_rows) {
        view.row = 0;
        return row_seconds;
    }
    return stage_dwell_seconds;
}

void select_to(ViewState& view, const CellAddress& cell) {
    // A block is part of one matrix: batch entry and head are those of its first cell.
    const int first_of_matrix = tensor_info(cell.tensor).rank() - 2;
    bool same = view.selected && view.selected->tensor == cell.tensor;
    for (int axis = 0; same && axis < first_of_matrix; ++axis)
        same = view.selected->at[static_cast<std::size_t>(axis)] == cell.at[static_cast<std::size_t>(axis)];
    if (!same) {
        view.selected = cell;
        view.block_end.reset();
    } else if (*view.selected == cell) {
        view.block_end.reset();
    } else {
        view.block_end = cell;
    }
}

void slide(float& value, float target, double seconds, double whole = slide_seconds) {
    const auto step = static_cast<float>(seconds / whole);
    value = value < target ? std::min(target, value + step) : std::max(target, value - step);
}

} // namespace

void apply(ViewState& view, const ViewChange& change, const Dims& dims) {
    const auto page = [&] { return std::tuple(view.attention.screen, view.group, view.projection); };
    const auto left = page();
    std::visit(Overloaded{[&](const GoTo& c) {
                              if (c.layer && *c.layer != view.attention.layer) {
                                  view.selected.reset(); // belongs to the previous layer
                                  view.attention.layer = *c.layer;
                              }
                              leave_flow(view);
                              view.attention.screen = Screen::stages;
                              go_to(view, c.group, c.row);
                          },
                          [&](const ShowTensor& c) { show_tensor(view, c); },
                          [&](const StepStage& c) {
                              leave_flow(view);
                              view.attention.screen = Screen::stages;
                              step_stage(view, c.by);
                          },
                          [&](const StepRow& c) { step_row(view, c.by, dims); },
                          [&](const TogglePlay&) {
                              if (view.flow.on_screen)
                                  return toggle_flow_play(view);
                              if (!view.playing && at_end(view) && view.row < 0)
                                  go_to(view, view.step_strip.first(), -1);
                              view.playing = !view.playing;
                              view.next_step_at = -1.0;
                          },
                          [&](const SetSpeed& c) { view.speed = std::clamp(c.speed, 0.25F, 8.0F); },
                          [&](const PickHead& c) { view.head = c.head; },
                          [&](const CompareWith& c) { view.compared_head = c.head; },
                          [&](const ShowWeightsAs& c) { view.weights_view = c.view; },
                          [&](const ShowHeads& c) { view.heads_view = c.view; },
                          [&](const ShowProjection& c) {
                              if (c.projection != view.projection)
                                  view.selected.reset(); // belongs to another product
                              view.projection = c.projection;
                          },
                          [&](const SetApart& c) {
                              view.apart_target = c.apart ? 1.0F : 0.0F;
                              view.one_head = false;
                          },
                          [&](const ShowOneHead& c) {
                              view.one_head = c.shown;
                              view.selected.reset();
                          },
                          [&](const SetJoined& c) { view.joined_target = c.joined ? 1.0F : 0.0F; },
                          [&](const Select& c) {
                              // Selecting a parameter keeps the current token.
                              if (c.cell && is_block_weight(c.cell->tensor))
                                  view.row = current_row(view, view.row);
                              view.selected = c.cell;
                              view.block_end.reset();
                          },
                          [&](const SelectTo& c) {
                              select_to(view, c.cell);
                              view.selecting = c.drawing_out;
                          },
                          [&](const PaintMode& c) {
                              view.brush.on = c.on;
                              view.brush.all_heads = c.all_heads;
                          },
                          [&](const ChooseOperation& c) { view.operation = c.choice; },
                          [&](const BeginStroke& c) {
                              view.brush.allows = c.allows;
                              view.brush.last = c.cell;
                          },
                          [&](const SetColourMap& c) { view.colour_map = c.map; },
                          [&](const SetSameScale& c) { view.same_scale = c.same; },
                          [&](const ShowNumbers& c) { view.numbers = c.numbers; },
                          [&](const ShowBatch& c) { view.batch = c.batch; },
                          [&](const SetDark& c) { view.dark = c.dark; },
                          [&](const SetZoom& c) { view.zoom = std::clamp(c.zoom, 1.0F, 2.0F); },
                          [&](const OpenLeft& c) {
                              view.left_open = c.open;
                              view.inspector_opened_last = !c.open;
                          },
                          [&](const OpenInspector& c) {
                              view.inspector_open = c.open;
                              view.inspector_opened_last = c.open;
                          },
                          [&](const ShowTab& c) {
                              view.tab = c.tab;
                              view.left_open = true;
                              view.inspector_opened_last = false;
                          },
                          [&](const OpenWithStart& c) { view.start_page = c.start_page; },
                          [&](const SetLanguage& c) { view.language = c.language; },
                          [&](const ShowHelp& c) { view.help_open = c.open; },
                          [&](const BeginDrag& c) { view.drag = c.drag; },
                          [&](const SetCompare& c) { view.compare = c.what; },
                          [&](const SetMotion& c) { view.motion = c.on; },
                          [&](const SetFlash& c) { view.flash_changes = c.on; },
                          [&](const AttentionChange& c) { app::apply(view, c); },
                          [&](const FlowChange& c) { app::apply(view, c, dims.Tq); },
                          [&](const OpenFlowStage& c) { open_flow_stage(view, c.tensor); },
                          [&](const LongMapChange& c) { app::apply(view.attention.long_map, c, dims); },
                          [&](const PointAt& c) {
                              view.points = c.cells;
                              view.pointing = c.cells.empty() ? 1.0F : view.animates() ? 0.0F : at_once;
                          }},
               change);
    if (page() != left)
        view.arrival = view.animates() ? 0.0F : 1.0F;
    clamp_to(view, dims);
}

void clamp_to(ViewState& view, const Dims& dims) {
    view.head = std::clamp<std::int64_t>(view.head, 0, dims.H - 1);
    view.compared_head = std::clamp<std::int64_t>(view.compared_head, 0, dims.H - 1);
    if (view.compared_head == view.head && dims.H > 1)
        view.compared_head = (view.head + 1) % dims.H;
    if (dims.H == 1 && view.heads_view == HeadsView::difference)
        view.heads_view = HeadsView::each;
    view.batch = std::clamp<std::int64_t>(view.batch, 0, dims.B - 1);
    view.row = std::clamp<std::int64_t>(view.row, -1, dims.Tq - 1);
    const auto outside = [&](const std::optional<CellAddress>& cell) {
        if (!cell)
            return false;
        const Shape shape = tensor_info(cell->tensor).shape(dims);
        for (int axis = 0; axis < shape.rank(); ++axis)
            if (cell->at[static_cast<std::size_t>(axis)] >= shape[axis])
                return true;
        return false;
    };
    LongMapView& map = view.attention.long_map;
    if (map.selected && (map.selected->row + map.selected->rows > dims.Tq ||
                         map.selected->col + map.selected->cols > dims.Tk))
        map.selected.reset();
    if (map.under_mouse && ((*map.under_mouse)[0] >= dims.Tq || (*map.under_mouse)[1] >= dims.Tk))
        map.under_mouse.reset();
    if (outside(view.hover))
        view.hover.reset();
    if (outside(view.selected))
        view.selected.reset();
    if (!view.selected || outside(view.block_end))
        view.block_end.reset();
}

bool advance(ViewState& view, double now, double seconds_since_last, const Dims& dims) {
    if (!view.animates()) {
        view.apart = view.apart_target;
        view.joined = view.joined_target;
        view.arrival = 1;
    }
    slide(view.arrival, 1.0F, seconds_since_last, arrival_seconds);
    if (view.flow.on_screen)
        return advance_flow(view, static_cast<float>(seconds_since_last)) || view.arrival < 1;
    slide(view.apart, view.apart_target, seconds_since_last);
    slide(view.joined, view.joined_target, seconds_since_last);
    slide(view.pointing, 1.0F, seconds_since_last, pointing_seconds);
    const bool sliding = view.apart != view.apart_target || view.joined != view.joined_target ||
                         view.arrival < 1 || view.pointing < 1;
    if (!view.playing)
        return sliding;
    if (view.next_step_at < 0)
        view.next_step_at = now + stage_dwell_seconds / 2 / view.speed;
    if (now >= view.next_step_at)
        view.next_step_at = now + play_on(view, dims) / view.speed;
    return sliding || view.playing;
}

} // namespace headscope::app
