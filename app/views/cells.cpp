#include "app/state/block.h"
#include "app/views/widgets.h"

#include <cmath>

namespace headscope::app {

namespace {

bool paintable(const MatrixGrid& grid, const CellAddress& cell) {
    return grid.shows_own_values && is_score(cell.tensor);
}

/// Paints all cells from the last painted cell to this one, so that a fast stroke has no gaps.
void paint_to(const CellAddress& cell, const CellAddress& from, bool allows, bool all_heads,
              const ViewTools& tools) {
    const bool same_map = from.at[0] == cell.at[0] && (all_heads || from.at[1] == cell.at[1]);
    const std::int64_t di = same_map ? cell.at[2] - from.at[2] : 0,
                       dj = same_map ? cell.at[3] - from.at[3] : 0;
    const std::int64_t steps = std::max<std::int64_t>(std::max(std::abs(di), std::abs(dj)), 1);
    for (std::int64_t step = 1; step <= steps; ++step) {
        const double part = static_cast<double>(steps - step) / static_cast<double>(steps);
        const auto back = [&](std::int64_t way) {
            return static_cast<std::int64_t>(std::llround(static_cast<double>(way) * part));
        };
        tools.send(PaintMask{cell.at[0], all_heads ? -1 : cell.at[1], cell.at[2] - back(di),
                             cell.at[3] - back(dj), allows});
    }
    tools.send(BeginStroke{allows, cell});
}

void paint_mask(const CellAddress& cell, const ViewTools& tools) {
    const MaskBrush& brush = tools.view->brush;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
        paint_to(cell, cell, !tools.is_allowed_by_mask(cell), brush.all_heads, tools);
    else if (brush.allows && ImGui::IsMouseDown(ImGuiMouseButton_Left) && cell != brush.last)
        paint_to(cell, brush.last, *brush.allows, brush.all_heads, tools);
}

} // namespace

void react_to_cell(const MatrixGrid& grid, const CellAddress& cell, const ViewTools& tools) {
    if (tools.view != nullptr && tools.view->brush.on && tools.is_allowed_by_mask && paintable(grid, cell)) {
        paint_mask(cell, tools);
        return;
    }
    const bool editable = tools.value && grid.shows_own_values && takes_number(cell.tensor);
    const ImGuiIO& io = ImGui::GetIO();
    if (editable && !io.KeyShift)
        ImGui::SetMouseCursor(grid.change_per_pixel != 0 ? ImGuiMouseCursor_ResizeNS
                                                         : ImGuiMouseCursor_ResizeEW);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
        const auto block = tools.view == nullptr ? std::nullopt : selected_block(*tools.view);
        if (!block || !block->contains(cell))
            tools.send(Select{cell});
        tools.send(OpenContextMenu{MenuSubject{MenuSubject::Kind::cell}});
        return;
    }
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        if (io.KeyShift && grid.shows_own_values && tools.view != nullptr) {
            tools.send(SelectTo{cell, true});
            return;
        }
        if (tools.view != nullptr && tools.view->flow.on_screen && !editable && !io.KeyCtrl &&
            !tools.keeps_selection && is_stage(cell.tensor)) {
            if (tensor_info(cell.tensor).axes[1] == Axis::H)
                tools.send(PickHead{cell.at[1]});
            tools.send(OpenFlowStage{cell.tensor});
            return;
        }
        tools.send(Select{cell});
        if (editable && tools.is_replaced && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) &&
            tools.is_replaced(cell)) {
            tools.send(ResetActivation{cell});
        } else if (editable) {
            const float value = tools.value(cell), scale = tools.surface.scale();
            tools.send(BeginDrag{{.cell = cell,
                                  .start_value = value,
                                  .start_x = io.MousePos.x / scale,
                                  .start_y = io.MousePos.y / scale,
                                  .change_per_pixel = grid.change_per_pixel,
                                  .value = value}});
        }
        return;
    }
    if (tools.view == nullptr || !tools.view->selecting || !tools.view->selected)
        return;
    const bool elsewhere = tools.view->selected->tensor != cell.tensor || !grid.shows_own_values;
    const CellAddress& end = tools.view->block_end ? *tools.view->block_end : *tools.view->selected;
    if (!elsewhere && cell != end)
        tools.send(SelectTo{cell, true});
}

} // namespace headscope::app
