#include "app/draw/effects/screens.h"
#include "app/draw/map/long_map.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

/// Scrolls the row of the open head into view once after the open head changes.
void follow_open_head(const DrawContext& context, float scale) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID key = ImGui::GetID("followed");
    const int layer = static_cast<int>(context.view.attention.layer);
    if (storage.GetInt(key, -1) == layer)
        return;
    storage.SetInt(key, layer);
    const figure::Rect row = head_grid_row_area(context, layer);
    const float top = ImGui::GetScrollY() / scale;
    constexpr float head = 130; // for layer 0 the head numbers are visible too
    if (row.y < top + head)
        ImGui::SetScrollY(std::max(row.y - head, 0.0F) * scale);
    else if (row.bottom() > top + context.height)
        ImGui::SetScrollY((row.bottom() - context.height + 8) * scale);
}

void view_head_grid(const AppState& state, const figure::Rect& area, const ViewTools& tools, Picture& kept,
                    VisibleLayers& rows) {
    const float scale = tools.surface.scale();
    scrolled_picture("board", area, tools, nullptr, &kept, [&](float width, float height) {
        const DrawContext context = draw_context(state, tools, width, height);
        follow_open_head(context, scale);
        const float top = ImGui::GetScrollY() / scale;
        const VisibleRows seen = visible_rows(context, top, top + height);
        rows = {seen.first, seen.last};
        return draw_head_grid(context, top, top + height);
    });
}

constexpr float least_grid = 180, least_head = 360, least_of_both = 620;

/// One axis of a zoomed map. `more`: the visible part divided by the part that the zoom asks for. `off`: the
/// distance from the wanted center to the center that is shown, in units of the part that the zoom asks for.
struct SeenAxis {
    float more = 1, off = 0;
};

SeenAxis seen_axis(std::int64_t count, std::int64_t cells, float zoom, float middle) {
    const float share = static_cast<float>(count) / static_cast<float>(cells);
    return {share * zoom, (std::clamp(middle, share / 2, 1 - share / 2) - middle) * zoom};
}

/// Handles wheel and mouse on a zoomable map. `grid`: in logical pixels of the window.
void move_map(const AppState& state, const MatrixGrid& grid, const ViewTools& tools) {
    const figure::Rect& map = grid.area;
    const MapWindow& window = state.view.attention.map;
    const float scale = tools.surface.scale();
    const ImGuiIO& io = ImGui::GetIO();
    const ImVec2 origin = ImGui::GetWindowPos();
    const Dims& dims = state.shown.dims();
    const SeenAxis across = seen_axis(grid.cols, dims.Tk, window.zoom, window.x),
                   down = seen_axis(grid.rows, dims.Tq, window.zoom, window.y);
    const auto inside = [&](const ImVec2& at) {
        return map.contains((at.x - origin.x) / scale, (at.y - origin.y) / scale);
    };
    // In units of the visible part, relative to its center.
    const auto pan = [&](float x, float y) {
        tools.send(PanMap{across.off + x * across.more, down.off + y * down.more});
    };
    if (inside(io.MousePos) && io.MouseWheel != 0) {
        const float x = ((io.MousePos.x - origin.x) / scale - map.x) / map.w,
                    y = ((io.MousePos.y - origin.y) / scale - map.y) / map.h;
        constexpr float step = 1.25F;
        if (io.KeyCtrl) {
            pan(0, 0);
            tools.send(ZoomMap{std::pow(step, io.MouseWheel), 0.5F + (x - 0.5F) * across.more,
                               0.5F + (y - 0.5F) * down.more});
        } else if (window.zoom > 1) {
            const float by = -0.1F * io.MouseWheel;
            io.KeyShift ? pan(by, 0) : pan(0, by);
        }
    }
    constexpr float threshold = 4; // ignores a trembling hand, so that a click selects a cell
    if (window.zoom > 1 && inside(io.MouseClickedPos[0]) &&
        ImGui::IsMouseDragging(ImGuiMouseButton_Left, threshold * scale) &&
        (io.MouseDelta.x != 0 || io.MouseDelta.y != 0))
        pan(-io.MouseDelta.x / scale / map.w, -io.MouseDelta.y / scale / map.h);
}

void view_head(const AppState& state, const figure::Rect& area, const ViewTools& tools,
               std::optional<CellAddress>& hovered, Picture& kept) {
    const DrawContext context = canvas_context(state, tools, area.w, area.h);
    const bool large = state.view.group == StageGroup::weights &&
                       state.view.weights_view == WeightsView::heatmap && !context.difference() &&
                       wants_large_map(context);
    scrolled_picture("canvas", area, tools, &hovered, &kept,
                     [&](float width, float height) {
                         const DrawContext drawn = canvas_context(state, tools, width, height);
                         return arriving(state, draw_canvas(drawn), area, drawn);
                     },
                     {.content_id = static_cast<int>(state.view.group)});
    if (!large || kept.grids.empty())
        return;
    const MatrixGrid& grid = kept.grids.back();
    const float scale = tools.surface.scale();
    const ImVec2 mouse = ImGui::GetIO().MousePos, origin = ImGui::GetWindowPos();
    if (hovered)
        hovered = large_map_cell_at(draw_context(state, tools, area.w, area.h), grid,
                                    (mouse.x - origin.x) / scale, (mouse.y - origin.y) / scale);
    move_map(state, grid, tools);
}

/// The weight under a point, in logical pixels relative to the corner of the map's area.
std::optional<std::array<std::int64_t, 2>> weight_at(const VisibleMap& sight, const Dims& dims, float x,
                                                     float y) {
    const double row = std::floor(sight.top + static_cast<double>(y) / sight.pixels),
                 col = std::floor(sight.left + static_cast<double>(x) / sight.pixels);
    if (row < 0 || col < 0 || row >= static_cast<double>(dims.Tq) || col >= static_cast<double>(dims.Tk))
        return std::nullopt;
    return std::array{static_cast<std::int64_t>(row), static_cast<std::int64_t>(col)};
}

} // namespace

void steer_long_map(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const figure::Rect room = long_map_area(draw_context(state, tools, area.w, area.h));
    const LongMapView& view = state.view.attention.long_map;
    const Dims& dims = state.shown.dims();
    if (room.w != view.width || room.h != view.height)
        return tools.send(SetMapViewport{room.w, room.h});
    const ImGuiIO& io = ImGui::GetIO();
    const float scale = tools.surface.scale();
    const ImVec2 origin = ImGui::GetWindowPos();
    const auto inside = [&](const ImVec2& at) {
        return figure::Point{(at.x - origin.x) / scale - area.x - room.x,
                             (at.y - origin.y) / scale - area.y - room.y};
    };
    const figure::Rect whole{0, 0, room.w, room.h};
    const figure::Point mouse = inside(io.MousePos);
    // Everything over the map takes the mouse: lists, fields, the overview in the corner.
    const bool here = whole.contains(mouse.x, mouse.y) && !ImGui::IsAnyItemHovered() &&
                      ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
    // Use the center of the mouse's pixel: a dot of the whole map may be little wider than a pixel.
    const float half = 0.5F / scale;
    const auto under =
        here ? weight_at(visible_map(view, dims.Tq, dims.Tk), dims, mouse.x + half, mouse.y + half)
             : std::nullopt;
    if (under != view.under_mouse)
        tools.send(PointOnMap{under});
    constexpr float threshold = 4; // ignores a trembling hand, so that a click selects
    // Keeps where the button was pressed, for the following frames.
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID holds = ImGui::GetID("holds the long map");
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        storage.SetBool(holds, here);
    const bool began_here = storage.GetBool(holds);
    if (began_here && ImGui::IsMouseDragging(ImGuiMouseButton_Left, threshold * scale) &&
        (io.MouseDelta.x != 0 || io.MouseDelta.y != 0))
        tools.send(PanLongMap{-io.MouseDelta.x / scale / room.w, -io.MouseDelta.y / scale / room.h});
    if (!here)
        return;
    const float x = mouse.x / room.w, y = mouse.y / room.h;
    if (io.MouseWheel != 0 && !io.KeyCtrl)
        tools.send(ZoomLongMap{io.MouseWheel > 0 ? 1 : -1, x, y});
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        tools.send(ZoomLongMap{3, x, y});
    const ImVec2 way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && began_here &&
                         std::max(std::abs(way.x), std::abs(way.y)) < threshold * scale;
    if (clicked && under) {
        const int step = tile_scale(visible_map(view, dims.Tq, dims.Tk).scale);
        const std::int64_t cells = std::int64_t{1} << step;
        tools.send(
            SelectOnMap{MapPart{(*under)[0] >> step << step, (*under)[1] >> step << step, cells, cells}});
    }
}

void view_attention_canvas(const AppState& state, const figure::Rect& canvas, const ViewTools& tools,
                           std::optional<CellAddress>& hovered, Picture& kept, VisibleLayers& rows) {
    const figure::Rect area = canvas_below_bars(state, canvas);
    if (const Screen screen = screen_of(state.shown, state.view); screen != Screen::stages) {
        rows = {state.view.attention.layer, state.view.attention.layer};
        const std::string id = "screen " + std::to_string(static_cast<int>(screen)); // own scroll position
        scrolled_picture(id.c_str(), area, tools, nullptr, &kept, [&](float width, float height) {
            const DrawContext drawn = draw_context(state, tools, width, height);
            return arriving(state, draw_canvas(drawn), area, drawn);
        });
        if (screen == Screen::map)
            steer_long_map(state, area, tools);
        return;
    }
    const ImVec2 origin = ImGui::GetWindowPos();
    const DrawContext whole = draw_context(state, tools, area.w, area.h);
    // Nodes around attention have no heads.
    const bool with_grid = state.view.attention.head_grid_open && state.head_grid != nullptr &&
                           !is_around(state.view.group) && area.w >= least_of_both;
    const float grid_width =
        with_grid ? std::min(state.view.head_grid_width.value_or(head_grid_width(whole)), area.w - least_head)
                  : 0;
    const figure::Rect left{area.x, area.y, grid_width, area.h};
    const figure::Rect right{area.x + grid_width, area.y, area.w - grid_width, area.h};
    Picture grid_kept;
    if (grid_width > 0) {
        view_head_grid(state, left, tools, grid_kept, rows);
        figure::Scene edge;
        edge.add(
            figure::LineItem{{left.right(), left.y}, {left.right(), left.bottom()}, tools.theme.line, 1});
        paint(edge, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    } else {
        rows = {state.view.attention.layer, state.view.attention.layer};
    }
    view_head(state, right, tools, hovered, kept);
    if (grid_width > 0)
        if (const float x = drag_edge("board edge", left.right(), area.y, area.h, tools); x != left.right())
            tools.send(SetHeadGridWidth{
                std::clamp(x - area.x, least_grid, std::max(area.w - least_head, least_grid))});
    const float width = kept.scene.width, height = kept.scene.height;
    kept.append(std::move(grid_kept), 0, 0);
    kept.scene.width = width + grid_width;
    kept.scene.height = height;
}

} // namespace headscope::app
