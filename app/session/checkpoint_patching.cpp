#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

/// Returns the step where patched rows are visible first.
StageGroup step_of(TensorId at, const checkpoint::ModelStages& stages, std::int64_t layer) {
    // The attention output has a step of its own only if a norm follows it; otherwise the sum shows it.
    const StageGroup sum = stages.has({checkpoint::Stack::own, layer}, TensorId::resid_mid)
                               ? StageGroup::resid_mid
                               : StageGroup::resid_out;
    return at == TensorId::attn_out   ? sum
           : at == TensorId::attn_raw ? StageGroup::attn_out
                                      : tensor_info(at).group;
}

} // namespace

void CheckpointSession::ask_patching(const AskPatching& asked) {
    PatchingQuestion& question = state().model.patching;
    if (asked.corrupted)
        question.corrupted = *asked.corrupted;
    else
        question.paths = asked.paths;
    if (asked.kind)
        question.kind = *asked.kind;
}

void CheckpointSession::swap_prompts() {
    std::string& corrupted = state().model.patching.corrupted;
    if (corrupted.empty())
        fail_input(tr("checkpoint_patching.no_second_prompt",
                      "there is no second prompt to swap with; type one first"));
    const std::string clean = std::exchange(corrupted, state().model.prompt);
    type(&RunSpec::prompt, clean);
}

void CheckpointSession::open_patch(const PatchingView& view, const DerivedKey& of_map) {
    const OpenPatch cell = *opening_;
    const auto edits = blocks_.ask<checkpoint::ModelEdits>(
        {of_map.of,
         "run " + std::to_string(cell.row) + " " + std::to_string(cell.column) + " of " + of_map.parameters},
        Priority::on_screen, [pair = view.pair, map = view.map, cell](Progress& progress, const auto&) {
            return patch_edits(*pair, *map, cell.row, cell.column, progress);
        });
    if (!edits.done)
        return;
    opening_.reset();
    if (edits.value == nullptr) {
        state().error = edits.error;
        return;
    }
    const auto patched =
        std::ranges::find_if(*edits.value, [](const auto& of) { return checkpoint::is_patched({of}); });
    if (patched == edits.value->end())
        return; // both runs have the same numbers there
    const checkpoint::PatchedRows& rows = patched->second.patched.back();
    const bool heads = by_head(*view.map);
    const RunSpecPtr own = state().document->part();
    auto part = std::make_shared<RunSpec>(*own);
    part->prompt = view.asked.corrupted;
    part->target.clear();
    part->inputs = std::make_shared<const checkpoint::ModelInputs>(view.pair->corrupted->inputs());
    part->written = 0;
    part->edits = *edits.value;
    part->opened_patch = std::make_shared<const PatchedRun>(
        PatchedRun{.clean = own,
                   .description = patch_description(*view.pair, *view.map, cell.row, cell.column),
                   .step = step_of(rows.at, own->model->model->stages(), cell.row),
                   .layer = cell.row,
                   .head = heads ? cell.column : -1,
                   .row = heads ? -1 : rows.first});
    mapped_run_ = state().model.run;
    stop_writing();
    write(part, tr("checkpoint_patching.open_patched_run", "open a patched run"));
    ask(current_attention());
}

void CheckpointSession::leave_patch() {
    const PatchedRun* const patch = patched_run(*state().document->part());
    if (patch == nullptr)
        return;
    stop_writing();
    write(patch->clean, tr("checkpoint_patching.leave_patched_run", "leave the patched run"));
}

void CheckpointSession::show_patch(const PatchedRun& patch) {
    ViewState& view = state().view;
    view.attention.screen = Screen::stages;
    view.attention.stack = checkpoint::Stack::own;
    view.attention.layer = patch.layer;
    if (patch.head >= 0)
        view.head = patch.head;
    view.group = patch.step;
    when_shown_.row = patch.row;
}

bool CheckpointSession::has_sender(const std::shared_ptr<const PatchingPair>& pair, const std::string& key,
                                   std::string& error) {
    const std::string of_pair = key + " of " + state().model.prompt;
    if (sent_in_ == of_pair)
        return true;
    PatchingQuestion asked = state().model.patching;
    asked.kind = analysis::PatchKind::head;
    asked.paths = false;
    const DerivedKey of_map{state().model.run, std::string(info_of(asked.kind).id) + " " + key};
    using MapPtr = std::shared_ptr<const PatchingMap>;
    const auto map = blocks_.ask<PatchingMap>(
        of_map, Priority::on_screen,
        [pair, asked](Progress& progress, const DerivedValues::Put<PatchingMap>& put, const MapPtr& so_far) {
            return patching_map(*pair, asked, {}, so_far.get(), put, progress);
        });
    measures(of_map, map);
    if (!map.done && !map.stopped) {
        error = map.error;
        return false;
    }
    sent_in_ = of_pair;
    ViewState& view = state().view;
    if (map.value != nullptr && !map.stopped) {
        const analysis::HeadPlace from = path_sender(*map.value, {view.attention.layer, view.head});
        view.attention.layer = from.layer;
        view.head = from.head;
        ask(current_attention());
    }
    return true;
}

void CheckpointSession::follow_patching() {
    Shown& shown = state().shown;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (state().view.attention.screen != Screen::patching || run == nullptr ||
        checkpoint::is_patched(run->edits())) {
        shown.patching = nullptr;
        opening_.reset();
        return;
    }
    if (prompts_.mean_on())
        return follow_mean_patching();
    PatchingView view{.asked = state().model.patching};
    if (!view.asked.corrupted.empty() && view.asked.corrupted != state().document->part()->prompt) {
        const checkpoint::TextModelPtr model = state().document->part()->model;
        const EffectsQuestion tokens = state().model.effects;
        const auto number = [](const std::optional<std::int64_t>& id) {
            return id ? std::to_string(*id) : std::string("-");
        };
        const std::string key =
            "pair " + number(tokens.token) + " " + number(tokens.against) + " " + view.asked.corrupted;
        const checkpoint::TextPair corrupted{view.asked.corrupted, state().document->part()->pair};
        const auto pair = blocks_.ask<PatchingPair>(
            {run, key}, Priority::on_screen,
            [=](Progress& progress, const auto&) {
                return patching_pair(model, run, corrupted, tokens.token, tokens.against, progress);
            },
            pair_bytes(*run));
        view.pair = pair.value;
        view.error = pair.error;
        if (pair.value != nullptr && view.asked.paths && !has_sender(pair.value, key, view.error)) {
            shown.patching = std::make_shared<const PatchingView>(std::move(view));
            return;
        }
        if (pair.value != nullptr) {
            const analysis::HeadPlace from{state().view.attention.layer, state().view.head};
            const std::string what =
                view.asked.paths ? "paths " + std::to_string(from.layer) + "." + std::to_string(from.head)
                                 : std::string(info_of(view.asked.kind).id);
            const DerivedKey of_map{run, what + " " + key};
            using MapPtr = std::shared_ptr<const PatchingMap>;
            const auto map = blocks_.ask<PatchingMap>(
                of_map, Priority::on_screen,
                [known = pair.value, asked = view.asked,
                 from](Progress& progress, const DerivedValues::Put<PatchingMap>& put, const MapPtr& so_far) {
                    return patching_map(*known, asked, from, so_far.get(), put, progress);
                });
            view.map = map.value;
            view.stopped = map.stopped;
            measures(of_map, map);
            view.error = map.error;
            if (opening_ && map.value != nullptr)
                open_patch(view, of_map);
        }
    }
    shown.patching = std::make_shared<const PatchingView>(std::move(view));
}

} // namespace headscope::app
