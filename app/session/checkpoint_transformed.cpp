#include "app/commands/view_change.h"
#include "app/session/checkpoint_session.h"
#include "core/base/error.h"

// Transformed attention weights of a checkpoint: the document that is shown in place of the layer.

namespace headscope::app {

const DocumentPtr& CheckpointSession::document_to_show() const {
    return transformed_.document() != nullptr ? transformed_.document() : state().document;
}

Dims CheckpointSession::with_means(Dims dims) const {
    if (transformed_.set() != nullptr)
        dims.H = transformed_.set()->info().H;
    return dims;
}

bool CheckpointSession::reads_otherwise() const {
    const DocumentPtr& shown = state().shown.document;
    return shown != nullptr && shown->is_checkpoint() && shown->shows_weights();
}

void CheckpointSession::follow_transformed(std::optional<std::int64_t> changed_from) {
    ViewState& view = state().view;
    const DocumentPtr before = transformed_.document();
    const AttentionSetPtr was = transformed_.set();
    try {
        transformed_.follow(state().model.run, *state().document, view);
    } catch (const Error& fault) {
        state().error = fault.what();
    }
    const DocumentPtr& transformed = transformed_.document();
    const AttentionSetPtr& set = transformed_.set();
    if (was != nullptr && set != nullptr && was != set && (before != nullptr || transformed != nullptr)) {
        const AttentionInfo &from = was->info(), &to = set->info();
        const bool same_sizes = from.Tq == to.Tq && from.Tk == to.Tk;
        const auto kept = corresponding_cell(view.selected, *was, *set, 0);
        if (!same_sizes || kept != view.selected) {
            when_shown_.selected = kept;
            view.selected.reset();
            view.block_end.reset();
            view.hover.reset();
            view.row = -1;
        }
        if (!same_sizes)
            view.attention.map = {};
    }
    if (transformed != nullptr || reads_otherwise()) {
        clamp_to(view, with_means(document_to_show()->problem.dims));
        if (state().shown.trace != nullptr)
            clamp_to(view, with_means(state().shown.dims()));
    }
    if (transformed != before)
        host().compute(document_to_show());
    grid_.follow(set, changed_from);
}

void CheckpointSession::trace_shown() {
    if (state().shown.document->shown_weights() == document_to_show()->shown_weights())
        when_shown_.take(state().view);
    follow_block();
}

} // namespace headscope::app
