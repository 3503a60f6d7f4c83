#pragma once

#include "app/commands/attention_change.h"
#include "app/commands/long_map_change.h"
#include "app/commands/one_of.h"
#include "app/commands/screens/flow_change.h"
#include "app/state/view_state.h"
#include "core/lesson/target.h"

#include <optional>

namespace headscope::app {

struct GoTo {
    StageGroup group;
    std::int64_t row = -1;
    std::optional<std::int64_t> layer = {}; ///< for a checkpoint; empty: the open layer
};
/// Moves to the next (+1) or previous (-1) step of the strip.
struct StepStage {
    int by;
};
/// Moves to the next or previous query row within a stage; after the last row, the whole stage.
struct StepRow {
    int by;
};
struct TogglePlay {};
struct SetSpeed {
    float speed;
};
struct PickHead {
    std::int64_t head;
};
struct CompareWith {
    std::int64_t head;
};
struct ShowWeightsAs {
    WeightsView view;
};
struct ShowHeads {
    HeadsView view;
};
struct ShowProjection {
    Projection projection;
};
struct SetCompare {
    Compare what;
};
struct SetMotion {
    bool on; ///< views appear with an animation; else at once
};
struct SetFlash {
    bool on; ///< cells changed by an edit are outlined briefly
};
struct SetApart {
    bool apart;
};
struct ShowOneHead {
    bool shown; ///< the split view shows only the focused head, with its rotation by position
};
struct SetJoined {
    bool joined;
};
struct Select {
    std::optional<CellAddress> cell;
};
struct SetColourMap {
    ColourMap map;
};
struct SetSameScale {
    bool same;
};
struct ShowNumbers {
    bool numbers;
};
struct ShowBatch {
    std::int64_t batch;
};
struct SetDark {
    bool dark;
};
struct SetZoom {
    float zoom;
};
struct OpenLeft {
    bool open;
};
struct OpenInspector {
    bool open;
};
struct ShowTab {
    LeftTab tab;
};
struct OpenWithStart {
    bool start_page; ///< the program opens with the Start panel
};
struct SetLanguage {
    std::string language; ///< from the next start on; see ViewState::language
};
struct ShowHelp {
    bool open;
};
/// Extends the selection to a block that ends at this cell; without a selection, it starts here.
struct SelectTo {
    CellAddress cell;
    bool drawing_out = false; ///< with the mouse, until the button is released
};
struct PaintMode {
    bool on, all_heads; ///< mask painting, and whether it applies to all heads
};
/// The value that a stroke paints while the button is held; empty: the stroke ended.
struct BeginStroke {
    std::optional<bool> allows;
    CellAddress cell;
};
/// Opens the fields of an operation on the selection; `none` closes them.
struct ChooseOperation {
    OperationChoice choice;
};
struct BeginDrag {
    CellDrag drag;
};
/// Outlines cells until the next change; none: removes the outlines.
struct PointAt {
    std::vector<lesson::CellRange> cells;
};

struct ViewChanges {
    using Variant =
        std::variant<GoTo, ShowTensor, StepStage, StepRow, TogglePlay, SetSpeed, PickHead, CompareWith,
                     ShowWeightsAs, ShowHeads, ShowProjection, SetApart, ShowOneHead, SetJoined, Select,
                     SetColourMap, SetSameScale, ShowNumbers, ShowBatch, SetDark, SetZoom, OpenLeft,
                     OpenInspector, ShowTab, OpenWithStart, SetLanguage, ShowHelp, BeginDrag, SelectTo,
                     PaintMode, BeginStroke, ChooseOperation, SetCompare, SetFlash, SetMotion,
                     AttentionChange, LongMapChange, FlowChange, OpenFlowStage, PointAt>;
};
extern template class OneOf<ViewChanges>;
using ViewChange = OneOf<ViewChanges>;

/// Changes the view. Out-of-range indices are clamped.
void apply(ViewState& view, const ViewChange& change, const Dims& dims);

/// Clamps every index of the view to a problem's sizes after the document changed.
void clamp_to(ViewState& view, const Dims& dims);

/// Advances animations and playback to `now` (seconds from program start). Returns true while any is active.
bool advance(ViewState& view, double now, double seconds_since_last, const Dims& dims);

} // namespace headscope::app
