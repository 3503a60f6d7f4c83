#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_play.h"
#include "app/draw/flow/flow_ribbons.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float least_flowing = 0.004F; ///< smaller weights have no visible ribbon
constexpr float multiplied_by = 0.3F;   ///< of the way of a value: then it leaves

const FlowHead& value_head(const FlowPage& page) {
    return page.layout.heads[static_cast<std::size_t>(page.head)];
}

/// The row of weight times value, after the gate.
figure::Rect weighted_row(const FlowPage& page, std::int64_t key) {
    const FlowHead& head = value_head(page);
    const figure::Rect value = head.v.at(key);
    constexpr float after = 10, least_way = 60;
    const float x = head.gates.x + head.gates.w + after;
    return {x, value.y, std::clamp(head.out.area.x - least_way - x, 20.0F, value.w), value.h};
}

std::vector<float> weighted_numbers(const FlowPage& page, std::int64_t key) {
    std::vector<float> numbers = flow_row_numbers(page, TensorId::v_heads, page.head, key);
    for (float& value : numbers)
        value *= page.weight(page.head, page.word, key);
    return numbers;
}

void draw_value_words(const FlowPage& page) {
    const FlowHead& head = value_head(page);
    constexpr float size = 12.5F, lowest = 10;
    if (head.v.pitch < lowest)
        return;
    const float room = head.gates.x - head.v.area.right() - 12;
    for (std::int64_t j = 0; j < page.dims().Tk; ++j) {
        const figure::Rect row = head.v.at(j);
        const bool strong = page.weight(page.head, page.word, j) > 0.3F;
        const figure::Font font = strong ? figure::Font::ui_semibold : figure::Font::ui;
        const float text = std::min(size, head.v.pitch);
        draw_text(page.picture, page.context, row.right() + 8, figure::baseline_for(row.y + row.h / 2, text),
                  fitted(page.context, page.key_word(j), font, text, room), font, text,
                  strong ? page.theme().ink : page.theme().text);
    }
}

/// The output row: the sum of the values that have arrived.
void draw_arrived(const FlowPage& page, const FlowInstant& at) {
    const FlowHead& head = value_head(page);
    const Dims& dims = page.dims();
    const figure::Rect row = head.out.at(page.word);
    std::vector<float> sum(static_cast<std::size_t>(dims.dv), 0.0F);
    float arrived = 0;
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        if (at.story.mixed(static_cast<std::size_t>(j), at.time) < 1)
            continue;
        arrived += page.weight(page.head, page.word, j);
        const std::vector<float> numbers = weighted_numbers(page, j);
        for (std::size_t c = 0; c < sum.size(); ++c)
            sum[c] += numbers[c];
    }
    page.picture.scene.add(figure::RectItem{.area = row, .fill = page.theme().canvas});
    if (!at.reached(FlowStep::mix)) {
        draw_flow_slot(page, row, "");
        return;
    }
    if (at.over(FlowStep::mix)) {
        FlowTensor out = flow_tensor(page, TensorId::head_out, page.head);
        draw_flow_rows(page, out, head.out, page.word, 1);
        const float flash = at.over(FlowStep::write) ? 0 : 1 - at.progress(FlowStep::write);
        frame_flow_part(page, row, 2 + 2 * flash);
        return;
    }
    draw_flow_card(page, {row.x - 1, row.y - 1, row.w + 2, row.h + 1}, sum, "");
    if (head.out.area.bottom() + 44 < page.layout.height) {
        const float y = head.out.area.bottom() + 20;
        draw_text(page.picture, page.context, head.out.area.right(), y,
                  tr("flow.row_arrived", "{} of the row has arrived",
                     std::to_string(std::lround(100 * arrived)) + " %"),
                  figure::Font::ui_semibold, 13, page.theme().ink, figure::Align::right);
    }
}

} // namespace

void draw_flow_values(const FlowPage& page, const FlowInstant& at) {
    draw_arrived(page, at);
    if (!at.reached(FlowStep::mix))
        return;
    const FlowHead& head = value_head(page);
    const Dims& dims = page.dims();
    draw_value_words(page);
    figure::Scene& scene = page.picture.scene;
    const figure::Color color = page.color(page.head);
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const float p = at.story.mixed(static_cast<std::size_t>(j), at.time);
        const float weight = page.weight(page.head, page.word, j);
        const figure::Rect value = head.v.at(j), gate = flow_gate(head, j), product = weighted_row(page, j);
        const float high = std::max(std::min(value.h * 0.4F, 9.0F), 1.0F);
        const figure::Color pale = with_opacity(color, page.by_weight(weight) * 0.6F);
        scene.add(ribbon(right_of(value, with_opacity(color, 0), high), left_of(gate, pale, high)));
        if (p <= 0)
            continue;
        const FlowSlice slice = flow_output_slice(page, page.head, page.word, j);
        const RibbonEnd from = right_of(product, with_opacity(color, 0.3F + 0.35F * weight),
                                        std::max(slice.bottom - slice.top, 1.0F));
        const RibbonEnd to{head.out.area.x, slice.top, std::max(slice.bottom, slice.top + 1), from.color};
        const float way = std::clamp((p - multiplied_by) / (1 - multiplied_by), 0.0F, 1.0F);
        if (way > 0 && weight >= least_flowing)
            scene.add(ribbon_part(from, to, ease_in_out(way)));
        FlowTensor weighted = flow_tensor(page, TensorId::v_heads, page.head);
        weighted.gain = weight;
        FlowRows products = head.v;
        products.area.x = product.x;
        products.area.w = product.w;
        draw_flow_rows(page, weighted, products, j, 1);
        if (way > 0 && way < 0.9F && weight >= 0.02F) {
            const figure::Point middle = on_ribbon(from, to, ease_in_out(way));
            const float card_h = std::max(product.h, 16.0F);
            draw_flow_card(page, {middle.x - product.w / 2, middle.y - card_h / 2, product.w, card_h},
                           weighted_numbers(page, j), page.key_word(j, 10));
        }
    }
    const figure::Rect first = weighted_row(page, 0);
    constexpr float least_above = 14;
    if (head.v.pitch >= least_above)
        draw_text(page.picture, page.context, first.x, head.v.area.y - 12,
                  tr("flow.weight_times_value", "weight × value"), figure::Font::ui, 13, page.theme().text);
}

} // namespace headscope::app
