#include "app/draw/block/block_parts.h"
#include "app/draw/block/row_blocks.h"
#include "app/draw/kit/controls.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

using enum TensorId;

std::vector<RowBlock> blocks_of_step(StageGroup step) {
    switch (step) {
    case StageGroup::delta_qkv:
        return {{delta_q, "", tr("delta_page.queries", "read the state; length 1")},
                {delta_k, "", tr("delta_page.keys", "say where to write; length 1")},
                {delta_v, "", tr("delta_page.values", "what each head writes")}};
    case StageGroup::delta_state:
        return {{delta_decay, "", tr("delta_page.decay", "fraction that stays")},
                {delta_beta, "", tr("delta_page.beta", "fraction replaced")},
                {delta_y, "", tr("delta_page.read_out", "what the query reads of each head’s state")}};
    default:
        return {{delta_z, "", tr("delta_page.gates", "gates; their silu multiplies the normalized read-out")},
                {TensorId::delta_out, "=",
                 tr("delta_page.output", "contribution of the delta layer to the residual stream")}};
    }
}

} // namespace

Picture draw_delta_page(const DrawContext& context) {
    const StageGroup step = context.view.group;
    const TensorId id = group_info(step).main;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context,
                      tr(group_info(step).title) + " · " + attention_of_block_name(context.shown),
                      formula_around(context.shown, id));
    const float end = draw_row_blocks(picture, context, blocks_of_step(step), 104, context.height - 104);
    picture.scene.height = std::max(context.height, end);
    return picture;
}

} // namespace headscope::app
