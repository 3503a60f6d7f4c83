#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"
#include "app/state/screens/screen.h"

#include <algorithm>
#include <string>
#include <utility>

namespace headscope::app {

namespace {

/// Returns true while the Flow of a language model is on screen.
bool shows_model_flow(const SessionState& state) {
    return screen_name(state.view.attention) == "flow" && state.model.run != nullptr &&
           why_no_model_flow(*state.document).empty();
}

/// Selects the head that matters for the prediction when the Flow of a checkpoint is opened, unless another
/// head was selected before. Returns true if it did.
bool select_first_cause(SessionState& state) {
    if (!shows_model_flow(state) || !std::exchange(state.model.shows_cause, false))
        return false;
    const std::optional<analysis::PredictionCause>& head = state.shown.causes->causes.head;
    if (!head || head->writer.stack != checkpoint::Stack::own || state.view.attention.layer != 0 ||
        state.view.head != 0)
        return false;
    app::apply(state.view, OpenHead{head->writer.layer, head->writer.head});
    return true;
}

} // namespace

void CheckpointSession::follow_model_flow() {
    Shown& shown = state().shown;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (!shows_model_flow(state())) {
        shown.flow_guesses = nullptr;
        shown.flow_layer = nullptr;
        return;
    }
    const checkpoint::TextModelPtr model = state().document->part()->model;
    const std::int64_t position = position_of(*run, *model, state().model.position),
                       layer = std::clamp<std::int64_t>(state().view.attention.layer, 0,
                                                        run->model().config().layers - 1);
    const auto of_layer = blocks_.ask<FlowLayer>(
        {run, "flow layer " + std::to_string(layer)}, Priority::on_screen,
        [run, layer](Progress& progress, const auto&) { return flow_layer(*run, layer, progress); });
    // Keep the previous numbers until the new ones are available.
    if (of_layer.value != nullptr)
        shown.flow_layer = of_layer.value;
    if (!of_layer.error.empty())
        state().model.error = of_layer.error;
    if (!run->model().has_head()) {
        shown.flow_guesses = nullptr;
        return;
    }
    const auto guesses = blocks_.ask<FlowGuesses>(
        {run, "flow guesses " + std::to_string(position)}, Priority::on_screen,
        [=](Progress& progress, const auto&) { return flow_guesses(*model, *run, position, progress); });
    if (guesses.value != nullptr)
        shown.flow_guesses = guesses.value;
    if (!guesses.error.empty())
        state().model.error = guesses.error;
}

void CheckpointSession::follow_causes() {
    Shown& shown = state().shown;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if ((!state().view.attention.causes_open && !shows_model_flow(state())) || run == nullptr ||
        !has_screen(*state().document, Screen::effects)) {
        shown.causes = nullptr;
        return;
    }
    const checkpoint::TextModelPtr model = state().document->part()->model;
    const std::int64_t position = position_of(*run, *model, state().model.position);
    const std::optional<ModelHead> off = ablated_head(*run, state().model.switched_head);
    std::string key = "causes " + std::to_string(position);
    if (off)
        for (const std::int64_t number :
             {static_cast<std::int64_t>(off->place.stack), off->place.layer, off->head})
            key += " " + std::to_string(number);
    const auto asked =
        blocks_.ask<CausesView>({run, key}, Priority::on_screen, [=](Progress& progress, const auto&) {
            return causes_view(*model, run, position, off, progress);
        });
    // Keep the previous causes until the new ones are available and their run is on screen: the state before
    // a step keeps those of its own run.
    const bool run_is_shown = shown.document != nullptr && shown.document->part() == state().document->part();
    if (asked.value != nullptr && run_is_shown) {
        shown.causes = asked.value;
        if (select_first_cause(state())) {
            update_step_strip();
            ask(current_attention());
        }
    }
    if (!asked.error.empty()) {
        shown.causes = nullptr;
        state().model.error = asked.error;
    }
}

void CheckpointSession::show_cause_details(const ShowCauseDetails& details) {
    EffectsQuestion& question = state().model.effects;
    question = {.token = details.token, .against = details.against};
    ViewState& view = state().view;
    app::apply(view, ShowScreen{Screen::effects});
    app::apply(view, ShowEffects{EffectKind::direct});
    if (details.head < 0)
        return;
    app::apply(view, ShowStack{details.place.stack});
    app::apply(view, OpenHead{details.place.layer, details.head});
}

} // namespace headscope::app
