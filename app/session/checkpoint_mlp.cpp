#include "app/session/checkpoint_session.h"

#include "core/checkpoint/graph/model_stages.h"

#include <algorithm>
#include <string>

namespace headscope::app {

namespace {

constexpr std::size_t listed_words = 5; ///< per list of an MLP unit's words

} // namespace

void CheckpointSession::follow_unit() {
    Shown& shown = state().shown;
    const checkpoint::ModelRunPtr& run = state().model.run;
    if (group_info(state().view.group).page != Page::mlp ||
        shown.tensor(group_info(state().view.group).main) == nullptr ||
        !analysis::has_unit_words(run->model(), shown.block->place.stack)) {
        shown.unit_words = nullptr;
        return;
    }
    const std::int64_t n = attention_number(run->model().config(), shown.block->place),
                       unit = current_unit(shown, state().view);
    shown.unit_words =
        blocks_
            .ask<analysis::UnitWords>(
                {run, "words of unit " + std::to_string(unit) + " of attention " + std::to_string(n)},
                Priority::on_screen,
                [run, n, unit](Progress& progress, const auto&) {
                    return analysis::unit_words(*run, n, unit, listed_words, progress);
                })
            .value;
}

void CheckpointSession::follow_expert() {
    Shown& shown = state().shown;
    const ViewState& view = state().view;
    if (shown.block == nullptr || shown.block->place.layer < 0 ||
        shown.tensor(TensorId::routing) == nullptr ||
        !shown.block->stages().is_sum_of_experts(shown.block->place, group_info(view.group).main)) {
        shown.expert = nullptr;
        return;
    }
    const checkpoint::RunPartPtr block = shown.block;
    const std::int64_t expert = current_expert(shown, view),
                       token = std::clamp<std::int64_t>(current_row(view, shown.position), 0, block->T() - 1);
    const auto asked = blocks_.ask<checkpoint::ExpertRun>(
        {block, "expert " + std::to_string(expert) + " at " + std::to_string(token)}, Priority::on_screen,
        [block, expert, token](Progress& progress, const auto&) {
            return checkpoint::run_expert(*block, expert, token, progress);
        });
    // Keep showing the previous numbers of the same expert until the new ones are available.
    if (asked.value != nullptr ||
        (shown.expert != nullptr && (shown.expert->expert != expert || shown.expert->place != block->place)))
        shown.expert = asked.value;
}

} // namespace headscope::app
