#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "core/base/error.h"

#include <utility>

namespace headscope::app {

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
        fail_input("there is no second prompt to swap with; type one first");
    const std::string clean = std::exchange(corrupted, state().model.prompt);
    type(&ModelPart::prompt, clean);
}

void CheckpointSession::follow_patching() {
    Shown& shown = state().shown;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (state().view.attention.screen != Screen::patching || run == nullptr) {
        shown.patching = nullptr;
        return;
    }
    PatchingView view{.asked = state().model.patching, .pair = {}, .map = {}, .error = {}};
    if (!view.asked.corrupted.empty()) {
        const checkpoint::TextModelPtr model = state().document->part()->model;
        const EffectsQuestion tokens = state().model.effects;
        const auto number = [](const std::optional<std::int64_t>& id) {
            return id ? std::to_string(*id) : std::string("-");
        };
        const std::string key =
            "pair " + number(tokens.token) + " " + number(tokens.against) + " " + view.asked.corrupted;
        const auto pair = blocks_.ask<PatchingPair>(
            {run, key}, Urgency::on_screen,
            [=, corrupted = view.asked.corrupted](Progress& progress, const auto&) {
                return patching_pair(model, run, corrupted, tokens.token, tokens.against, progress);
            },
            pair_bytes(*run));
        view.pair = pair.value;
        view.error = pair.error;
        if (pair.value != nullptr) {
            const analysis::HeadPlace from{state().view.attention.layer, state().view.head};
            const std::string what =
                view.asked.paths ? "paths " + std::to_string(from.layer) + "." + std::to_string(from.head)
                                 : std::string(info_of(view.asked.kind).id);
            const DerivedKey of_map{run, what + " " + key};
            using MapPtr = std::shared_ptr<const PatchingMap>;
            const auto map = blocks_.ask<PatchingMap>(
                of_map, Urgency::on_screen,
                [known = pair.value, asked = view.asked,
                 from](Progress& progress, const DerivedValues::Put<PatchingMap>& put, const MapPtr& so_far) {
                    return patching_map(*known, asked, from, so_far.get(), put, progress);
                });
            view.map = map.value;
            view.stopped = map.stopped;
            measures(of_map, map);
            view.error = map.error;
        }
    }
    shown.patching = std::make_shared<const PatchingView>(std::move(view));
}

} // namespace headscope::app
