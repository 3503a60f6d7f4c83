#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/analysis/effects/direct_projections.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>

namespace headscope::app {

namespace {

/// Returns the query and key of the score to split: those of the selected number, else the largest weight of
/// the current row.
std::optional<std::pair<std::int64_t, std::int64_t>> focused_score(const Shown& shown,
                                                                   const ViewState& view) {
    const Tensor* const weights = shown.tensor(TensorId::weights);
    if (weights == nullptr || weights->shape().rank() != 4)
        return std::nullopt;
    const std::int64_t Tq = weights->shape()[2], Tk = weights->shape()[3];
    if (view.selected && tensor_info(view.selected->tensor).axes == tensor_info(TensorId::weights).axes) {
        const std::int64_t query = view.selected->at[2], key = view.selected->at[3];
        if (query < Tq && key < Tk)
            return std::pair(query, key);
    }
    const std::int64_t query = std::clamp<std::int64_t>(view.row < 0 ? shown.position : view.row, 0, Tq - 1),
                       head = std::clamp<std::int64_t>(view.head, 0, weights->shape()[1] - 1);
    const auto row = weights->values().subspan(static_cast<std::size_t>(weights->offset(0, head, query, 0)),
                                               static_cast<std::size_t>(Tk));
    return std::pair(query, std::ranges::max_element(row) - row.begin());
}

/// Depends on the two tokens but not on the position: the map contains all positions.
std::string sources_key(const Effects& effects, checkpoint::AttentionPlace place, std::int64_t head) {
    const analysis::LogitQuestion& question = effects.question;
    std::string key = "sources";
    for (const std::int64_t number :
         {question.token, question.against, static_cast<std::int64_t>(question.from),
          static_cast<std::int64_t>(place.stack), place.layer, head})
        key += " " + std::to_string(number);
    return key;
}

} // namespace

std::int64_t typed_token(const checkpoint::TextModel& model, const std::string& word) {
    if (model.tokenizer != nullptr)
        return checkpoint::word_token(model, word);
    const std::int64_t vocab = model.model->config().vocab;
    const auto id = number_of<std::int64_t>(word);
    if (!id || *id < 0 || *id >= vocab)
        fail_input(tr("checkpoint_effects.no_id_token_ids", "\"{}\" is not a token id; ids are 0 to {}", word,
                      vocab - 1));
    return *id;
}

void CheckpointSession::follow_screen() {
    measured_ = nullptr;
    state().model.measuring = false;
    prompts_.follow();
    measure_prompts();
    follow_effects();
    follow_why();
    follow_causes();
    follow_model_flow();
    follow_patching();
    follow_circuits();
    follow_changes();
    atlas_.follow(transformed_.set(), state().model.run, prompts_.mean_on() ? &prompts_ : nullptr);
    prompts_.publish();
    map_.follow();
}

void CheckpointSession::follow_changes() {
    using Changes = std::vector<analysis::HeadChange>;
    const checkpoint::ModelRunPtr &run = state().model.run, &unedited = state().model.unedited;
    Shown& shown = state().shown;
    if (state().document->part()->compared == nullptr) {
        shown.head_changes = nullptr;
        return;
    }
    if (run == nullptr || unedited == nullptr || !(run->inputs() == unedited->inputs()) ||
        checkpoint::is_patched(run->edits())) {
        shown.head_changes = nullptr; // the previous ones are those of another text
        return;
    }
    const auto changes = blocks_.ask<Changes>({run, "head changes"}, Priority::background,
                                              [run, unedited](Progress& progress, const auto&) {
                                                  return analysis::head_changes(unedited, run, progress);
                                              });
    if (changes.value != nullptr)
        shown.head_changes = changes.value;
    if (!changes.error.empty())
        state().model.error = changes.error;
}

void CheckpointSession::follow_why() {
    Shown& shown = state().shown;
    const ViewState& view = state().view;
    const checkpoint::ModelRunPtr& run = state().model.run;
    const bool on_screen = view.attention.screen == Screen::why && run != nullptr && shown.trace != nullptr &&
                           shown.document->is_checkpoint() && run->inputs().T == shown.dims().Tq &&
                           view.attention.stack == checkpoint::Stack::own;
    const auto pair = on_screen ? focused_score(shown, view) : std::nullopt;
    if (!pair) {
        shown.why = nullptr;
        return;
    }
    const checkpoint::ModelConfig& a = run->model().config();
    const analysis::ScoreQuestion question{
        .attention = attention_number(
            a, {checkpoint::Stack::own, std::clamp<std::int64_t>(view.attention.layer, 0, a.layers - 1)}),
        .head = std::clamp<std::int64_t>(view.head, 0, a.H - 1),
        .query = pair->first,
        .key = pair->second};
    const std::optional<bool> join = view.attention.join_components;
    std::string key = "why";
    for (const std::int64_t number : {question.attention, question.head, question.query, question.key})
        key += " " + std::to_string(number);
    const auto why = blocks_.ask<WhyScore>(
        {run, key + (join ? *join ? " joined" : " apart" : "")}, Priority::on_screen,
        [=](Progress& progress, const auto&) { return why_score(*run, question, join, progress); });
    if (why.value != nullptr)
        shown.why = why.value;
    if (!why.error.empty())
        state().model.error = why.error;
}

void CheckpointSession::ask_effects(const AskEffects& asked) {
    EffectsQuestion& question = state().model.effects;
    const checkpoint::TextModel& model = *state().document->part()->model;
    switch (asked.what) {
    case AskEffects::What::usual:
        question = {};
        return;
    case AskEffects::What::token:
        question.token = typed_token(model, asked.word);
        return;
    case AskEffects::What::against:
        question.from_mean = asked.word.empty();
        question.against.reset();
        if (!asked.word.empty())
            question.against = typed_token(model, asked.word);
        return;
    }
}

void CheckpointSession::follow_effects() {
    Shown& shown = state().shown;
    const AttentionView& view = state().view.attention;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (view.screen != Screen::effects || run == nullptr || !run->model().has_head() ||
        !analysis::has_one_stream(run->model())) {
        shown.effects = nullptr;
        shown.sources = nullptr;
        shown.lens = nullptr;
        return;
    }
    if (prompts_.mean_on())
        return follow_mean_effects();
    if (shown.effects != nullptr && shown.effects->mean != nullptr)
        shown.effects = nullptr;
    const checkpoint::TextModelPtr model = state().document->part()->model;
    const checkpoint::ModelRunPtr unedited = state().model.unedited;
    const EffectsQuestion question = state().model.effects;
    const checkpoint::Stack stack =
        view.stack == checkpoint::Stack::cross ? view.stack : checkpoint::Stack::own;
    const std::int64_t position = position_of(*run, *model, state().model.position);
    const std::string at = std::to_string(position);
    const auto number = [](const std::optional<std::int64_t>& id) {
        return id ? std::to_string(*id) : std::string("-");
    };
    using EffectsPtr = std::shared_ptr<const Effects>;
    const std::string key = "effects " + at + " " + number(question.token) + " " + number(question.against) +
                            (question.from_mean ? " mean " : " ") + std::to_string(static_cast<int>(stack));
    const auto effects =
        blocks_.ask<EffectsPtr>({run, key}, Priority::on_screen, [=](Progress& progress, const auto&) {
            return effects_of(*model, *run, *unedited, question, position, stack, progress);
        });
    const auto lens = blocks_.ask<EffectsLens>(
        {run, "lens " + at}, Priority::on_screen,
        [=](Progress& progress, const auto&) { return effects_lens(*model, *run, position, progress); });
    // Keep the previous effects until the new ones are available.
    const EffectsPtr before = shown.effects;
    if (effects.value != nullptr)
        shown.effects = *effects.value;
    if (before != shown.effects)
        shown.sweep = nullptr;
    if (shown.sources != nullptr && shown.effects != nullptr && !shown.sources->belong_to(*shown.effects))
        shown.sources = nullptr;
    std::string fault;
    if (effects.value != nullptr && view.effects == EffectKind::by_source) {
        const checkpoint::ModelConfig& a = run->model().config();
        const checkpoint::AttentionPlace place{stack, std::clamp<std::int64_t>(view.layer, 0, a.layers - 1)};
        const std::int64_t head = std::clamp<std::int64_t>(state().view.head, 0, a.H - 1);
        const auto sources = blocks_.ask<EffectsSources>(
            {run, sources_key(*shown.effects, place, head)}, Priority::on_screen,
            [run, place, head, known = shown.effects](Progress& progress, const auto&) {
                return effects_sources(*run, *known, place, head, progress);
            });
        if (sources.value != nullptr)
            shown.sources = sources.value;
        fault = sources.error;
    }
    if (effects.value != nullptr &&
        (view.effects == EffectKind::ablated || view.effects == EffectKind::averaged)) {
        const analysis::Ablation ablation =
            view.effects == EffectKind::averaged ? analysis::Ablation::mean : analysis::Ablation::zero;
        const DerivedKey of_sweep{run,
                                  key + (ablation == analysis::Ablation::mean ? " averaged" : " without")};
        using SweepPtr = std::shared_ptr<const EffectsSweep>;
        const auto sweep = blocks_.ask<EffectsSweep>(
            of_sweep, Priority::on_screen,
            [run, ablation, known = shown.effects](
                Progress& progress, const DerivedValues::Put<EffectsSweep>& put, const SweepPtr& so_far) {
                return effects_sweep(*run, *known, ablation, so_far.get(), put, progress);
            });
        shown.sweep = sweep.value;
        shown.sweep_stopped = sweep.stopped;
        measures(of_sweep, sweep);
    }
    if (lens.value != nullptr)
        shown.lens = lens.value;
    for (const std::string& error : {effects.error, fault, lens.error})
        if (!error.empty())
            state().model.error = error;
}

} // namespace headscope::app
