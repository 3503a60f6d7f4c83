#include "app/session/given_weights_session.h"

#include "app/commands/view_change.h"
#include "app/state/attention_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/project/same_bits.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr std::uint64_t most_waited_for = std::uint64_t{1} << 30U; ///< file size in bytes

} // namespace

GivenWeightsSession::~GivenWeightsSession() {
    state().view.attention.possible = {};
    state().shown.atlas = nullptr;
}

void GivenWeightsSession::take_results() {
    atlas_.follow(state().document->given()->set, nullptr);
    map_.follow();
}

void GivenWeightsSession::settle() {
    // The grid of a large file is filled in the background.
    const bool whole = state().document->given()->set->info().bytes <= most_waited_for;
    do {
        if (whole)
            grid_.wait();
        atlas_.wait();
        map_.wait();
        take_results();
    } while (busy());
}

void GivenWeightsSession::follow() {
    read_as_wanted();
    const AttentionSetPtr& set = state().document->given()->set;
    grid_.follow(set);
    adapt_to_attention(state().view, set->info());
    keep_to_shown();
    take_results();
    const LoadedHeads wanted = heads_to_read(set->info(), state().view);
    if (state().view.attention.layer == state().document->layer() &&
        are_loaded(wanted, state().document->given()->loaded))
        return;
    state().document = with_layer(*state().document, state().view.attention.layer, wanted);
    host().compute(state().document);
}

void GivenWeightsSession::read_as_wanted() {
    const AttentionSetPtr before = state().document->given()->set;
    ViewState& view = state().view;
    AttentionSetPtr next;
    try {
        next = read_.follow(before, view.attention.reading);
    } catch (const Error&) {
        view.attention.reading = read_.options();
        throw;
    }
    view.attention.possible = read_.possible();
    if (next == before)
        return;
    const std::int64_t own = std::min(before->info().own_layers(), next->info().own_layers());
    const std::int64_t spoken = std::min(state().document->layer(), own - 1);
    when_shown_.selected = corresponding_cell(view.selected, *before, *next, spoken);
    view.selected.reset();
    view.block_end.reset();
    view.hover.reset();
    view.row = -1;
    if (before->info().Tq != next->info().Tq || before->info().Tk != next->info().Tk) {
        view.attention.map = {};
        view.attention.long_map = {};
    }
    view.attention.layer = std::min(view.attention.layer, next->info().L - 1);
    state().document =
        attention_document(next, view.attention.layer, heads_to_read(next->info(), view), *state().document);
    host().compute(state().document);
}

void GivenWeightsSession::keep_to_shown() {
    const Shown& shown = state().shown;
    if (shown.trace == nullptr || !shown.document->shows_weights() ||
        shown.document->shown_weights() == state().document->shown_weights())
        return;
    if (state().view.head >= shown.dims().H)
        when_shown_.head = state().view.head;
    clamp_to(state().view, shown.dims());
}

void GivenWeightsSession::trace_shown() {
    if (state().shown.document->shown_weights() == state().document->shown_weights())
        when_shown_.take(state().view);
    take_results(); // release the values of the previous head
}

void GivenWeightsSession::check(const FileCommand& command) const {
    if (std::holds_alternative<SaveProject>(command) || std::holds_alternative<SaveProjectAs>(command))
        fail_input(tr("given_weights_session.attention_weights",
                      "Attention weights from a file are read-only, so there is no project to save."));
    if (std::holds_alternative<ExportScript>(command) || std::holds_alternative<CopyScript>(command))
        fail_input(tr("given_weights_session.attention_weight_2",
                      "The inputs of attention weights from a file are not available, so no script can "
                      "recompute them."));
}

std::function<void(const std::string& path)> GivenWeightsSession::save_function() const {
    return [](const std::string&) {
        fail_input(tr("given_weights_session.attention_weight_3",
                      "attention weights from a file are not a project: there is nothing to save"));
    };
}

bool GivenWeightsSession::same_work(const Document& saved) const {
    return project::same_bits(state().document->recipe, saved.recipe);
}

} // namespace headscope::app
