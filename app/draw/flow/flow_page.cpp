#include "app/draw/flow/flow_page.h"

#include "app/draw/flow/flow_chips.h"
#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_output.h"
#include "app/draw/flow/flow_path.h"
#include "app/draw/flow/flow_play.h"
#include "app/draw/flow/model_flow.h"
#include "app/draw/kit/controls.h"
#include "app/state/screens/flow.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::app {

namespace {

FlowSizes flow_sizes(const DrawContext& context) {
    const Dims& dims = context.dims();
    const Problem& problem = context.shown.problem();
    FlowSizes sizes{.width = context.width,
                    .height = context.height,
                    .Tq = dims.Tq,
                    .Tk = dims.Tk,
                    .D = dims.D,
                    .Dkv = dims.Dkv,
                    .H = dims.H,
                    .Hkv = dims.Hkv,
                    .dk = dims.dk,
                    .dv = dims.dv,
                    .cross = problem.cross(),
                    .word_width = 20,
                    .head = context.view.head,
                    .numbers = context.view.numbers};
    constexpr float size = 14, widest = 110;
    for (std::int64_t i = 0; i < dims.Tq; ++i)
        sizes.word_width = std::max(sizes.word_width,
                                    context.measure(problem.query_label(i), figure::Font::ui_medium, size));
    for (std::int64_t j = 0; j < dims.Tk; ++j)
        sizes.word_width =
            std::max(sizes.word_width, context.measure(problem.key_label(j), figure::Font::ui_medium, size));
    sizes.word_width = std::min(sizes.word_width, widest);
    return sizes;
}

constexpr float opening_seconds = 0.3F;

/// Returns how far the selected head is opened up: 0 at rest, 1 while its steps play.
float story_share(const FlowInstant& at) {
    if (at.story.empty() || at.time <= 0 || at.time >= at.story.duration())
        return 0;
    return std::min(ease_in_out(at.time / opening_seconds),
                    ease_in_out((at.story.duration() - at.time) / opening_seconds));
}

void draw_story(const FlowPage& page, const FlowInstant& at) {
    for (std::int64_t h = 0; h < page.dims().H; ++h)
        if (h != page.head)
            draw_flow_head_ribbons(page, h);
    draw_flow_story_ribbons(page, at);
    draw_flow_output_ribbons(page);
    draw_flow_words(page);
    draw_flow_inputs(page);
    for (std::int64_t h = 0; h < page.dims().H; ++h)
        if (h != page.head)
            draw_flow_head(page, h);
    if (!at.over(FlowStep::query)) // the row of X goes through W_Q
        draw_flow_chips(page);
    draw_flow_story_head(page, at);
    draw_flow_output(page);
    draw_flow_tiles(page);
    draw_flow_story_end(page, at);
    draw_flow_subtitle(page, at);
}

void draw_at_rest(const FlowPage& page) {
    for (std::int64_t h = 0; h < page.dims().H; ++h)
        draw_flow_head_ribbons(page, h);
    draw_flow_output_ribbons(page);
    draw_flow_words(page);
    draw_flow_inputs(page);
    for (std::int64_t h = 0; h < page.dims().H; ++h)
        draw_flow_head(page, h);
    draw_flow_output(page);
    draw_flow_tiles(page);
    draw_flow_chips(page);
    const std::optional<FlowPath> path = flow_path(page);
    if (path)
        draw_flow_path(page, *path, page.context.view.flow.lit);
    draw_flow_corner(page, path ? flow_cell_text(page, *path) : FlowCellText{});
    draw_flow_parameters(page);
}

} // namespace

Picture draw_flow_page(const DrawContext& context) {
    if (const std::string why = why_no_flow(*context.shown.document); !why.empty())
        return message_view(context, tr("common.flow", "Flow"), why);
    if (context.shown.document->is_checkpoint())
        return draw_model_flow_page(context);
    Picture picture = empty_view(context);
    const FlowSizes sizes = flow_sizes(context);
    const FlowView& view = context.view.flow;
    const std::int64_t word = flow_word(view, context.dims().Tq), head = context.view.head;
    const FlowInstant at{view.story, view.time};
    const float open = story_share(at);
    const FlowLayout rest = flow_layout(sizes);
    picture.scene.width = std::max(context.width, rest.output.area.right() + 8); // a narrow canvas scrolls
    if (open <= 0) {
        draw_at_rest({picture, context, rest, word, head});
        return picture;
    }
    const float values = ease_in_out((view.time - view.story.start(FlowStep::mix)) / opening_seconds);
    const FlowLayout told =
        mixed_layout(flow_story_layout(sizes, false), flow_story_layout(sizes, true), values);
    draw_story({picture, context, mixed_layout(rest, told, open), word, head}, at);
    return picture;
}

} // namespace headscope::app
