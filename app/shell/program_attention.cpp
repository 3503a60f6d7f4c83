#include "app/shell/program.h"

#include "app/state/attention_document.h"
#include "app/views/given_weights.h"
#include "core/base/error.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// The same weight where the set is read in another way; nothing where it is hidden now.
std::optional<CellAddress> carried(const std::optional<CellAddress>& cell, const AttentionSet& from,
                                   const AttentionSet& to, std::int64_t l) {
    if (!cell || cell->tensor != TensorId::weights)
        return std::nullopt;
    const auto i = analysis::same_query(from, to, l, cell->at[2]),
               j = analysis::same_key(from, to, l, cell->at[3]);
    if (!i || !j)
        return std::nullopt;
    return CellAddress{TensorId::weights, {cell->at[0], cell->at[1], *i, *j}};
}

} // namespace

const DocumentPtr& Program::wanted_document() const {
    return look_.document() != nullptr ? look_.document() : state_.document;
}

Dims Program::with_means(Dims dims) const {
    if (state_.document->is_checkpoint() && look_.set() != nullptr)
        dims.H = look_.set()->info().H;
    return dims;
}

void Program::follow_look(std::optional<std::int64_t> changed_from) {
    ViewState& view = state_.view;
    const DocumentPtr before = look_.document();
    const AttentionSetPtr was = look_.set();
    try {
        look_.follow(state_.model.run, *state_.document, view);
    } catch (const Error& fault) {
        state_.error = fault.what();
    }
    const DocumentPtr& look = look_.document();
    const AttentionSetPtr& set = look_.set();
    if (was != nullptr && set != nullptr && was != set && (before != nullptr || look != nullptr)) {
        const AttentionInfo &from = was->info(), &to = set->info();
        const bool same_sizes = from.Tq == to.Tq && from.Tk == to.Tk;
        const auto kept = carried(view.selected, *was, *set, 0);
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
    if (look != nullptr || reads_checkpoint(state_)) {
        clamp_to(view, with_means(wanted_document()->problem.dims));
        if (state_.shown.trace != nullptr)
            clamp_to(view, with_means(state_.shown.dims()));
    }
    if (look != before)
        runner_.submit(wanted_document());
    follow_board(set, changed_from);
}

void Program::read_attention() {
    if (state_.document->is_checkpoint())
        return;
    const AttentionSetPtr before = state_.document->shown_weights();
    AttentionView& view = state_.view.attention;
    AttentionSetPtr next;
    try {
        next = read_.follow(before, view.reading);
    } catch (const Error&) {
        view.reading = read_.options();
        throw;
    }
    view.possible = read_.possible();
    if (next == before || next == nullptr)
        return;
    const std::int64_t own = std::min(before->info().own_layers(), next->info().own_layers());
    const std::int64_t spoken = std::min(state_.document->layer(), own - 1);
    when_shown_.selected = carried(state_.view.selected, *before, *next, spoken);
    state_.view.selected.reset();
    state_.view.block_end.reset();
    state_.view.hover.reset();
    state_.view.row = -1;
    if (before->info().Tq != next->info().Tq || before->info().Tk != next->info().Tk)
        view.map = {};
    view.layer = std::min(view.layer, next->info().L - 1);
    state_.document = attention_document(next, view.layer, *state_.document);
    runner_.submit(state_.document);
}

void Program::follow_board(const AttentionSetPtr& set, std::optional<std::int64_t> changed_from) {
    if (set == mapped_)
        return;
    state_.board = nullptr;
    if (changed_from && set != nullptr && maps_ != nullptr) {
        maps_ = std::make_unique<HeadMaps>(set, options_.wake, *maps_, *changed_from);
    } else {
        maps_.reset();
        if (set != nullptr)
            maps_ = std::make_unique<HeadMaps>(set, options_.wake);
    }
    state_.board = maps_.get();
    mapped_ = set;
}

void Program::follow_attention() {
    read_attention();
    const AttentionSetPtr& set = state_.document->shown_weights();
    follow_model();
    if (state_.document->is_checkpoint())
        return;
    follow_board(set);
    if (set == nullptr)
        return;
    keep_to_attention(state_.view, set->info());
    keep_to_shown();
    if (state_.view.attention.layer == state_.document->layer())
        return;
    state_.document = with_layer(*state_.document, state_.view.attention.layer);
    runner_.submit(state_.document);
}

void Program::keep_to_shown() {
    const Shown& shown = state_.shown;
    if (shown.trace == nullptr || !shown.document->shows_weights() ||
        shown.document->shown_weights() == state_.document->shown_weights())
        return;
    if (state_.view.head >= shown.dims().H)
        when_shown_.head = state_.view.head;
    clamp_to(state_.view, shown.dims());
}

void Program::show_what_waited() {
    if (state_.shown.document->shown_weights() != wanted_document()->shown_weights())
        return;
    const WhenShown waited = std::exchange(when_shown_, {});
    if (waited.head)
        state_.view.head = *waited.head;
    if (waited.selected && !state_.view.selected) {
        state_.view.selected = waited.selected;
        state_.view.selected->at[1] = state_.view.head;
    }
}

} // namespace headscope::app
