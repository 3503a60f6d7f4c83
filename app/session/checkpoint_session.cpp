#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "app/session/checkpoint_work.h"
#include "app/session/large_stages.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

/// Cache size for viewed layers: all layers and some values before and after them, 16 to 96 MiB.
std::size_t block_bytes(const RunSpec& part, const Dims& dims) {
    constexpr std::int64_t megabyte = 1 << 20, ends = 4, longest = 1024;
    const checkpoint::ModelConfig& model = part.config();
    const std::int64_t numbers = std::min(model.longest_text, longest) * values_per_token(dims);
    const std::int64_t floats = std::clamp(numbers * (model.layers + ends), 4 * megabyte, 24 * megabyte);
    return sizeof(float) * static_cast<std::size_t>(floats);
}

/// Restricts the view to what the checkpoint has; follow_transformed handles the heads.
void keep_to_model(ViewState& view, const RunSpec& part) {
    if (!part.two_texts())
        view.attention.stack = checkpoint::Stack::own;
    view.batch = 0;
    view.brush = {}; // the mask belongs to the model
}

/// Returns true if the view shows a table whose rows differ between `next` and the document, and attention n,
/// which stores those rows, belongs to another stack.
bool shows_table(const Document& document, const checkpoint::ModelEdits& next, const ViewState& view,
                 std::int64_t n) {
    const checkpoint::ModelConfig& config = document.part()->config();
    const std::int64_t open = open_attention(document);
    const auto rows_of = [&](const checkpoint::ModelEdits& edits, TensorId table) {
        const checkpoint::TableRows* const rows = edited_rows(config, edits, table, open);
        return rows == nullptr ? checkpoint::TableRows() : *rows;
    };
    return current_block_place(view).layer < 0 && attention_place(config, n).stack != document.stack() &&
           std::ranges::any_of(block_weight_table(), [&](const TensorInfo& info) {
               return is_table(info.id) && edited_with(config, open, read_as(config, info.id)) == n &&
                      rows_of(document.part()->edits, info.id) != rows_of(next, info.id);
           });
}

} // namespace

CheckpointSession::CheckpointSession(SessionHost& host)
    : Session(host), grid_(host.state(), host.wake()), atlas_(host.state(), host.wake()),
      map_(host.state(), host.wake()), prompts_(host.state(), host.wake()), runner_(host.wake()),
      blocks_(host.wake(), block_bytes(*state().document->part(), state().document->problem.dims)) {
    show_texts(state().model, *state().document->part());
    state().view.attention.stack = state().document->stack();
}

CheckpointSession::CheckpointSession(SessionHost& host, const OpenedModel& opened)
    : Session(host), grid_(host.state(), host.wake()), atlas_(host.state(), host.wake()),
      map_(host.state(), host.wake()), prompts_(host.state(), host.wake()),
      runner_(host.wake()), wanted_{opened.part, opened.attention, std::nullopt},
      blocks_(host.wake(), block_bytes(*opened.part, opened.base->dims)) {
    ModelState& model = state().model;
    model = {};
    show_texts(model, *opened.part);
    model.run = opened.run;
    model.unedited = opened.unedited;
    model.predictions = opened.predictions;
    model.generation_blocked_reason = text_full_reason(*opened.part);
    next_logits_ = opened.next_logits;
    sample_next();
    runner_.begin_with(opened);
    known_[opened.attention] = {opened.part->inputs, opened.base};
}

CheckpointSession::~CheckpointSession() {
    state().model = {};
    ViewState& view = state().view;
    view.attention.possible = {};
    view.attention.stack = checkpoint::Stack::own;
    view.step_strip = {};
    if (is_around(view.group))
        view.group = view.previous_step = StageGroup::weights;
    for (std::optional<CellAddress>* const cell : {&view.selected, &view.hover, &view.block_end})
        if (*cell && (is_block_stage((*cell)->tensor) || is_block_weight((*cell)->tensor)))
            cell->reset();
    state().shown.block = nullptr;
    state().shown.lengths = nullptr;
    state().shown.unit_words = nullptr;
    state().shown.expert = nullptr;
    state().shown.effects = nullptr;
    state().shown.lens = nullptr;
    state().shown.sources = nullptr;
    state().shown.sweep = nullptr;
    state().shown.why = nullptr;
    state().shown.causes = nullptr;
    state().shown.flow_guesses = nullptr;
    state().shown.flow_layer = nullptr;
    state().shown.patching = nullptr;
    state().shown.circuits = nullptr;
    state().shown.atlas = nullptr;
    state().shown.head_changes = nullptr;
    if (state().view.tab == LeftTab::predictions || state().view.tab == LeftTab::prompts)
        state().view.tab = LeftTab::guide;
}

void CheckpointSession::follow() {
    const RunSpecPtr part = state().document->part();
    keep_to_model(state().view, *part);
    pair_question_.follow(state().model, *part->model);
    const std::int64_t attention = current_attention();
    if (attention != open_attention(*state().document))
        if (const auto base = known_base(*part, attention))
            show_attention(attention, base);
    update_step_strip();
    follow_transformed();
    follow_block();
    ask(current_attention()); // an answer may have selected another head
}

std::int64_t CheckpointSession::current_attention() const {
    const AttentionView& view = state().view.attention;
    const checkpoint::ModelConfig& config = state().document->part()->config();
    const std::int64_t last = in_stack(config, view.stack).layers - 1;
    const std::int64_t wanted = std::max<std::int64_t>(view.layer, 0);
    // A mean over layers cannot be edited: the previous layer stays open.
    const std::int64_t beyond = view.reading.means ? std::min(state().document->layer(), last) : last;
    // A delta layer has no attention to open: a layer near it stays open, and its own steps are around it.
    return attention_number(
        config, {view.stack, nearest_attention(config, {view.stack, wanted <= last ? wanted : beyond})});
}

std::int64_t CheckpointSession::first_in_grid(std::int64_t attention) const {
    const checkpoint::ModelConfig& config = state().document->part()->config();
    const checkpoint::Stack stack = state().view.attention.stack;
    std::int64_t layer = 0;
    while (layer < in_stack(config, stack).layers && attention_number(config, {stack, layer}) < attention)
        ++layer;
    return layer;
}

void CheckpointSession::update_step_strip() {
    ViewState& view = state().view;
    const RunSpec& part = *state().document->part();
    const std::int64_t last = in_stack(part.config(), view.attention.stack).layers - 1;
    view.step_strip =
        step_strip_of(part, view.attention.stack, std::clamp<std::int64_t>(view.attention.layer, 0, last));
    if (!view.step_strip.has(view.group))
        view.group = view.step_strip.layer.front();
}

void CheckpointSession::follow_block() {
    using checkpoint::RunPart;
    using checkpoint::StackLengths;
    Shown& shown = state().shown;
    const ViewState& view = state().view;
    const checkpoint::ModelRunPtr& run = state().model.run;
    blocks_.begin_frame();
    if (run != mapped_run_ && run != nullptr && !checkpoint::is_patched(run->edits()))
        mapped_run_ = nullptr; // for another text, or after an edit
    blocks_.retain({run, mapped_run_, shown.block});
    const bool known = run != nullptr && shown.document != nullptr && shown.document->is_checkpoint();
    if (known)
        shown.position = position_of(*run, *shown.document->part()->model, state().model.position);
    checkpoint::AttentionPlace place = current_block_place(view);
    const bool of_shown = shown.document != nullptr && place.stack == shown.document->stack();
    if (place.layer < 0 && shown.document != nullptr)
        place.stack = shown.document->stack(); // keep its previous values until the new ones are available
    // With large stages, compute it only when a view shows it.
    if (!known || shown.document->is_long() || (place.layer >= 0 && !of_shown) ||
        run->read_by_queries(place.stack).T != shown.dims().Tq ||
        (has_large_stages(shown.dims()) && !is_around(view.group))) {
        shown.block = nullptr;
        shown.lengths = nullptr;
        shown.unit_words = nullptr;
        shown.expert = nullptr;
        return follow_screen();
    }
    const std::int64_t T = shown.dims().Tq, numbers = T * values_per_token(shown.dims());
    const std::int64_t row = std::clamp<std::int64_t>(current_row(view, shown.position), 0, T - 1);
    const checkpoint::ModelConfig& config = run->model().config();
    const std::int64_t n = place.layer < 0 ? -1 : attention_number(config, place);
    const std::string of_stack = stack_prefix(config, place.stack);
    const auto asked = blocks_.ask<RunPart>(
        {run, n < 0 ? "ends " + of_stack + std::to_string(row) : "attention " + std::to_string(n)},
        is_around(view.group) ? Priority::on_screen : Priority::background,
        [run, place, n, row](Progress& progress, const auto&) {
            return RunPart(n < 0 ? *run->ends(place.stack, row, progress) : *run->around(n, progress));
        },
        sizeof(float) * static_cast<std::size_t>(numbers));
    if (asked.value != nullptr)
        shown.block = asked.value;
    else if (shown.block != nullptr && (shown.block->place != place || shown.block->T() != T ||
                                        &shown.block->config() != &in_stack(config, place.stack)))
        shown.block = nullptr; // the same layer keeps its previous numbers until the new ones are available
    if (!asked.error.empty())
        state().model.error = asked.error;
    shown.lengths = blocks_
                        .ask<StackLengths>({run, "lengths " + of_stack}, Priority::background,
                                           [run, place](Progress& progress, const auto&) {
                                               return run->lengths(place.stack, progress);
                                           })
                        .value;
    follow_unit();
    follow_expert();
    follow_screen();
}

void CheckpointSession::ask(std::int64_t attention) {
    const RunSpecPtr& part = state().document->part();
    ModelRunner::Request next{part, attention, state().model.position};
    if (next_text_) {
        checkpoint::ModelEdits edits = with_patches_of(part->edits, next_text_->part->edits);
        if (next_text_->asked == nullptr || first_difference(next_text_->asked->edits, edits)) {
            auto asked = std::make_shared<RunSpec>(*next_text_->part);
            asked->edits = std::move(edits);
            asked->marks = part->marks;
            asked->compared = part->compared;
            next_text_->asked = std::move(asked);
        }
        next.part = next_text_->asked;
    }
    if (next.part == wanted_.part && next.attention == wanted_.attention && next.position == wanted_.position)
        return;
    wanted_ = next;
    runner_.request(std::move(next));
}

void CheckpointSession::act(const ModelAction& action) {
    std::visit(Overloaded{[&](const TypePrompt& c) {
                              state().model.pair = c.alone ? "" : state().model.pair;
                              type(&RunSpec::prompt, c.prompt);
                          },
                          [&](const TypePair& c) { type(&RunSpec::pair, c.pair); },
                          [&](const DecidePair& c) { decide_pair(c.two); },
                          [&](const TypeTarget& c) { type(&RunSpec::target, c.target); },
                          [&](const GenerateTarget&) { write_target(); },
                          [&](const PredictAt& c) {
                              state().model.position.reset();
                              if (c.position >= 0)
                                  state().model.position = c.position;
                          },
                          [&](const GenerateToken& c) {
                              if (c.id)
                                  stop_writing();
                              waiting_ = c;
                          },
                          [&](const SetGenerating& c) {
                              stop_writing();
                              if (c.on && !state().model.generation_blocked_reason.empty())
                                  fail_input(state().model.generation_blocked_reason);
                              state().model.generating = c.on;
                          },
                          [&](const RemoveTokens& c) { take_back(c.tokens); },
                          [&](const AskEffects& c) { ask_effects(c); },
                          [&](const AskPatching& c) { ask_patching(c); },
                          [&](const AskCircuits& c) { ask_circuits(c); },
                          [&](const MeasureRuns& c) {
                              if (measured_)
                                  measured_(c.on);
                          },
                          [&](const OpenPatch& c) {
                              if (prompts_.mean_on())
                                  fail_input(tr("checkpoint_session.mean_has_no_run",
                                                "A mean over prompts has no run to open; show the open "
                                                "prompt first."));
                              opening_ = c;
                              if (measured_)
                                  measured_(false); // frees the worker for the run of the cell
                          },
                          [&](const LeavePatch&) { leave_patch(); },
                          [&](const SwapPrompts&) { swap_prompts(); },
                          [&](const OpenSurvey& c) {
                              state().model.survey_path = c.path;
                              app::apply(state().view, ShowScreen{Screen::atlas});
                              app::apply(state().view, ShowAtlasTab{AtlasTab::survey});
                          },
                          [&](const SelectBranch& c) { take_branch(c.number); },
                          [&](const ShowCauseDetails& c) { show_cause_details(c); },
                          [&](const SetSampling& c) {
                              checkpoint::check_settings(c.settings);
                              state().model.sampling = c.settings;
                              sample_next();
                          },
                          [&](const auto&) { change_prompts(action); }},
               action);
    write_waiting();
    follow();
}

void CheckpointSession::take_results() {
    if (const auto answer = runner_.poll())
        apply_answer(*answer);
    if (waiting_ && !runner_.busy())
        continue_generation();
    follow_block();
    state().model.running = runner_.busy();
    state().model.fraction = runner_.fraction();
}

void CheckpointSession::settle() {
    do {
        runner_.wait();
        take_results();
        blocks_.wait();
        atlas_.wait();
        map_.wait();
        prompts_.wait();
        grid_.wait();
        follow_block();
    } while (busy());
}

void CheckpointSession::apply_answer(const ModelRunner::Answer& answer) {
    if (answer.asked != wanted_.part)
        return;
    if (!answer.error.empty()) {
        state().model.error = answer.error;
        stop_writing();
        next_text_.reset();
        return;
    }
    const bool other_text = next_text_ && answer.asked == next_text_->asked;
    std::optional<std::int64_t> changed_from; // first layer whose weights in the grid changed
    if (answer.run != nullptr) {
        ModelState& model = state().model;
        // Keep the error of invalid text in a field.
        if (const RunSpec& part = *state().document->part(); next_text_ || shows_texts(model, part))
            model.error.clear();
        // Returning from the run of a cell: reuse the run of the map, whose cached values are still valid.
        const bool back = mapped_run_ != nullptr && mapped_run_->inputs() == answer.run->inputs() &&
                          !first_difference(mapped_run_->edits(), answer.run->edits());
        const checkpoint::ModelRunPtr before = std::exchange(model.run, back ? mapped_run_ : answer.run);
        const bool same_text = before != nullptr && before->inputs() == answer.run->inputs() && !other_text;
        if (answer.run != before)
            model.recomputed = same_text ? recomputed_layers(*answer.run) : "";
        if (same_text)
            if (const auto head = newly_ablated(*before, *answer.run))
                model.switched_head = head;
        model.unedited = answer.unedited;
        model.predictions = answer.predictions;
        model.generation_blocked_reason = text_full_reason(*answer.part);
        next_logits_ = answer.next_logits;
        sample_next();
        if (same_text)
            changed_from = first_in_grid(first_difference(before->edits(), answer.run->edits())
                                             .value_or(attention_count(answer.run->model().config())));
    }
    const Document& now = *state().document;
    if (other_text) {
        if (answer.run == nullptr)
            return;
        const NextText text = *std::exchange(next_text_, std::nullopt);
        const bool longer = answer.part->written > now.part()->written;
        const PatchedRun* const patch = patched_run(*answer.part);
        const bool opens = patch != nullptr && patch != patched_run(*now.part());
        state().model.target = answer.part->target;
        state().model.branches = branches_after(state().model.branches, now.part(), *answer.part);
        wanted_ = {answer.part, answer.attention, wanted_.position};
        known_[answer.attention] = {answer.part->inputs, answer.base};
        state().view.selected.reset();
        host().push({model_document(answer.part, answer.attention, answer.base, now.revision + 1),
                     text.label,
                     {},
                     text.change,
                     text.gesture});
        if (!text.change.same_as(prompt_change)) {
            // The screen still shows the rows of the previous text.
            state().view.row = -1;
            if (answer.part->written > 0 && state().view.attention.stack != checkpoint::Stack::encoder)
                when_shown_.row = with_means(document_to_show()->problem.dims).Tq - 1;
        }
        if (opens)
            show_patch(*patch);
        if (longer && !text.part->write_target)
            token_generated(answer.part->inputs->ids.back());
    } else if (answer.attention != open_attention(now) || !same_vectors(*answer.base, *now.unedited)) {
        show_attention(answer.attention, answer.base);
    }
    follow_transformed(changed_from);
}

std::shared_ptr<const Problem> CheckpointSession::known_base(const RunSpec& part,
                                                             std::int64_t attention) const {
    const auto known = known_.find(attention);
    return known == known_.end() || known->second.inputs != part.inputs ? nullptr : known->second.base.lock();
}

void CheckpointSession::show_attention(std::int64_t attention, const std::shared_ptr<const Problem>& base) {
    const Document& now = *state().document;
    known_[attention] = {now.part()->inputs, base};
    state().document = model_document(now.part(), attention, base, now.revision + 1);
    if (transformed_.document() == nullptr)
        host().compute(state().document);
}

std::string CheckpointSession::edit_blocked_reason() const {
    const Document& document = *state().document;
    const checkpoint::AttentionPlace place = current_block_place(state().view);
    if (!has_attention(document.part()->config(), place))
        return tr(
            "checkpoint_session.delta_read_only",
            "Layer {} has a delta layer in place of attention. Its parameters are read-only in the window.",
            place.layer);
    if (!state().model.error.empty() || wanted_.part == nullptr ||
        wanted_.attention == open_attention(document))
        return {};
    const checkpoint::ModelConfig& config = document.part()->config();
    std::string words = attention_words(config, attention_place(config, wanted_.attention));
    if (words.front() >= 'a' && words.front() <= 'z') // capitalize at the start of the sentence
        words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return tr("checkpoint_session.opened_nothing", "{} is still loading. Try again when it appears.", words);
}

std::string CheckpointSession::history_label(std::string name) const {
    return open_layer_name(*state().document) + " " + name;
}

DocumentPtr CheckpointSession::restored(const DocumentPtr& next) {
    if (!next->is_checkpoint())
        return next;
    next_text_.reset();
    stop_writing();
    const RunSpecPtr& part = next->part();
    show_texts(state().model, *part);
    state().model.error.clear();
    AttentionView& view = state().view.attention;
    const auto changed = first_difference(state().document->part()->edits, part->edits);
    if (part->model != state().document->part()->model) {
        view.stack = next->stack();
        view.layer = next->layer();
    } else if (changed && !shows_table(*state().document, part->edits, state().view, *changed)) {
        const checkpoint::AttentionPlace place = attention_place(part->config(), *changed);
        view.stack = place.stack;
        view.layer = place.layer;
    }
    const checkpoint::ModelConfig& config = part->config();
    if (view.layer >= in_stack(config, view.stack).layers)
        return next; // the view shows a mean over layers
    const std::int64_t attention = attention_number(config, {view.stack, view.layer});
    const auto base = known_base(*part, attention);
    if (base == nullptr || attention == open_attention(*next))
        return next;
    return model_document(part, attention, base, state().document->revision + 1);
}

void CheckpointSession::check(const FileCommand& command) const {
    if (reads_otherwise() &&
        (std::holds_alternative<ExportScript>(command) || std::holds_alternative<CopyScript>(command)))
        fail_input(tr("checkpoint_session.weights_screen",
                      "A script cannot compute the filtered weights on screen: switch the filters off in "
                      "Heads, then export the script."));
}

std::function<void(const std::string& path)> CheckpointSession::save_function() const {
    return [part = state().document->part(),
            project = project_of(state(), host().steps(), {})](const std::string& path) mutable {
        project.model = project::model_location(part->model->model->path(), path);
        save_work(*part, project, path);
    };
}

bool CheckpointSession::same_work(const Document& saved) const {
    const RunSpec& now = *state().document->part();
    return saved.is_checkpoint() ? app::same_work(now, *saved.part())
                                 : with_patches_of(now.edits, {}).empty();
}

} // namespace headscope::app
