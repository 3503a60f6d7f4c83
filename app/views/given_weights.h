#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// Attention weights that are shown instead of computed stages: those of a weights file, or those of a
/// checkpoint after analysis::ReadingOptions (hidden tokens, merged words, mean, rollout, flow). Null while
/// stages are shown.
inline AttentionSetPtr given_weights(const AppState& state) {
    if (!state.document->is_checkpoint())
        return state.document->shown_weights();
    return state.shown.document == nullptr || !state.shown.document->is_checkpoint()
               ? nullptr
               : state.shown.document->shown_weights();
}

/// Returns true if a checkpoint's weights are shown transformed by such options.
inline bool reads_checkpoint(const AppState& state) {
    return state.document->is_checkpoint() && given_weights(state) != nullptr;
}

/// Returns true if the selected head is a mean in the grid of heads.
inline bool mean_is_open(const HeadBoard* board, const ViewState& view) {
    return board != nullptr && board->info().is_mean(view.attention.layer, view.head);
}

/// Returns true if only weights can be shown: for a weights file, or a mean of a checkpoint. A checkpoint's
/// own heads have all stages.
inline bool weights_alone(const AppState& state) {
    return given_weights(state) != nullptr &&
           (!reads_checkpoint(state) || mean_is_open(state.board, state.view));
}

} // namespace headscope::app
