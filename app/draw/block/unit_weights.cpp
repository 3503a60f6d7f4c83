#include "app/draw/block/unit_weights.h"

#include "app/draw/block/weight_strips.h"
#include "core/base/message.h"

namespace headscope::app {

using enum TensorId;

float draw_unit_weights(Picture& picture, const DrawContext& context, std::int64_t unit, float y) {
    const std::string k = std::to_string(unit);
    std::vector<WeightStrip> strips;
    const auto add = [&](TensorId id, int axis, const std::string& name, TensorId bias, bool with_bias) {
        if (context.shown.tensor(id) == nullptr)
            return;
        WeightStrip strip{id, {}, axis, name, {}};
        strip.origin[static_cast<std::size_t>(1 - axis)] = unit;
        if (with_bias && context.shown.tensor(bias) != nullptr)
            strip.bias = bias;
        strips.push_back(std::move(strip));
    };
    add(W_in, 0, "W_in[:, " + k + "]", b_in, true);
    add(W_gate, 0, "W_gate[:, " + k + "]", b_gate, true);
    add(W_out, 1, "W_out[" + k + ", :]", b_out, false);
    const bool gated = context.shown.tensor(W_gate) != nullptr;
    return draw_weight_strips(
        picture, context, tr("unit_weights.weights_unit", "Weights of unit {}", unit),
        (gated
             ? tr("common.w_w_gate_say", "W_in and W_gate say what the unit looks for, W_out what it writes.")
             : tr("unit_weights.w_says_unit_looks",
                  "W_in says what the unit looks for, W_out what it writes.")) +
            " " + tr("common.click_cell_drag_type", "Click a cell, then drag it or type a number."),
        strips, y);
}

float draw_output_bias(Picture& picture, const DrawContext& context, float y) {
    if (context.shown.tensor(b_out) == nullptr)
        return y;
    return draw_weight_strips(
        picture, context, tr("unit_weights.bias_b_out", "Bias b_out"),
        tr("unit_weights.added_every_token", "added at every token.") + " " +
            tr("common.click_cell_drag_type", "Click a cell, then drag it or type a number."),
        {{b_out, {}, 0, "b_out", {}}}, y);
}

} // namespace headscope::app
