#include "app/shell/baseline_controller.h"

#include "app/state/model_document.h"
#include "app/views/given_weights.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

constexpr const char* baseline_value = "trace as it was built";

/// For a checkpoint, no layer may have edits: earlier layers affect this one.
bool as_built(const Document& document) {
    const project::Recipe& recipe = document.recipe;
    return document.is_checkpoint()
               ? document.part()->edits.empty()
               : recipe.edits.empty() && recipe.gains.empty() && recipe.temperature == 1.0F;
}

/// Returns a checkpoint's layer without the edits of any layer, from the unedited run; `document` itself if
/// it is the same. Reads weights: for a worker.
DocumentPtr unedited_layer(const DocumentPtr& document, const checkpoint::ModelRun& unedited) {
    const std::int64_t open = open_attention(*document);
    const auto base = std::make_shared<const Problem>(unedited.problem(open));
    if (same_vectors(*base, *document->unedited))
        return document;
    auto part = std::make_shared<RunSpec>(*document->part());
    part->edits.clear();
    part->marks.clear();
    return model_document(part, open, base, document->revision);
}

} // namespace

BaselineController::BaselineController(AppState& state, const Workspace& workspace, const std::string& device,
                                       std::function<void()> wake)
    : state_(state), workspace_(workspace), engine_(std::make_shared<EngineOnDemand>(device)),
      baselines_(std::move(wake)) {}

void BaselineController::list_history() {
    const History& history = workspace_.history();
    const auto& states = history.states();
    auto& lines = state_.history;
    // A command only changes the end: the current state and the states that can be redone.
    if (history.dropped() != lines_dropped_)
        lines.clear();
    lines_dropped_ = history.dropped();
    lines.resize(std::min({lines.size(), states.size(), history.position()}));
    for (std::size_t i = lines.size(); i < states.size(); ++i)
        lines.push_back({states[i].label, states[i].detail});
    lines.front().steps_before_saving = states.front().steps_before_saving;
    const DocumentPtr& baseline = state_.compare.baseline().document;
    for (std::size_t i = 0; i < states.size(); ++i)
        lines[i].baseline = baseline != nullptr && states[i].document == baseline;
    state_.history_position = history.position();
}

void BaselineController::mark_when_shown(const std::string& name) {
    drop();
    wanted_ = name;
}

void BaselineController::mark(bool unedited, const std::string& name) {
    if (state_.shown.trace == nullptr)
        return;
    if (shows_transformed_weights(state_))
        fail_input(
            tr("compare_desk.filtered_weights_not",
               "filtered weights are not compared: mark A at another stage, or switch the filters off in "
               "Heads"));
    const History& history = workspace_.history();
    const std::string built = state_.document->is_checkpoint() && state_.document->part()->compared != nullptr
                                  ? state_.document->part()->model->name()
                                  : tr("common.built", "as built");
    if (!unedited || as_built(*state_.document)) {
        const bool newest = state_.shown.document == state_.document;
        const std::string usual =
            as_built(*state_.shown.document) ? built
            : newest ? tr("compare_desk.after", "after {}", history.states()[history.position()].label)
                     : tr("compare_desk.marked", "as marked");
        return put(state_.shown, name.empty() ? usual : name);
    }
    // Prefer the state of the history that is unedited, so that the list can mark it.
    const auto same = std::ranges::find_if(history.states(), [&](const History::State& state) {
        return state.document->unedited == state_.document->unedited && as_built(*state.document);
    });
    coming_name_ = name.empty() ? built : name;
    coming_ = same != history.states().end() ? same->document : app::apply(state_.document, ResetEdits{});
    baselines_.retain({coming_});
    const checkpoint::ModelRunPtr run = coming_->is_checkpoint() ? state_.model.unedited : nullptr;
    baselines_.ask<RunResult>({coming_, baseline_value}, Priority::on_screen,
                              [engine = engine_, run, coming = coming_](Progress& progress, const auto&) {
                                  const DocumentPtr document =
                                      run == nullptr || run->inputs() != *coming->part()->inputs
                                          ? coming
                                          : unedited_layer(coming, *run);
                                  auto trace = std::make_shared<const Trace>(
                                      engine->run(document->problem, StageSet::all(), progress));
                                  return RunResult{document, trace, analysis::head_metrics(*trace, 0), {}};
                              });
}

void BaselineController::put(Shown baseline, const std::string& name) {
    state_.compare.mark(std::move(baseline), name);
    compare_shown();
    list_history();
}

/// Without A there is nothing to compare; B, which may be large, is then released.
void BaselineController::compare_shown() {
    state_.compare.follow(state_.compare.marked() ? state_.shown : Shown(), state_.view.batch,
                          state_.view.group);
}

void BaselineController::drop() {
    wanted_.reset();
    state_.compare.drop();
    compare_shown();
    coming_ = nullptr;
    baselines_.clear();
    state_.view.compare = Compare::now;
    list_history();
}

void BaselineController::lay_aside() {
    aside_ = std::exchange(state_.compare, {});
    coming_ = nullptr;
    baselines_.clear();
}

void BaselineController::take_back() {
    if (aside_)
        state_.compare = std::move(*aside_);
    aside_.reset();
    coming_ = nullptr;
    baselines_.clear();
    state_.flash = {};
    state_.history.clear(); // another history will be listed
}

void BaselineController::follow() {
    if (wanted_ && (!state_.document->is_checkpoint() || state_.document->part()->compared == nullptr))
        wanted_.reset(); // the comparison was undone or replaced before it was on screen
    if (wanted_ && state_.shown.trace != nullptr && state_.shown.document->is_checkpoint() &&
        !shows_transformed_weights(state_)) {
        mark(true, *std::exchange(wanted_, std::nullopt));
        state_.view.compare = Compare::difference;
    }
    const Derived<RunResult> computed = baselines_.peek<RunResult>({coming_, baseline_value});
    if (coming_ != nullptr && computed.done) {
        coming_ = nullptr;
        if (computed.value == nullptr) {
            state_.error = computed.error;
        } else {
            put({computed.value->document, computed.value->trace, computed.value->metrics}, coming_name_);
        }
        baselines_.clear();
    }
    follow_layer();
    follow_around();
    follow_grid();
    compare_shown();
    if (coming_ == nullptr && !state_.compare.marked() && !baselines_.busy())
        engine_->release();
}

void BaselineController::follow_grid() {
    const DocumentPtr &a = state_.compare.baseline().document, &b = state_.document;
    // Once requested, A's run stays while B is on screen, so that A is not computed again afterwards.
    const bool requested = state_.view.compare != Compare::now || state_.model.baseline != nullptr;
    const bool wanted = state_.compare.marked() && requested &&
                        state_.view.attention.screen == Screen::atlas && a->is_checkpoint() &&
                        b->is_checkpoint() && a->part()->model == b->part()->model;
    state_.model.baseline = wanted ? run_of_baseline() : nullptr;
}

checkpoint::ModelRunPtr BaselineController::run_of_baseline() {
    using checkpoint::ModelRun;
    using checkpoint::ModelRunPtr;
    const RunSpecPtr& part = state_.compare.baseline().document->part();
    const ModelRunPtr& known = state_.model.unedited;
    const ModelRunPtr before = known != nullptr && known->inputs() == *part->inputs ? known : nullptr;
    const Derived<ModelRunPtr> run = baselines_.ask<ModelRunPtr>(
        {part, "run"}, Priority::on_screen, [part, before](Progress& progress, const auto&) {
            return ModelRun::compute(part->model->model, *part->inputs, part->edits, before, {}, progress);
        });
    if (!run.error.empty())
        state_.error = run.error;
    return run.value == nullptr ? nullptr : *run.value;
}

Derived<RunResult> BaselineController::layer_of_baseline(std::int64_t attention,
                                                         const checkpoint::ModelRunPtr& run) {
    const DocumentPtr marked = state_.compare.baseline().document;
    return baselines_.ask<RunResult>(
        {layer_, "layer"}, Priority::on_screen,
        [engine = engine_, attention, run, marked](Progress& progress, const auto&) {
            const DocumentPtr document =
                model_document(marked->part(), attention,
                               std::make_shared<const Problem>(run->problem(attention)), marked->revision);
            auto trace =
                std::make_shared<const Trace>(engine->run(document->problem, StageSet::all(), progress));
            return RunResult{document, trace, analysis::head_metrics(*trace, 0), {}};
        });
}

void BaselineController::follow_layer() {
    const DocumentPtr& now = state_.shown.document;
    const Comparison& compare = state_.compare;
    if (coming_ != nullptr || !compare.marked() || now == nullptr || now->shows_weights() ||
        !now->is_checkpoint() || !compare.baseline().document->is_checkpoint())
        return;
    const std::int64_t attention = open_attention(*now);
    if (layer_ == nullptr || *layer_ != attention)
        layer_ = std::make_shared<const std::int64_t>(attention);
    // Release A's results of other layers: for a long text they are large.
    baselines_.retain({compare.baseline().document->part(), compare.baseline().document, layer_});
    if (open_attention(*compare.baseline().document) == attention)
        return;
    const checkpoint::ModelRunPtr run = run_of_baseline();
    if (run == nullptr)
        return;
    const Derived<RunResult> layer = layer_of_baseline(attention, run);
    if (!layer.error.empty()) {
        state_.error = layer.error;
        return drop();
    }
    if (layer.value != nullptr)
        put({layer.value->document, layer.value->trace, layer.value->metrics}, compare.name());
}

void BaselineController::follow_around() {
    const checkpoint::RunPartPtr& now = state_.shown.block;
    const DocumentPtr& document = state_.compare.baseline().document;
    if (!state_.compare.marked() || !document->is_checkpoint() || now == nullptr ||
        !is_around(state_.view.group) || document->problem.dims != state_.shown.dims())
        return state_.compare.set_baseline_block(nullptr);
    const checkpoint::ModelRunPtr run = run_of_baseline();
    if (run == nullptr)
        return state_.compare.set_baseline_block(nullptr);
    const checkpoint::AttentionPlace place = now->place;
    const checkpoint::ModelConfig& config = run->model().config();
    const std::int64_t position = now->position, n = place.layer < 0 ? -1 : attention_number(config, place);
    const std::string of = stack_prefix(config, place.stack);
    const Derived<checkpoint::RunPartPtr> block = baselines_.ask<checkpoint::RunPartPtr>(
        {document, n < 0 ? "ends " + of + std::to_string(position) : "attention " + std::to_string(n)},
        Priority::on_screen, [run, place, n, position](Progress& progress, const auto&) {
            return n < 0 ? run->ends(place.stack, position, progress) : run->around(n, progress);
        });
    state_.compare.set_baseline_block(block.value == nullptr ? nullptr : *block.value);
}

void BaselineController::begin_flash(Shown before) {
    state_.flash.before = std::move(before);
    flash_begins_ = true;
}

bool BaselineController::fade_flash(double seconds_since_last) {
    Flash& flash = state_.flash;
    if (flash_begins_) {
        flash_begins_ = false;
        flash.strength = can_flash(flash.before, state_.shown) ? 1.0F : 0.0F;
    } else if (flash.strength > 0) {
        flash.strength =
            std::max(0.0F, flash.strength - static_cast<float>(seconds_since_last / flash_seconds));
    }
    if (flash.strength == 0)
        flash.before = {};
    return flash.strength > 0;
}

} // namespace headscope::app
