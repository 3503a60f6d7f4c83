#include "app/draw/panels/panels.h"

#include "app/commands/actions.h"
#include "app/draw/block/block_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/rich_text.h"
#include "app/draw/panels/guide_texts.h"
#include "core/base/message.h"
#include "core/manual/glossary.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::app {

namespace {

constexpr float guide_pad = 24.0F;
constexpr float guide_text_size = 14.5F, guide_text_line = 23.0F;

void draw_progress(Picture& picture, const DrawContext& context, int stage, float y) {
    const float gap = 4.0F;
    const float piece = (context.width - 2 * guide_pad - gap * (group_count - 1)) / group_count;
    for (int s = 0; s < group_count; ++s)
        picture.scene.add(
            figure::RectItem{.area = {guide_pad + static_cast<float>(s) * (piece + gap), y, piece, 4},
                             .fill = s <= stage ? context.theme.ink : context.theme.line2,
                             .radius = 2});
}

/// Draws the bordered card "Try it". Returns its lower edge.
float draw_try_it(Picture& picture, const DrawContext& context, const std::string& text, float top) {
    constexpr float inside = 16.0F;
    const float width = context.width - 2 * guide_pad;
    Picture words;
    const float next = draw_paragraph(words, context, guide_pad + inside, top + 50, width - 2 * inside, text,
                                      figure::Font::ui, 14, 21, context.theme.ink);
    const float height = next - 21 + inside - top;
    picture.scene.add(figure::RectItem{.area = {guide_pad, top, width, height},
                                       .fill = context.theme.raise,
                                       .stroke = context.theme.line,
                                       .radius = 6});
    draw_text(picture, context, guide_pad + inside, top + 26, tr("common.try", "Try it"),
              figure::Font::ui_medium, 12.5F, context.theme.muted);
    picture.append(std::move(words), 0, 0);
    return top + height;
}

/// The text for transformed weights and weights from a file; the usual texts would name numbers that are not
/// on screen.
GuideText text_of_reading(const Document& document, std::int64_t h) {
    const AttentionInfo& info = document.shown_weights()->info();
    if (info.made_head.english == "rollout" && info.is_mean(document.layer(), h))
        return {
            .heading = tr("guide.come_through_far", "Rollout up to this layer"),
            .paragraphs = {tr("guide.attention_rollout_abnar_zuidema",
                              "Attention rollout (Abnar and Zuidema 2020): row i, column j is the fraction "
                              "of row i after this layer that comes from input token j. For each layer, the "
                              "mean over its heads is averaged with the identity, which stands for the row’s "
                              "own input, and multiplied by the rollout of the previous layers."),
                           tr("guide.takes_all_heads_equal",
                              "Rollout treats all heads as equal and ignores values, norms and MLPs: a "
                              "fraction shows where attention could carry something, not what it carried.")},
            .try_it = tr("guide.press_watch_shares_spread",
                         "Press ↓ and watch the fractions spread from layer to layer.")};
    if (info.made_head.english == "flow" && info.is_mean(document.layer(), h))
        return {
            .heading = tr("guide.layers_let_through", "Flow up to this layer"),
            .paragraphs = {tr("guide.attention_flow_abnar_zuidema",
                              "Attention flow (Abnar and Zuidema 2020): the layers so far form a network. "
                              "The capacity of an edge is the mean weight over the heads, averaged with the "
                              "identity for the row’s own input. Row i, column j is the maximum flow from "
                              "input token j to row i, each row divided by its sum."),
                           tr("guide.takes_all_heads_equal_2",
                              "Like rollout, flow treats all heads as equal and ignores values, norms and "
                              "MLPs. Rollout multiplies fractions along a path; a flow is limited by the "
                              "smallest capacity on the path.")},
            .try_it = tr("guide.switch_rollout_compare_two",
                         "Switch to the rollout ({}) and compare the two.", key_hint("rollout"))};
    if (info.is_mean(document.layer(), h))
        return {.heading = tr("guide.mean_none_stages", "A mean is not a stage of the model"),
                .paragraphs = {tr("guide.worked_out_weights_looking",
                                  "It is computed from the weights for display only: the model uses each "
                                  "head separately, so no stage precedes or follows a mean."),
                               tr("guide.open_head_board_guide",
                                  "Open a head in the grid, and the guide explains its stages again.")},
                .try_it = tr("guide.press_d_mean_subtracted",
                             "Press D to subtract the mean from a head, or a head from the mean.")};
    return {.heading = tr("guide.filtered_weights", "Filtered weights"),
            .paragraphs =
                {tr("guide.screen_not_model_computes",
                    "The weights on screen are not the weights that the model uses: {}.", info.reading),
                 tr("guide.guide_tells_models_own",
                    "The guide explains the model’s own numbers. It returns when you turn the filters off in "
                    "Heads. At every other stage it is available, because filters do not change those.")},
            .try_it =
                tr("guide.ablate_head_earlier_layer",
                   "Ablate a head of an earlier layer in Edit and watch these filtered weights change.")};
}

} // namespace

Picture draw_guide(const DrawContext& context) {
    Picture picture;
    const Theme& theme = context.theme;
    const float width = context.width - 2 * guide_pad;
    const int stage = std::min(static_cast<int>(context.view.group), group_count - 1);
    const Document& document = *context.shown.document;
    const GuideText text = document.shows_weights() ? text_of_reading(document, context.view.head)
                                                    : guide_text(context.shown, context.view);
    const bool steps_through_layers = context.view.step_strip.whole_block() && !document.shows_weights();
    float top = 0;
    if (steps_through_layers) {
        top = draw_stack_map(picture, context, 12);
        draw_hairline(picture, context, guide_pad, top, width);
    } else {
        draw_text(picture, context, guide_pad, 32,
                  tr("guide.stage", "Stage {} of {}", stage + 1, group_count), figure::Font::ui, 12.5F,
                  theme.muted);
        draw_progress(picture, context, stage, 42);
        top = 46;
    }
    float baseline = draw_paragraph(picture, context, guide_pad, top + 34, width, text.heading,
                                    figure::Font::ui_semibold, 20, 26, theme.ink);
    baseline += 6;
    const lesson::LessonState state{.problem = context.shown.problem(), .trace = *context.shown.trace};
    const TextStyle style{
        .size = guide_text_size, .line = guide_text_line, .color = theme.text, .strong = theme.text};
    std::set<std::string> met;
    for (const std::string& paragraph : text.paragraphs)
        baseline = draw_spans(picture, context, guide_pad, baseline, width,
                              manual::with_terms({lesson::Span{.text = paragraph}}, met), state, style) +
                   10;
    const float end =
        text.try_it.empty() ? baseline : draw_try_it(picture, context, text.try_it, baseline - 10);
    const float buttons = std::max(context.height - 56, end + 16);
    const StepStrip& strip = context.view.step_strip;
    if (context.view.group != strip.first())
        draw_button(picture, context, {guide_pad, buttons, 92, 34}, tr("common.back", "Back"), StepStage{-1},
                    false, tr("guide.stage_before_left_arrow", "Previous stage (left arrow key)"));
    if (context.view.group != strip.last())
        draw_button(picture, context, {context.width - guide_pad - 116, buttons, 116, 34},
                    tr("common.next_2", "Next"), StepStage{1}, true,
                    tr("guide.next_stage_right_arrow", "Next stage (right arrow key)"));
    else
        draw_button(picture, context, {context.width - guide_pad - 136, buttons, 136, 34},
                    tr("common.take_course", "Take the course"), ShowTab{LeftTab::course}, true,
                    tr("common.list_lessons", "The list of lessons"));
    picture.scene.width = context.width;
    picture.scene.height = std::max(context.height, buttons + 56);
    return picture;
}

} // namespace headscope::app
