#include "app/draw/effects/screens.h"
#include "app/draw/pages/attention_pages.h"
#include "app/draw/pages/pages.h"
#include "app/views/scrolled.h"
#include "app/views/views.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Brings the row of the open head into sight once, when it became another one.
void follow_open_head(const DrawContext& context, float scale) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID key = ImGui::GetID("followed");
    const int layer = static_cast<int>(context.view.attention.layer);
    if (storage.GetInt(key, -1) == layer)
        return;
    storage.SetInt(key, layer);
    const figure::Rect row = board_row_area(context, layer);
    const float top = ImGui::GetScrollY() / scale;
    constexpr float head = 130; // layer 0 shows the numbers of the heads too
    if (row.y < top + head)
        ImGui::SetScrollY(std::max(row.y - head, 0.0F) * scale);
    else if (row.bottom() > top + context.height)
        ImGui::SetScrollY((row.bottom() - context.height + 8) * scale);
}

void view_board(const AppState& state, const figure::Rect& area, const ViewTools& tools, Picture& kept,
                LayersInSight& rows) {
    const float scale = tools.surface.scale();
    scrolled_picture("board", area, tools, nullptr, &kept, [&](float width, float height) {
        const DrawContext context = draw_context(state, tools, width, height);
        follow_open_head(context, scale);
        const float top = ImGui::GetScrollY() / scale;
        const BoardRows seen = board_rows(context, top, top + height);
        rows = {seen.first, seen.last};
        return draw_board_page(context, top, top + height);
    });
}

/// Of one axis of a zoomed map: how much more of it is seen than the zoom asks for, and how far the middle of
/// what can be seen lies from the wanted one, in parts of what the zoom asks for.
struct SeenAxis {
    float more = 1, off = 0;
};

SeenAxis seen_axis(std::int64_t count, std::int64_t cells, float zoom, float middle) {
    const float share = static_cast<float>(count) / static_cast<float>(cells);
    return {share * zoom, (std::clamp(middle, share / 2, 1 - share / 2) - middle) * zoom};
}

/// Wheel and mouse on a map that may be zoomed into. `grid`: in logical pixels of the window.
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
    const auto send = [&](const AttentionChange& change) { tools.send(ViewChange(change)); };
    // By parts of what is seen, from its middle.
    const auto pan = [&](float x, float y) {
        send(PanMap{across.off + x * across.more, down.off + y * down.more});
    };
    if (inside(io.MousePos) && io.MouseWheel != 0) {
        const float x = ((io.MousePos.x - origin.x) / scale - map.x) / map.w,
                    y = ((io.MousePos.y - origin.y) / scale - map.y) / map.h;
        constexpr float step = 1.25F;
        if (io.KeyCtrl) {
            pan(0, 0);
            send(ZoomMap{std::pow(step, io.MouseWheel), 0.5F + (x - 0.5F) * across.more,
                         0.5F + (y - 0.5F) * down.more});
        } else if (window.zoom > 1) {
            const float by = -0.1F * io.MouseWheel;
            io.KeyShift ? pan(by, 0) : pan(0, by);
        }
    }
    constexpr float threshold = 4; // a click that trembles selects a cell
    if (window.zoom > 1 && inside(io.MouseClickedPos[0]) &&
        ImGui::IsMouseDragging(ImGuiMouseButton_Left, threshold * scale) &&
        (io.MouseDelta.x != 0 || io.MouseDelta.y != 0))
        pan(-io.MouseDelta.x / scale / map.w, -io.MouseDelta.y / scale / map.h);
}

void view_head(const AppState& state, const figure::Rect& area, const ViewTools& tools,
               std::optional<CellAddress>& hovered, Picture& kept) {
    const DrawContext looked_at = canvas_draw_context(state, tools, area.w, area.h);
    const bool large = state.view.group == StageGroup::weights &&
                       state.view.weights_view == WeightsView::heatmap && !looked_at.difference() &&
                       wants_large_map(looked_at);
    scrolled_picture("canvas", area, tools, &hovered, &kept, [&](float width, float height) {
        return draw_canvas(canvas_draw_context(state, tools, width, height));
    });
    if (!large || kept.grids.empty())
        return;
    const MatrixGrid& grid = kept.grids.back();
    const float scale = tools.surface.scale();
    const ImVec2 mouse = ImGui::GetIO().MousePos, origin = ImGui::GetWindowPos();
    if (hovered)
        hovered = seen_at(draw_context(state, tools, area.w, area.h), grid, (mouse.x - origin.x) / scale,
                          (mouse.y - origin.y) / scale);
    move_map(state, grid, tools);
}

} // namespace

void view_attention_canvas(const AppState& state, const figure::Rect& canvas, const ViewTools& tools,
                           std::optional<CellAddress>& hovered, Picture& kept, LayersInSight& rows) {
    const figure::Rect area = below_bars(state, canvas);
    if (const Screen screen = screen_of(state.shown, state.view); screen != Screen::stages) {
        rows = {state.view.attention.layer, state.view.attention.layer};
        const std::string id = "screen " + std::to_string(static_cast<int>(screen)); // each keeps its place
        scrolled_picture(id.c_str(), area, tools, nullptr, &kept, [&](float width, float height) {
            return draw_canvas(draw_context(state, tools, width, height));
        });
        return;
    }
    const ImVec2 origin = ImGui::GetWindowPos();
    const DrawContext whole = draw_context(state, tools, area.w, area.h);
    // Around attention there are no heads.
    const bool with_board =
        state.view.attention.board && state.board != nullptr && !is_around(state.view.group);
    const float board = with_board ? board_width(whole) : 0;
    const figure::Rect left{area.x, area.y, board, area.h};
    const figure::Rect right{area.x + board, area.y, area.w - board, area.h};
    Picture board_kept;
    if (board > 0) {
        view_board(state, left, tools, board_kept, rows);
        figure::Scene edge;
        edge.add(
            figure::LineItem{{left.right(), left.y}, {left.right(), left.bottom()}, tools.theme.line, 1});
        paint(edge, origin.x, origin.y, tools.surface, *ImGui::GetWindowDrawList());
    } else {
        rows = {state.view.attention.layer, state.view.attention.layer};
    }
    view_head(state, right, tools, hovered, kept);
    const float width = kept.scene.width, height = kept.scene.height;
    kept.append(board_kept, 0, 0);
    kept.scene.width = width + board;
    kept.scene.height = height;
}

} // namespace headscope::app
