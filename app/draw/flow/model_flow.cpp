#include "app/draw/flow/model_flow.h"

#include "app/draw/effects/effects.h"
#include "app/draw/flow/model_parts.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <numeric>

namespace headscope::app {

namespace {

/// Content of the picture and its layout.
ModelFlow model_flow_of(const DrawContext& context) {
    const Document& document = *context.shown.document;
    const checkpoint::ModelConfig& a = document.part()->config();
    ModelFlow flow{.context = context, .layout = {}, .slabs = {}, .words = {}};
    flow.words = model_flow_words(*document.part()->inputs);
    flow.T = document.part()->inputs->T;
    flow.H = a.H;
    flow.open = std::clamp<std::int64_t>(context.view.attention.layer, 0, a.layers - 1);
    flow.head = std::clamp<std::int64_t>(context.view.head, 0, a.H - 1);
    flow.position = std::clamp<std::int64_t>(context.shown.position, 0, flow.T - 1);
    flow.slabs = flow_slabs(a.layers, flow.open);
    ModelFlowSizes sizes{.width = context.width,
                         .height = context.height,
                         .T = flow.T,
                         .H = flow.H,
                         .slabs = flow.slabs,
                         .predicts = document.part()->model->model->has_head(),
                         .word_width = 60,
                         .has_mlp = true};
    for (const std::string& word : flow.words)
        sizes.word_width =
            std::max(sizes.word_width, context.measure(word, figure::Font::ui_semibold, 13.5F) + 18);
    flow.layout = model_flow_layout(sizes);
    flow.moment = model_flow_moment(flow);
    return flow;
}

/// The source tokens of the selected head at the position, largest weight first.
void write_read_tokens(Sheet& sheet, const ModelFlow& flow) {
    const std::vector<float> row = flow.row_of_head(flow.position);
    if (row.empty())
        return;
    sheet.section(tr("model_flow_page.reads", "“{}” attends to", flow.word(flow.position)),
                  tr("common.weight", "weight"));
    std::vector<std::int64_t> order(row.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::int64_t j) { return row[static_cast<std::size_t>(j)]; });
    constexpr std::size_t most = 6;
    for (std::size_t n = 0; n < std::min(order.size(), most); ++n) {
        const float weight = row[static_cast<std::size_t>(order[n])];
        if (weight < 0.005F)
            break;
        sheet.row(word_label(flow.words, order[n]), percent_text(static_cast<double>(weight)), n == 0);
    }
}

/// The predictions after the layer whose best guess was clicked.
void write_guesses(Sheet& sheet, const ModelFlow& flow) {
    const FlowGuesses* const guesses = flow.guesses();
    if (guesses == nullptr)
        return;
    const auto level = static_cast<std::size_t>(std::clamp<std::int64_t>(
        flow.context.view.attention.flow_guess.value_or(flow.open + 1), 0, std::ssize(guesses->layers) - 1));
    sheet.section(level == 0 ? tr("model_flow_page.before_layers", "Best guesses before layer 0")
                             : tr("model_flow_page.after_layer", "Best guesses after layer {}", level - 1),
                  tr("common.probability", "probability"));
    for (const FlowGuesses::Guess& guess : guesses->layers[level])
        sheet.row(guess.word, percent_text(static_cast<double>(guess.probability)),
                  &guess == &guesses->layers[level].front());
    sheet.paragraph(tr("model_flow_page.lens",
                       "Logit lens: the residual stream after this layer goes straight "
                       "to the final norm and W_U."),
                    flow.theme().muted);
}

} // namespace

Picture draw_model_flow_page(const DrawContext& context) {
    const Document& document = *context.shown.document;
    if (const std::string why = why_no_model_flow(document); !why.empty())
        return message_view(context, tr("model_flow_page.flow", "Flow"), why);
    Picture picture = empty_view(context);
    const ModelFlow flow = model_flow_of(context);
    const figure::Rect& open = flow.layout.slabs[flow.layout.open_slab];
    picture.scene.add(figure::RectItem{.area = open, .fill = context.theme.canvas});
    draw_model_streams(picture, flow);
    draw_model_words(picture, flow);
    draw_closed_slabs(picture, flow);
    draw_open_slab(picture, flow);
    draw_final_norm(picture, flow);
    draw_best_guesses(picture, flow);
    draw_next_word(picture, flow);
    draw_model_causes(picture, flow);
    return picture;
}

Picture draw_model_flow_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    sheet.y = 18;
    if (!why_no_model_flow(*context.shown.document).empty())
        return sheet.finish();
    const ModelFlow flow = model_flow_of(context);
    const Theme& theme = context.theme;
    const std::string name = "L" + std::to_string(flow.open) + " H" + std::to_string(flow.head);
    const bool off = flow.is_off(flow.open, flow.head);
    double part = 0;
    if (const CausesView* const causes = flow.causes())
        for (const analysis::LogitPart& one : causes->causes.parts)
            if (one.writer.kind == analysis::Writer::Kind::head && one.writer.layer == flow.open &&
                one.writer.head == flow.head)
                part = one.value;
    if (const CausesView* const causes = flow.causes())
        sheet.headline("part[" + std::to_string(flow.open) + "][" + std::to_string(flow.head) + "][" +
                           word_label(flow.words, flow.position) + "]",
                       signed_number(part, 2),
                       tr("model_flow_page.logits_for", "logits, “{}” over “{}”",
                          causes->word(causes->causes.question.token),
                          causes->word(causes->causes.question.against)));
    sheet.paragraph(
        off ? tr("model_flow_page.head_off", "{} is ablated: its output is multiplied by 0.", name)
            : tr("model_flow_page.head_on",
                 "{} moves a part of the residual stream of each token that it attends to into that of “{}”.",
                 name, flow.word(flow.position)),
        theme.text);
    if (context.controls) {
        const float half = (sheet.width() - 10) / 2;
        draw_button(sheet.picture, context, {sheet.left, sheet.y, half, 32},
                    off ? tr("common.switch_on", "Restore") : tr("common.switch", "Ablate"),
                    SetHeadGain{{checkpoint::Stack::own, flow.open}, flow.head, off ? 1.0F : 0.0F}, false,
                    tr("common.sets_gain_everything_after",
                       "Sets the head gain of {} to {}; all later numbers follow", name, off ? 1 : 0));
        draw_button(sheet.picture, context, {sheet.left + half + 10, sheet.y, half, 32},
                    tr("common.open_head", "Open head"), ShowScreen{Screen::stages}, false,
                    tr("common.weights_stages", "Its weights and stages"));
        sheet.y += 44;
    }
    write_read_tokens(sheet, flow);
    write_guesses(sheet, flow);
    return sheet.finish();
}

} // namespace headscope::app
