#pragma once

#include "app/state/attention_view.h"
#include "app/state/walk.h"
#include "core/lesson/target.h"
#include "core/trace/stage.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::app {

/// The address of one cell on screen.
struct CellAddress {
    TensorId tensor = TensorId::x;
    Index at{};
    bool operator==(const CellAddress&) const = default;
};

enum class WeightsView : std::uint8_t { heatmap, arcs, text, graph };
enum class HeadsView : std::uint8_t { each, difference, mean };
enum class LeftTab : std::uint8_t { start, course, guide, tensors, heads, edit, predictions };
enum class ColourMap : std::uint8_t { head, neutral, viridis, cividis, magma };
enum class Projection : std::uint8_t { q, k, v };
/// What is on screen when there is a baseline A: the document as it is (B), A itself, or B − A.
enum class Compare : std::uint8_t { now, baseline, difference };

/// A number being dragged, sideways or up and down.
struct CellDrag {
    CellAddress cell;
    float start_value = 0;
    float start_x = 0, start_y = 0; ///< logical pixels of the window
    float by_height = 0;            ///< see MatrixGrid
    bool moved = false;
    float value = start_value; ///< as it was last sent
};

/// What is about to be done to the selection, with the numbers typed for it.
enum class OperationKind : std::uint8_t {
    none,
    set,
    scale,
    zero,
    noise,
    normal,
    xavier_uniform,
    xavier_normal,
    identity
};
struct OperationChoice {
    OperationKind kind = OperationKind::none;
    float value = 0, factor = 2, deviation = 0.1F;
    std::uint64_t seed = 1;
};

/// Painting where attention is allowed.
struct MaskBrush {
    bool on = false;        ///< clicks on scores and weights paint
    bool all_heads = false; ///< else the head that the cell belongs to
    /// While the button is held: what it paints, and the last cell that it painted.
    std::optional<bool> allows;
    CellAddress last;
};

/// What is looked at and how. Never undone. A project keeps the part that project_view.h names.
struct ViewState {
    StageGroup group = StageGroup::weights;
    Walk walk;              ///< which stops there are; follows the document
    std::int64_t row = -1;  ///< the query row being stepped through; -1: the whole stage
    std::int64_t head = 0;  ///< the head in focus
    std::int64_t other = 1; ///< the head it is compared with
    std::int64_t batch = 0; ///< the batch entry shown
    WeightsView weights_view = WeightsView::heatmap;
    HeadsView heads_view = HeadsView::each;
    Projection projection = Projection::q;
    Compare compare = Compare::now; ///< as asked for; A and B − A need a baseline that fits
    ColourMap colour_map = ColourMap::head;
    bool same_scale = true;
    bool numbers = true;
    std::optional<CellAddress> hover;
    std::optional<CellAddress> selected;
    std::optional<CellAddress> block_end; ///< of a block selected from `selected` on; of the same tensor
    bool selecting = false;               ///< the button is held and a block is being drawn out
    OperationChoice operation;
    MaskBrush brush;
    std::vector<lesson::CellRange> points; ///< outlined because a lesson speaks of them
    std::optional<CellDrag> drag;

    bool one_head = false;     ///< split: the head in focus alone, for checkpoints and rotary positions
    float apart = 1.0F;        ///< split: 0 together, 1 apart
    float apart_target = 1.0F; ///< where `apart` slides to
    float joined = 1.0F;       ///< concat: 0 apart, 1 joined
    float joined_target = 1.0F;

    StageGroup came_from = StageGroup::weights; ///< the stop of the strip before this one
    float arrival = 1.0F;  ///< 0 when the stop was just reached, 1 when all has come to rest
    float pointing = 1.0F; ///< the same for what a lesson points at

    std::optional<bool> flash_changes; ///< as the user chose; empty: as moves()
    std::optional<bool> motion;        ///< as the user chose; empty: as the desktop asks
    bool less_motion = false;          ///< the desktop asks for no animations
    bool moves() const { return motion.value_or(!less_motion); }
    bool flashes() const { return flash_changes.value_or(moves()); }

    bool playing = false;
    float speed = 1.0F;         ///< 0.5, 1, 2 or 4
    double next_step_at = -1.0; ///< when playing: seconds from program start; negative: not set

    bool dark = false;
    float zoom = 1.0F;                  ///< 1 to 2
    std::optional<bool> left_open;      ///< as the user chose; empty: by the room there is
    std::optional<bool> inspector_open; ///< likewise
    bool inspector_opened_last = false; ///< of the two, by the user
    float left_width = 312, inspector_width = 328;
    std::optional<float> manual_width; ///< as the user dragged it; empty: by the room there is
    std::optional<float> board_width;  ///< likewise of the board beside an open head
    LeftTab tab = LeftTab::guide;
    bool start_page = true; ///< the Start page is what the program opens with
    /// Of the sentences from the next start on; empty: the desktop's. See languages().
    std::string language = {};
    bool help_open = false;
    AttentionView attention;

    /// What the inspector speaks of: the hovered cell, else the selected one.
    std::optional<CellAddress> focus() const { return drag ? drag->cell : hover ? hover : selected; }
};

/// Whether the maps of a stage hold scores, whose colours follow AttentionView::score_scale.
constexpr bool shows_scores(StageGroup group) {
    return group == StageGroup::scores || group == StageGroup::scaled || group == StageGroup::masked;
}

/// Where something that slides stands after the part `t` of its time: fast at first, then slower.
constexpr float settled(float t) {
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

} // namespace headscope::app
