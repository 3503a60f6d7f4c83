#include "app/draw/flow/flow_before.h"

#include "app/draw/flow/flow_heads.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/flash.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float seen_change = 0.005F; ///< smaller differences of weights have the same two decimals

float weight_before(const FlowPage& page, const Shown& before, std::int64_t h, std::int64_t i,
                    std::int64_t j) {
    return before.value({TensorId::weights, {page.batch(), h, i, j}});
}

/// Draws the differences of the outputs under their columns.
void draw_changes(const FlowPage& page, const Shown& before, const figure::Rect& area, float largest,
                  float strength) {
    const Dims& dims = page.dims();
    const float cell = area.w / static_cast<float>(dims.D);
    constexpr float size = 12, narrowest = 32;
    for (std::int64_t d = 0; d < dims.D; ++d) {
        const CellAddress at{TensorId::output, {page.batch(), page.word, d, 0}};
        const float change = page.context.shown.value(at) - before.value(at);
        const figure::Color fill = ramp_color(page.theme().diverging, 0.5F + 0.5F * change / largest);
        const figure::Rect place{area.x + cell * static_cast<float>(d), area.y, cell - 1, area.h};
        page.picture.scene.add(figure::RectItem{.area = place, .fill = with_opacity(fill, strength)});
        if (cell < narrowest)
            continue;
        const std::string text = change == 0 ? "·" : signed_number(static_cast<double>(change), 1);
        draw_text(page.picture, page.context, place.x + place.w / 2,
                  figure::baseline_for(place.y + place.h / 2, size), text, figure::Font::mono, size,
                  with_opacity(text_on(fill), strength), figure::Align::center);
    }
}

} // namespace

const Shown* flow_before(const FlowPage& page) {
    const Earlier* const earlier = page.context.earlier;
    if (earlier == nullptr || earlier->strength <= 0 || earlier->before.trace == nullptr ||
        page.context.showing != Compare::now || earlier->before.dims() != page.dims())
        return nullptr;
    return &earlier->before;
}

void draw_flow_weights_before(const FlowPage& page, std::int64_t head) {
    const FlowHead& place = page.layout.heads[static_cast<std::size_t>(head)];
    const Dims& dims = page.dims();
    if (const Flash* const flash = page.context.flash;
        flash != nullptr && place.open && flash->before.trace != nullptr && flash->before.dims() == dims)
        for (std::int64_t j = 0; j < dims.Tk; ++j) {
            if (weight_before(page, flash->before, head, page.word, j) == page.weight(head, page.word, j))
                continue;
            const figure::Rect gate = flow_gate(place, j);
            page.picture.scene.add(
                figure::RectItem{.area = gate,
                                 .stroke = with_opacity(page.theme().ink, eased(flash->strength)),
                                 .stroke_width = 1.5F,
                                 .radius = std::min(4.0F, gate.h / 2)});
        }
    const Shown* const before = flow_before(page);
    constexpr float strip = 5, lowest_cell = 20;
    if (before == nullptr || !place.shown || place.map.row < lowest_cell)
        return;
    const float cell = place.map.area.w / static_cast<float>(dims.Tk),
                strength = page.context.earlier->strength;
    for (std::int64_t i = 0; i < dims.Tq; ++i)
        for (std::int64_t j = 0; j < dims.Tk; ++j) {
            const float former = weight_before(page, *before, head, i, j);
            if (std::abs(former - page.weight(head, i, j)) < seen_change)
                continue;
            const figure::Rect row = place.map.at(i);
            const figure::Rect foot{row.x + cell * static_cast<float>(j), row.bottom() - strip - 1, cell - 2,
                                    strip};
            page.picture.scene.add(
                figure::RectItem{.area = foot,
                                 .fill = with_opacity(ramp_color(page.ramp(head), former), strength),
                                 .stroke = with_opacity(page.theme().canvas, strength)});
        }
}

void draw_flow_output_before(const FlowPage& page, const figure::Rect& area) {
    const Shown& before = *flow_before(page);
    const Dims& dims = page.dims();
    const float strength = page.context.earlier->strength;
    const auto output = [&](const Shown& shown, std::int64_t d) {
        return shown.value({TensorId::output, {page.batch(), page.word, d, 0}});
    };
    float up = 1e-6F, down = 0, largest = 1e-6F;
    for (std::int64_t d = 0; d < dims.D; ++d) {
        for (const Shown* const shown : {&before, &page.context.shown}) {
            up = std::max(up, output(*shown, d));
            down = std::max(down, -output(*shown, d));
        }
        largest = std::max(largest, std::abs(output(page.context.shown, d) - output(before, d)));
    }
    constexpr float changes = 20, gap = 12;
    const float high = area.h - changes - gap, unit = high / (up + down), zero = area.y + up * unit;
    const float cell = area.w / static_cast<float>(dims.D), wide = std::max(cell * 0.3F, 1.0F);
    figure::Scene& scene = page.picture.scene;
    const auto bar = [&](float x, float value, figure::Color color) {
        scene.add(figure::RectItem{
            .area = {x, std::min(zero, zero - value * unit), wide, std::max(std::abs(value) * unit, 0.5F)},
            .fill = with_opacity(color, strength)});
    };
    for (std::int64_t d = 0; d < dims.D; ++d) {
        const float x = area.x + cell * static_cast<float>(d) + cell * 0.18F;
        bar(x, output(before, d), page.theme().line2);
        bar(x + wide + cell * 0.04F, output(page.context.shown, d), page.theme().ink);
    }
    scene.add(figure::RectItem{.area = {area.x, zero - 0.5F, area.w, 1},
                               .fill = with_opacity(page.theme().muted, strength)});
    draw_changes(page, before, {area.x, area.bottom() - changes, area.w, changes}, largest, strength);
}

} // namespace headscope::app
