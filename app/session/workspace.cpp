#include "app/session/workspace.h"

#include "app/commands/notice.h"
#include "app/jobs/recomputed.h"
#include "app/session/checkpoint_session.h"
#include "app/session/experiment_session.h"
#include "app/session/given_weights_session.h"
#include "app/session/large_stages.h"
#include "app/session/project_view.h"
#include "app/state/attention_document.h"
#include "app/state/preferences.h"
#include "core/base/overloaded.h"
#include "core/text/preset.h"

#include <tuple>
#include <utility>

namespace headscope::app {

namespace {

/// Adds the example sentence of the preset if the recipe uses a preset and has no sentence.
project::Recipe with_sentence(project::Recipe recipe) {
    const text::PresetInfo* preset = text::find_preset(recipe.preset);
    if (recipe.base != nullptr || !recipe.sentence.empty() || preset == nullptr)
        return recipe;
    recipe.sentence = preset->sentence;
    if (recipe.kv_sentence.empty())
        recipe.kv_sentence = text::opening_kv_sentence(*preset);
    return recipe;
}

/// Shows the document's sentences in the fields, except in the field that the user is typing into.
void fill_sentences(SessionState& state, const Command* typed = nullptr) {
    const project::Recipe& recipe = state.document->recipe;
    if (typed == nullptr || !std::holds_alternative<SetSentence>(*typed))
        state.sentence = recipe.sentence;
    const auto* second = typed == nullptr ? nullptr : std::get_if<SetKvSentence>(typed);
    if (second == nullptr || second->sentence != state.kv_sentence)
        state.kv_sentence = recipe.kv_sentence;
}

/// Starts at the first head, with all rows.
void reset_attention_view(ViewState& view, checkpoint::AttentionPlace place) {
    view.attention = {
        .stack = place.stack, .layer = place.layer, .head_grid_open = view.attention.head_grid_open};
    view.head = 0;
    view.row = -1;
    view.heads_view = HeadsView::each;
    view.selected.reset();
    view.hover.reset();
    view.drag.reset();
}

/// Returns true if the stages on screen are large and belong to another attention than the next ones, which
/// cannot reuse them: both must not be in memory at once.
bool must_release_trace(const Shown& shown, const Document& next) {
    if (shown.document == nullptr || !shown.document->is_checkpoint() || !next.is_checkpoint())
        return false;
    return has_large_stages(shown.dims()) &&
           (shown.is_pending() || open_attention(*shown.document) != open_attention(next));
}

/// Keeps a checkpoint's values other than the trace on screen after an edit until the session has recomputed
/// them: a number must not disappear while it is dragged.
void keep_checkpoint_values(Shown& now, const Shown& before) {
    if (before.document == nullptr || !before.document->is_checkpoint() || !now.document->is_checkpoint() ||
        before.document->part()->model != now.document->part()->model ||
        before.document->part()->inputs != now.document->part()->inputs || before.dims() != now.dims())
        return;
    Shown kept = before;
    kept.document = now.document;
    kept.trace = now.trace;
    kept.metrics = std::move(now.metrics);
    kept.largest.clear();
    now = std::move(kept);
}

} // namespace

Workspace::Workspace(SessionState& state, const project::Recipe& recipe, Setup setup)
    : state_(state), setup_(std::move(setup)),
      history_(state.document = make_document(with_sentence(recipe), 1)), engines_(setup_.device),
      runner_(engines_.engine(), setup_.wake), session_(session_for(*state.document)) {
    history_.mark_saved(state_.document);
    fill_sentences(state_);
    clamp_to(state_.view, state_.document->problem.dims);
    compute(state_.document);
}

void Workspace::compute(const DocumentPtr& document) {
    if (document->is_long()) {
        runner_.cancel();
        state_.shown = {document, nullptr, {}};
        return;
    }
    const bool alone = must_release_trace(state_.shown, *document);
    if (alone)
        state_.shown.trace = nullptr;
    runner_.submit(document, alone);
}

std::unique_ptr<Session> Workspace::session_for(const Document& document) {
    using Made = std::unique_ptr<Session>;
    SessionHost& host = *this;
    return std::visit(
        Overloaded{[&](const Experiment&) -> Made { return std::make_unique<ExperimentSession>(host); },
                   [&](const GivenWeights&) -> Made { return std::make_unique<GivenWeightsSession>(host); },
                   [&](const CheckpointLayer&) -> Made { return std::make_unique<CheckpointSession>(host); }},
        document.kind);
}

void Workspace::follow_kind() {
    const std::size_t kind = state_.document->kind.index();
    if (kind != session_kind_) {
        session_.reset(); // it must clean up the state first
        session_ = session_for(*state_.document);
        session_kind_ = kind;
    }
    session_->follow();
}

void Workspace::document_changed() {
    state_.error.clear();
    state_.notice.clear();
    const bool same_kind = state_.document->kind.index() == session_kind_;
    const Dims& own = state_.document->problem.dims;
    const Dims dims = same_kind ? session_->with_means(own) : own;
    if (state_.view.row >= dims.Tq)
        state_.view.row = -1;
    clamp_to(state_.view, dims);
    // Edits change B, so show B.
    if (state_.view.compare == Compare::baseline)
        state_.view.compare = Compare::now;
    follow_kind();
    compute(session_->document_to_show());
    setup_.changed();
}

void Workspace::push(History::State step) {
    state_.document = step.document;
    history_.push(std::move(step));
    document_changed();
}

void Workspace::run(const Command& command) {
    // The fields keep the typed text, valid or not.
    if (const auto* typed = std::get_if<SetSentence>(&command))
        state_.sentence = typed->sentence;
    if (const auto* typed = std::get_if<SetKvSentence>(&command); typed != nullptr && typed->sentence)
        state_.kv_sentence = *typed->sentence;
    if (is_chosen_already(*state_.document, command)) {
        state_.error.clear(); // from earlier input
        return;
    }
    const bool other_problem = std::holds_alternative<SetRecipe>(command);
    if (std::string sentence = session_->edit_blocked_reason(); !sentence.empty() && !other_problem) {
        state_.notice = std::move(sentence);
        return;
    }
    const DocumentPtr before = state_.document;
    CommandName name = name_of(*before, command);
    DocumentPtr next = app::apply(before, command);
    std::string notice = notice_of(*before, command, *next);
    if (name.of_layer)
        name.label = session_->history_label(std::move(name.label));
    history_.push(
        {next, std::move(name.label), std::move(name.detail), change_of(*before, command), gesture_});
    state_.document = std::move(next);
    fill_sentences(state_, &command);
    document_changed();
    state_.notice = std::move(notice);
}

void Workspace::move_in_history(std::int64_t by) {
    state_.document = session_->restored(history_.move(by));
    fill_sentences(state_);
    document_changed();
}

void Workspace::change_view(const ViewChange& change) {
    app::apply(state_.view, change, session_->with_means(session_->document_to_show()->problem.dims));
    if (!std::holds_alternative<AttentionChange>(change))
        session_->view_changed(state_.view);
    session_->follow();
}

void Workspace::act(const EngineAction& action) {
    if (engines_.act(action, state_.document))
        compute(session_->document_to_show());
}

void Workspace::show(DocumentPtr document, bool saved, const std::string& saved_view) {
    history_ = History(document);
    if (saved)
        history_.mark_saved(document);
    state_.document = std::move(document);
    fill_sentences(state_);
    state_.view.selected.reset();
    state_.view.playing = false; // playback belonged to the previous document
    state_.view.attention.long_map = {};
    if (state_.view.tab == LeftTab::start)
        state_.view.tab = LeftTab::guide;
    history_.set_earlier_steps(apply_saved_view(state_.view, saved_view, *state_.document));
    document_changed();
}

void Workspace::show_initial() {
    const bool start = state_.view.tab == LeftTab::start;
    setup_.drop_baseline();
    ViewState& view = state_.view;
    view.compare = Compare::now;
    view.group = view.previous_step = StageGroup::x;
    view.head = view.batch = 0;
    view.row = -1;
    show(make_document(with_sentence({}), state_.document->revision + 1), true);
    if (start)
        state_.view.tab = LeftTab::start; // where the user chooses what to open
}

void Workspace::open(const AttentionSetPtr& set) {
    reset_attention_view(state_.view, {});
    state_.shown = {}; // its heads do not belong to this grid
    show(attention_document(set, 0, heads_to_read(set->info(), state_.view), *state_.document), true);
}

DocumentPtr Workspace::begin_session(const OpenedModel& opened) {
    session_.reset();
    session_ = std::make_unique<CheckpointSession>(static_cast<SessionHost&>(*this), opened);
    reset_attention_view(state_.view, attention_place(opened.part->config(), opened.attention));
    state_.view.one_head = true;
    setup_.drop_baseline();
    state_.view.compare = Compare::now;
    DocumentPtr document =
        model_document(opened.part, opened.attention, opened.base, state_.document->revision + 1);
    session_kind_ = document->kind.index();
    return document;
}

void Workspace::open(const OpenedModel& opened, bool saved, const std::string& saved_view) {
    DocumentPtr document = begin_session(opened);
    state_.view.tab = LeftTab::predictions;
    state_.view.group = StageGroup::weights; // the stage that the grid shows
    state_.shown = {};                       // its heads do not belong to this grid
    show(std::move(document), saved, saved_view);
}

void Workspace::go_to(const OpenedModel& opened, std::string label) {
    const DocumentPtr& shown = state_.shown.document;
    if (shown != nullptr && shown->has_head_grid() &&
        (!shown->is_checkpoint() || shown->part()->model != opened.part->model))
        state_.shown = {}; // its heads do not belong to this grid
    push({begin_session(opened), std::move(label), {}, {}, ++gesture_});
}

void Workspace::show_edits(const RunSpec& edited, std::string label) {
    const Document& now = *state_.document;
    if (!now.is_checkpoint())
        return;
    auto part = std::make_shared<RunSpec>(*now.part());
    part->edits = edited.edits;
    part->marks = edited.marks;
    part->compared = edited.compared;
    push({model_document(part, open_attention(now), now.unedited, now.revision + 1),
          std::move(label),
          {},
          {},
          ++gesture_});
}

void Workspace::suspend_document() {
    if (aside_ != nullptr)
        return;
    state_.error.clear();
    state_.notice.clear();
    const bool work = unsaved();
    aside_ = std::make_unique<Aside>(Aside{state_, std::move(history_), std::move(session_), work});
    history_ = History(state_.document);
    session_ = session_for(*state_.document);
    session_kind_ = state_.document->kind.index();
}

void Workspace::resume_document() {
    if (aside_ == nullptr)
        return;
    session_.reset(); // it must clean up the state first
    const std::unique_ptr<Aside> own = std::exchange(aside_, nullptr);
    ViewState& view = own->state.view;
    const ViewState& now = state_.view;
    read_preferences(preferences_json(now), view);
    view.left_open = now.left_open;
    view.inspector_open = now.inspector_open;
    view.tab = now.tab;
    view.help_open = now.help_open;
    view.reduced_motion = now.reduced_motion;
    view.playing = false;
    view.hover.reset();
    view.drag.reset();
    own->state.engines = state_.engines;
    state_ = std::move(own->state);
    history_ = std::move(own->history);
    session_ = std::move(own->session);
    session_kind_ = state_.document->kind.index();
    session_->follow();
    compute(session_->document_to_show());
    setup_.changed();
}

void Workspace::mark_saved(DocumentPtr document) {
    if (aside_ != nullptr)
        aside_->unsaved = aside_->state.document != document;
    (aside_ != nullptr ? aside_->history : history_).mark_saved(std::move(document));
}

bool Workspace::unsaved() const {
    if (aside_ != nullptr)
        return aside_->unsaved;
    const DocumentPtr& saved = history_.saved();
    return saved == nullptr || (state_.document != saved && !session_->same_work(*saved));
}

void Workspace::show_again(const Document& failed) {
    if (&failed == state_.shown.document.get())
        state_.shown = {}; // the trace to restore failed as well
    else
        runner_.submit(state_.shown.document);
}

std::optional<Shown> Workspace::take_results() {
    session_->take_results();
    const bool checked = engines_.poll();
    state_.engines = engines_.state();
    if (checked)
        state_.notice = state_.engines.check->sentence();
    if (const LongMap* map = state_.shown.map.get(); map != nullptr &&
                                                     map->chosen_device == state_.engines.chosen &&
                                                     state_.engines.fallback_reason.empty())
        state_.engines.fallback_reason = map->fallback_reason;
    std::optional<RunResult> result = runner_.poll();
    state_.running = runner_.busy();
    if (!result)
        return std::nullopt;
    if (result->trace == nullptr) {
        state_.error = result->error;
        if (state_.shown.is_pending())
            show_again(*result->document);
        return std::nullopt;
    }
    state_.recomputed = result->document->shows_weights() ? std::string() : recomputed_text(*result->trace);
    Shown before = std::exchange(state_.shown, {result->document, result->trace, std::move(result->metrics)});
    keep_checkpoint_values(state_.shown, before);
    session_->trace_shown();
    clamp_to(state_.view, session_->with_means(state_.shown.dims()));
    return before;
}

std::optional<ViewState> Workspace::view_of_shown() const {
    const Shown& shown = state_.shown;
    if (shown.trace == nullptr)
        return {};
    ViewState within = state_.view;
    clamp_to(within, shown.dims());
    if (shown.document->is_given())
        clamp_to_loaded(within, shown.document->given()->loaded);
    const bool weights_only = shown.document->shows_weights();
    if (weights_only)
        within.group = StageGroup::weights;
    const auto selection = [](const ViewState& v) {
        return std::tie(v.head, v.compared_head, v.batch, v.row, v.hover, v.selected, v.block_end);
    };
    const bool same = selection(within) == selection(state_.view);
    if (same && !weights_only && shown.dims() == state_.document->problem.dims)
        return {};
    return within;
}

void Workspace::settle() {
    session_->settle();
    runner_.wait();
}

} // namespace headscope::app
