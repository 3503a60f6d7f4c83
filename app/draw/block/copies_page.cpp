#include "app/draw/block/block_parts.h"
#include "app/draw/block/row_blocks.h"
#include "app/draw/kit/controls.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

using enum TensorId;

/// The caption for the result of a step.
std::string words_of_result(TensorId id) {
    switch (id) {
    case predicted:
        return tr("copies_page.predicted",
                  "prediction of the active copy: the branches of the layer read it");
    case laurel_out:
        return tr("copies_page.laurel", "contribution of the low-rank branch");
    case corrected:
        return tr("copies_page.corrected", "correction of the active copy by what the layer computed");
    case layer_out:
        return tr("copies_page.layer_out", "added to all copies but the first");
    default:
        return tr("copies_page.merged", "mean of the copies: what the final norm reads");
    }
}

/// The stages that are shown above the result.
std::vector<TensorId> sources_of(const DrawContext& context, TensorId id) {
    if (id == merged) // made of all copies; the block has the active one alone
        return {};
    return made_from(context.shown, id);
}

} // namespace

Picture draw_copies_page(const DrawContext& context) {
    const TensorId id = group_info(context.view.group).main;
    Picture picture;
    picture.scene.width = context.width;
    draw_view_heading(picture, context, title_around(context.shown, id), formula_around(context.shown, id));
    std::vector<RowBlock> blocks;
    for (const TensorId source : sources_of(context, id))
        blocks.push_back({source, "", words_around(context.shown, source)});
    blocks.push_back({id, blocks.empty() ? "" : "=", words_of_result(id)});
    const float end = draw_row_blocks(picture, context, blocks, 104, context.height - 104);
    picture.scene.height = std::max(context.height, end);
    return picture;
}

} // namespace headscope::app
