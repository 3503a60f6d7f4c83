#pragma once

#include "app/commands/attention_change.h"
#include "app/commands/long_map_change.h"
#include "app/commands/one_of.h"
#include "app/state/view_state.h"
#include "core/lesson/target.h"

#include <optional>

namespace headscope::app {

struct GoTo {
    StageGroup group;
    std::int64_t row = -1;
    std::optional<std::int64_t> layer = {}; ///< of a checkpoint; empty: the open one
};
/// The next (+1) or previous (-1) stage of the strip.
struct StepStage {
    int by;
};
/// The next or previous query row inside a stage; past the last row, the whole stage again.
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
    bool on; ///< pages come on screen in a moment of motion; else at once
};
struct SetFlash {
    bool on; ///< cells that an edit changed are outlined for a moment
};
struct SetApart {
    bool apart;
};
struct ShowOneHead {
    bool shown; ///< the split page shows the head in focus alone, with its rotation by position
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
    bool start_page; ///< the program opens with it
};
struct SetLanguage {
    std::string language; ///< from the next start on; see ViewState::language
};
struct ShowHelp {
    bool open;
};
/// Makes the selection a block that ends at this cell; without one in that matrix it begins here.
struct SelectTo {
    CellAddress cell;
    bool drawing_out = false; ///< with the mouse: until the button is released
};
struct PaintMode {
    bool on, all_heads; ///< painting the mask, and of which heads
};
/// The colour of a stroke, while the button is held; empty: the stroke ended.
struct BeginStroke {
    std::optional<bool> allows;
    CellAddress cell;
};
/// Opens the fields of an operation on the selection, or with `none` closes them.
struct ChooseOperation {
    OperationChoice choice;
};
struct BeginDrag {
    CellDrag drag;
};
/// Cells that are outlined until others are; none: nothing is.
struct PointAt {
    std::vector<lesson::CellRange> cells;
};

/// Everything the user can do to the view.
struct ViewChanges {
    using Variant = std::variant<GoTo, StepStage, StepRow, TogglePlay, SetSpeed, PickHead, CompareWith,
                                 ShowWeightsAs, ShowHeads, ShowProjection, SetApart, ShowOneHead, SetJoined,
                                 Select, SetColourMap, SetSameScale, ShowNumbers, ShowBatch, SetDark, SetZoom,
                                 OpenLeft, OpenInspector, ShowTab, OpenWithStart, SetLanguage, ShowHelp,
                                 BeginDrag, SelectTo, PaintMode, BeginStroke, ChooseOperation, SetCompare,
                                 SetFlash, SetMotion, AttentionChange, LongMapChange, PointAt>;
};
extern template class OneOf<ViewChanges>;
using ViewChange = OneOf<ViewChanges>;

/// Changes the view; indices that the problem does not have are clamped.
void apply(ViewState& view, const ViewChange& change, const Dims& dims);

/// Brings every index of the view inside a problem's sizes, after the document changed.
void clamp_to(ViewState& view, const Dims& dims);

/// Moves animations and playback on to `now` (seconds from program start). True while something moves.
bool advance(ViewState& view, double now, double seconds_since_last, const Dims& dims);

} // namespace headscope::app
