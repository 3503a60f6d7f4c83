#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// The attention weights that are shown in place of computed stages: of a file, or of a checkpoint that is
/// read otherwise than it gives them. Null while stages are shown.
inline AttentionSetPtr given_weights(const AppState& state) {
    if (!state.document->is_checkpoint())
        return state.document->shown_weights();
    return state.shown.document == nullptr || !state.shown.document->is_checkpoint()
               ? nullptr
               : state.shown.document->shown_weights();
}

/// The same, of a checkpoint: in place of its own weights, on their page.
inline bool reads_checkpoint(const AppState& state) {
    return state.document->is_checkpoint() && given_weights(state) != nullptr;
}

/// The board's heads and layers with their means, where a mean is open.
inline bool mean_is_open(const HeadBoard* board, const ViewState& view) {
    return board != nullptr && board->info().is_mean(view.attention.layer, view.head);
}

/// Nothing but weights can be shown: of a file, or a mean of a checkpoint. Of its own heads every stage can.
inline bool weights_alone(const AppState& state) {
    return given_weights(state) != nullptr &&
           (!reads_checkpoint(state) || mean_is_open(state.board, state.view));
}

} // namespace headscope::app
