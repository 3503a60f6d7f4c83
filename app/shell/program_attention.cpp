#include "app/shell/program.h"

#include "app/state/attention_document.h"
#include "core/base/error.h"

#include <algorithm>

namespace headscope {

namespace {

/// The same weight where the set is read in another way; nothing where it is hidden now.
std::optional<CellAddress> carried(const std::optional<CellAddress>& cell, const AttentionSet& from,
                                   const AttentionSet& to, std::int64_t l) {
    if (!cell || cell->tensor != TensorId::weights)
        return std::nullopt;
    const auto i = same_query(from, to, l, cell->at[2]), j = same_key(from, to, l, cell->at[3]);
    if (!i || !j)
        return std::nullopt;
    return CellAddress{TensorId::weights, {cell->at[0], cell->at[1], *i, *j}};
}

} // namespace

void Program::read_attention() {
    const AttentionSetPtr before = state_.document->attention;
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
    const std::int64_t spoken = std::min(state_.document->layer, own - 1);
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

void Program::keep_to_shown() {
    const Shown& shown = state_.shown;
    if (shown.trace == nullptr || shown.document->attention == nullptr ||
        shown.document->attention == state_.document->attention)
        return;
    if (state_.view.head >= shown.dims().H)
        when_shown_.head = state_.view.head;
    clamp_to(state_.view, shown.dims());
}

void Program::show_what_waited() {
    if (state_.shown.document->attention != state_.document->attention)
        return;
    const WhenShown waited = std::exchange(when_shown_, {});
    if (waited.head)
        state_.view.head = *waited.head;
    if (waited.selected && !state_.view.selected) {
        state_.view.selected = waited.selected;
        state_.view.selected->at[1] = state_.view.head;
    }
}

} // namespace headscope
