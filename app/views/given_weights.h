#pragma once

#include "app/views/state.h"

namespace headscope {

/// The attention weights that are shown in place of computed stages: of a file, or of a checkpoint that is
/// read otherwise than it gives them. Null while stages are shown.
inline AttentionSetPtr given_weights(const AppState& state) {
    if (state.document->model == nullptr)
        return state.document->attention;
    return state.shown.document == nullptr || state.shown.document->model == nullptr
               ? nullptr
               : state.shown.document->attention;
}

/// The same, of a checkpoint: its stages come back when it is read as it is.
inline bool reads_checkpoint(const AppState& state) {
    return state.document->model != nullptr && given_weights(state) != nullptr;
}

} // namespace headscope
