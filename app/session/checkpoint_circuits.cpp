#include "app/session/checkpoint_session.h"

#include "app/commands/command.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

void CheckpointSession::ask_circuits(const AskCircuits& asked) {
    CircuitsQuestion& question = state().model.circuits;
    if (asked.word) {
        question.token.reset();
        if (!asked.word->empty())
            question.token = typed_token(*state().document->part()->model, *asked.word);
    }
    question.through_mlp = asked.through_mlp.value_or(question.through_mlp);
    if (asked.threshold)
        question.threshold = std::clamp(*asked.threshold, 0.0F, 1.0F);
}

void CheckpointSession::follow_circuits() {
    Shown& shown = state().shown;
    const ViewState& view = state().view;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (view.attention.screen != Screen::circuits || run == nullptr || !run->model().has_head()) {
        shown.circuits = nullptr;
        return;
    }
    const checkpoint::TextModelPtr model = state().document->part()->model;
    const checkpoint::ModelConfig& a = run->model().config();
    CircuitsView out{.asked = state().model.circuits};
    const analysis::HeadPlace head{std::clamp<std::int64_t>(view.attention.layer, 0, a.layers - 1),
                                   std::clamp<std::int64_t>(view.head, 0, a.H - 1)};
    const std::int64_t position = position_of(*run, *model, state().model.position);
    const std::int64_t token =
        out.asked.token.value_or(run->inputs().ids[static_cast<std::size_t>(position)]);
    const auto of_token = blocks_.ask<TokenCircuit>(
        {run, "circuit " + std::to_string(head.layer) + " " + std::to_string(head.head) + " " +
                  std::to_string(token) + (out.asked.through_mlp ? " mlp" : "")},
        Priority::on_screen, [=, through_mlp = out.asked.through_mlp](Progress& progress, const auto&) {
            return token_circuit(*model, *run, head, token, through_mlp, progress);
        });
    const auto of_heads = blocks_.ask<HeadCircuits>(
        {run, "circuits"}, Priority::on_screen,
        [=](Progress& progress, const auto&) { return head_circuits(*run, progress); });
    out.token = of_token.value;
    if (out.token == nullptr && shown.circuits != nullptr)
        out.token = shown.circuits->token; // keep the previous list until the new one is available
    out.heads = of_heads.value;
    out.error = of_token.error.empty() ? of_heads.error : of_token.error;
    shown.circuits = std::make_shared<const CircuitsView>(std::move(out));
}

} // namespace headscope::app
