#pragma once

#include "app/state/attention_view.h"
#include "app/state/files/sentence_list.h"
#include "app/state/screens/flow_view.h"
#include "app/state/step_strip.h"
#include "core/lesson/target.h"
#include "core/trace/stage.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headscope::app {

/// The address of one cell.
struct CellAddress {
    TensorId tensor = TensorId::x;
    Index at{};
    bool operator==(const CellAddress&) const = default;
};

enum class WeightsView : std::uint8_t { heatmap, arcs, text, graph };
enum class HeadsView : std::uint8_t { each, difference, mean };
enum class LeftTab : std::uint8_t { start, course, guide, tensors, heads, edit, predictions, prompts };
enum class ColourMap : std::uint8_t { head, neutral, viridis, cividis, magma };
enum class Projection : std::uint8_t { q, k, v };
/// The version to show if there is a baseline A: the current document (B), A itself, or B − A.
enum class Compare : std::uint8_t { now, baseline, difference };

/// The state of a number being dragged horizontally or vertically.
struct CellDrag {
    CellAddress cell;
    float start_value = 0;
    float start_x = 0, start_y = 0; ///< logical pixels of the window
    float change_per_pixel = 0;     ///< see MatrixGrid
    bool moved = false;
    float value = start_value; ///< the last value that was sent
};

/// The operation to apply to the selection.
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

/// The brush that allows or masks attention.
struct MaskBrush {
    bool on = false;        ///< clicks on scores and weights paint
    bool all_heads = false; ///< else the head that the cell belongs to
    /// During a drag: the value that it paints, and the last painted cell.
    std::optional<bool> allows;
    CellAddress last;
};

/// The view: what is on screen and how. Not part of undo. A project stores the part listed in project_view.h.
struct ViewState {
    StageGroup group = StageGroup::weights;
    StepStrip step_strip;           ///< the available steps; follows the document
    std::int64_t row = -1;          ///< the query row that is stepped through; -1: the whole stage
    std::int64_t head = 0;          ///< the focused head
    std::int64_t compared_head = 1; ///< the head that `head` is compared with
    std::int64_t batch = 0;         ///< the batch entry shown
    WeightsView weights_view = WeightsView::heatmap;
    HeadsView heads_view = HeadsView::each;
    Projection projection = Projection::q;
    Compare compare = Compare::now; ///< as requested; A and B − A need a baseline of the same sizes
    ColourMap colour_map = ColourMap::head;
    bool same_scale = true;
    bool numbers = true;
    std::optional<CellAddress> hover;
    std::optional<CellAddress> selected;
    std::optional<CellAddress> block_end; ///< block from `selected` to here; same tensor
    bool selecting = false;               ///< a block is being selected with the button held
    OperationChoice operation;
    MaskBrush brush;
    std::vector<lesson::CellRange> points; ///< cells that a lesson outlines
    std::optional<CellDrag> drag;

    bool one_head = false;     ///< split: only the focused head, for checkpoints and rotary positions
    float apart = 1.0F;        ///< split: 0 together, 1 apart
    float apart_target = 1.0F; ///< target of the animation of `apart`
    float joined = 1.0F;       ///< concat: 0 apart, 1 joined
    float joined_target = 1.0F;

    StageGroup previous_step = StageGroup::weights; ///< the previous step of the strip
    float arrival = 1.0F;                           ///< animation: 0 when a step is reached, 1 at rest
    float pointing = 1.0F;                          ///< animation of the cells that a lesson points at

    std::optional<bool> flash_changes; ///< the user's choice; empty: as animates()
    std::optional<bool> motion;        ///< the user's choice; empty: the desktop's setting
    bool reduced_motion = false;       ///< the desktop asks for reduced motion
    bool animates() const { return motion.value_or(!reduced_motion); }
    bool flashes() const { return flash_changes.value_or(animates()); }

    bool playing = false;
    float speed = 1.0F;         ///< 0.5, 1, 2 or 4
    double next_step_at = -1.0; ///< when playing: seconds from program start; negative: not set

    bool dark = false;
    float zoom = 1.0F;                  ///< 1 to 2
    std::optional<bool> left_open;      ///< the user's choice; empty: depends on the space available
    std::optional<bool> inspector_open; ///< likewise
    bool inspector_opened_last = false; ///< the user opened the inspector after the left panel
    float left_width = 312, inspector_width = 328;
    std::optional<float> manual_width;    ///< the user's choice; empty: depends on the space available
    std::optional<float> lesson_width;    ///< likewise for the left panel while a lesson is open
    std::optional<float> head_grid_width; ///< likewise for the grid next to an open head
    LeftTab tab = LeftTab::guide;
    bool start_page = true; ///< the program opens with the Start panel
    /// Interface language from the next start on; empty: the desktop's. See languages().
    std::string language = {};
    bool help_open = false;
    SentenceListPtr sentences; ///< null: there is no list
    int sentence = -1;         ///< the sentence of the list that was shown last; -1: none yet
    AttentionView attention;
    FlowView flow;

    /// The cell that the inspector explains: the dragged one, else the hovered one, else the selected one.
    std::optional<CellAddress> focus() const { return drag ? drag->cell : hover ? hover : selected; }
};

/// Returns true if the maps of a stage hold scores, whose colors follow AttentionView::score_scale.
constexpr bool shows_scores(StageGroup group) {
    return group == StageGroup::scores || group == StageGroup::scaled || group == StageGroup::masked;
}

/// Easing curve of animations: the position after a fraction `t` of the time, fast at first, then slower.
constexpr float eased(float t) {
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

} // namespace headscope::app
