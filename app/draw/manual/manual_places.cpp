#include "app/draw/manual/manual_panel.h"

#include "app/state/screens/screen.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

struct StepAnchor {
    StageGroup step;
    const char* anchor; ///< in the manual page "stages"
};
constexpr std::array<StepAnchor, stop_count> steps{{{StageGroup::x, "x"},
                                                    {StageGroup::qkv, "queries-keys-and-values"},
                                                    {StageGroup::split, "split"},
                                                    {StageGroup::scores, "scores"},
                                                    {StageGroup::scaled, "scaled"},
                                                    {StageGroup::masked, "masked"},
                                                    {StageGroup::weights, "weights"},
                                                    {StageGroup::head_out, "head_out"},
                                                    {StageGroup::concat, "concat"},
                                                    {StageGroup::contributions, "contributions"},
                                                    {StageGroup::output, "output"},
                                                    {StageGroup::gate, "gate"},
                                                    {StageGroup::c2p, "relative-positions"},
                                                    {StageGroup::p2c, "relative-positions"},
                                                    {StageGroup::embedding, "embedding-and-position"},
                                                    {StageGroup::position, "embedding-and-position"},
                                                    {StageGroup::resid_in, "the-residual-stream"},
                                                    {StageGroup::norm1, "norm"},
                                                    {StageGroup::attn_out, "the-residual-stream"},
                                                    {StageGroup::resid_mid, "the-residual-stream"},
                                                    {StageGroup::norm2, "norm"},
                                                    {StageGroup::mlp_pre, "mlp"},
                                                    {StageGroup::mlp_gate, "mlp"},
                                                    {StageGroup::mlp_act, "mlp"},
                                                    {StageGroup::mlp_shared, "mlp"},
                                                    {StageGroup::routing, "experts"},
                                                    {StageGroup::mlp_experts, "experts"},
                                                    {StageGroup::mlp_raw, "mlp"},
                                                    {StageGroup::mlp_out, "mlp"},
                                                    {StageGroup::resid_out, "the-residual-stream"},
                                                    {StageGroup::delta_qkv, "delta-layers"},
                                                    {StageGroup::delta_state, "delta-layers"},
                                                    {StageGroup::delta_out, "delta-layers"},
                                                    {StageGroup::predicted, "copies-of-the-stream"},
                                                    {StageGroup::laurel, "copies-of-the-stream"},
                                                    {StageGroup::mlp_sparse, "mlp"},
                                                    {StageGroup::activated, "copies-of-the-stream"},
                                                    {StageGroup::corrected, "copies-of-the-stream"},
                                                    {StageGroup::layer_out, "copies-of-the-stream"},
                                                    {StageGroup::merged, "copies-of-the-stream"},
                                                    {StageGroup::final_norm, "norm"},
                                                    {StageGroup::logits, "logits-and-probabilities"},
                                                    {StageGroup::probabilities, "logits-and-probabilities"}}};

struct ScreenPlace {
    Screen screen;
    const char *page, *anchor;
};
constexpr ScreenPlace places_of_screens[] = {{Screen::flow, "flow", ""},
                                             {Screen::atlas, "atlas", ""},
                                             {Screen::effects, "effects", "in-the-window"},
                                             {Screen::patching, "effects", "activation-patching"},
                                             {Screen::circuits, "effects", "the-vocabulary-circuit"},
                                             {Screen::why, "effects", "terms-of-a-score"},
                                             {Screen::map, "maps", "in-the-window"}};

} // namespace

manual::Place manual_place_of_screen(const Shown& shown, const ViewState& view) {
    const Screen screen = screen_of(shown, view);
    if (const auto* row = std::ranges::find(places_of_screens, screen, &ScreenPlace::screen);
        row != std::end(places_of_screens))
        return {row->page, row->anchor};
    if (shown.document->is_given())
        return {"attention-files", "the-board"};
    if (shown.document->shows_weights()) // a checkpoint's weights, transformed
        return {"attention-files", "filters"};
    const auto row = std::ranges::find(steps, view.group, &StepAnchor::step);
    return {"stages", row == steps.end() ? "" : row->anchor};
}

} // namespace headscope::app
