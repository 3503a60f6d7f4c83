#include "app/draw/block/block_parts.h"
#include "app/draw/block/end_weights.h"
#include "app/draw/block/row_blocks.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/graph/labels.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

/// The terms of a sum from top to bottom, then the sum.
std::vector<RowBlock> blocks_of(const DrawContext& context) {
    const Shown& shown = context.shown;
    const TensorId id = group_info(context.view.group).main;
    if (id == embedding || id == position) {
        std::vector<RowBlock> blocks{
            {embedding, "", tr("residual_page.each_token", "the word of each token")}};
        if (shown.tensor(position) != nullptr)
            blocks.push_back(
                {position, "+", tr("residual_page.each_token_stands", "the position of each token")});
        const checkpoint::ModelStages& stages = shown.block->stages();
        const checkpoint::Stack stack = shown.block->place.stack;
        blocks.push_back(
            {resid_in, "=",
             stages.around(stack, graph::labels::embedding_mapped) != nullptr
                 ? tr("residual_page.sum_normed_mapped",
                      "the normalized sum, mapped to {} numbers: input of layer 0", shown.block->config().D)
             : stages.around(stack, graph::labels::embedding_norm) != nullptr
                 ? tr("residual_page.sum_normed_enters_layer", "the normalized sum: input of layer 0")
                 : tr("residual_page.enters_layer_0", "input of layer 0")});
        return blocks;
    }
    std::vector<RowBlock> blocks;
    for (const TensorId term : made_from(shown, id))
        blocks.push_back({term, blocks.empty() ? "" : "+", words_around(shown, term)});
    blocks.push_back({id, blocks.empty() ? "" : "=", words_around(shown, id)});
    return blocks;
}

} // namespace

Picture draw_residual_page(const DrawContext& context) {
    const TensorId id = group_info(context.view.group).main;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(context.shown, id), formula_around(context.shown, id));
    const bool tables = id == embedding || id == position;
    const float below = tables ? embedding_weights_height(context) : 0.0F;
    float end = draw_row_blocks(picture, context, blocks_of(context), 104, context.height - 104 - below);
    if (tables)
        end = draw_embedding_weights(picture, context, std::max(end + 8, context.height - below));
    picture.scene.height = std::max(context.height, end);
    return picture;
}

Picture draw_change_around(const DrawContext& context) {
    const TensorId id = group_info(context.view.group).main;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(context.shown, id), formula_around(context.shown, id));
    const float end = draw_row_blocks(picture, context, {{id, "", "B − A"}}, 104, context.height - 140);
    say_unchanged(picture, context, id, end + 14);
    picture.scene.height = std::max(context.height, end + 40);
    return picture;
}

} // namespace headscope::app
