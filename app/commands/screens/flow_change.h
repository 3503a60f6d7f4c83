#pragma once

#include "app/commands/one_of.h"
#include "app/state/screens/flow_view.h"
#include "core/trace/tensor_id.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace headscope::app {

struct ViewState;

/// Puts a word of the Flow in focus.
struct FocusFlowWord {
    std::int64_t word;
};
/// Moves the focus to the next or previous word.
struct MoveFlowWord {
    int by;
};
/// Shows an instant of the story, in seconds of motion.
struct SetFlowTime {
    float time;
};
/// Moves to the start of the next or the current step; `whole` false: by a tenth of a second.
struct StepFlow {
    int by;
    bool whole = true;
};
struct WaitForReading {
    bool on;
};
/// Opens the stage that computes a tensor.
struct OpenFlowStage {
    TensorId tensor;
};

/// Opens W_Q, W_K or W_V as a matrix in the Flow; a second time closes it.
struct OpenFlowParameters {
    TensorId tensor;
};
/// Ends the tour for new users, or offers it again.
struct OfferFlowTour {
    bool offered;
};

/// Opens a field on a word; without a word, closes it. A word before the first or after the last one is
/// that one.
struct EditFlowWord {
    std::optional<FlowWord> word = {};
};

struct FlowChanges {
    using Variant = std::variant<FocusFlowWord, MoveFlowWord, SetFlowTime, StepFlow, WaitForReading,
                                 OpenFlowParameters, OfferFlowTour, EditFlowWord>;
};
extern template class OneOf<FlowChanges>;
using FlowChange = OneOf<FlowChanges>;

/// Out-of-range words are clamped; Tq: the number of queries.
void apply(ViewState& view, const FlowChange& change, std::int64_t Tq);
/// Starts or pauses the story; starts again at its end.
void toggle_flow_play(ViewState& view);
/// Advances the story by `seconds`. Returns true while it plays or a path lights up.
bool advance_flow(ViewState& view, float seconds);

} // namespace headscope::app
