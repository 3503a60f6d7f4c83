#pragma once

#include "app/views/state.h"

namespace headscope::app {

/// Attention weights that are shown instead of computed stages: those of a weights file, or those of a
/// checkpoint after analysis::ReadingOptions (hidden tokens, merged words, mean, rollout, flow). Null while
/// stages are shown.
inline AttentionSetPtr weights_without_stages(const AppState& state) {
    if (!state.document->is_checkpoint())
        return state.document->shown_weights();
    return state.shown.document == nullptr || !state.shown.document->is_checkpoint()
               ? nullptr
               : state.shown.document->shown_weights();
}

/// Returns true if a checkpoint's weights are shown transformed by such options.
inline bool shows_transformed_weights(const AppState& state) {
    return state.document->is_checkpoint() && weights_without_stages(state) != nullptr;
}

/// Returns true if the selected head is a mean in the grid of heads.
inline bool mean_is_open(const HeadGrid* head_grid, const ViewState& view) {
    return head_grid != nullptr && head_grid->info().is_mean(view.attention.layer, view.head);
}

/// Returns true if only weights can be shown: for a weights file, or a mean of a checkpoint. A checkpoint's
/// own heads have all stages.
inline bool shows_only_weights(const AppState& state) {
    return weights_without_stages(state) != nullptr &&
           (!shows_transformed_weights(state) || mean_is_open(state.head_grid, state.view));
}

} // namespace headscope::app
