#include "app/draw/flow/flow_heads.h"

#include "app/draw/flow/flow_before.h"
#include "app/draw/flow/flow_ribbons.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/figure_weights.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr std::int64_t most_single_ribbons = 12; ///< with more words, the ribbons of a head merge
constexpr float least_drawn_weight = 0.02F;

/// Returns true if the head has the first open or drawn copy of its keys and values.
bool owns_keys(const FlowPage& page, std::int64_t h) {
    for (std::int64_t other = 0; other < h; ++other)
        if (page.dims().kv_head(other) == page.dims().kv_head(h) &&
            page.layout.heads[static_cast<std::size_t>(other)].open ==
                page.layout.heads[static_cast<std::size_t>(h)].open &&
            page.layout.heads[static_cast<std::size_t>(other)].shown)
            return false;
    return true;
}

const FlowRows& key_source(const FlowPage& page) {
    return page.problem().cross() ? page.layout.x_kv : page.layout.x;
}

void add_source_ribbon(const FlowPage& page, const figure::Rect& from, const figure::Rect& to, std::int64_t h,
                       float opacity) {
    page.picture.scene.add(ribbon(right_of(from, with_opacity(page.theme().muted, opacity), from.h),
                                  left_of(to, with_opacity(page.color(h), opacity), to.h)));
}

/// The ribbons from the rows of X to those of q, k or v. `opacity`: of each row.
template<class Opacity>
void add_source_ribbons(const FlowPage& page, const FlowRows& from, const FlowRows& to, std::int64_t count,
                        std::int64_t h, const Opacity& opacity) {
    const bool merged = count > most_single_ribbons;
    if (merged)
        add_source_ribbon(page, from.area, to.area, h, 1.6F * page.faint());
    for (std::int64_t i = 0; i < count; ++i)
        if (!merged || opacity(i) > 1.3F * page.faint())
            add_source_ribbon(page, from.at(i), to.at(i), h, opacity(i));
}

/// Heads with the same keys and values: a line from the copy that X feeds to this one.
void link_shared_keys(const FlowPage& page, std::int64_t h) {
    std::int64_t first = 0;
    while (page.dims().kv_head(first) != page.dims().kv_head(h) ||
           page.layout.heads[static_cast<std::size_t>(first)].open !=
               page.layout.heads[static_cast<std::size_t>(h)].open)
        ++first;
    const FlowHead &from = page.layout.heads[static_cast<std::size_t>(first)],
                   &to = page.layout.heads[static_cast<std::size_t>(h)];
    for (const FlowRows FlowHead::*const rows : {&FlowHead::k, &FlowHead::v}) {
        const figure::Rect a = (from.*rows).area, b = (to.*rows).area;
        const float reach = rows == &FlowHead::k ? 10.0F : 16.0F, ya = a.y + a.h / 2, yb = b.y + b.h / 2;
        const figure::Color color = with_opacity(page.theme().muted, 0.7F);
        page.picture.scene.add(figure::LineItem{{a.x - reach, ya}, {a.x, ya}, color, 1.5F});
        page.picture.scene.add(figure::LineItem{{a.x - reach, ya}, {b.x - reach, yb}, color, 1.5F});
        page.picture.scene.add(figure::LineItem{{b.x - reach, yb}, {b.x, yb}, color, 1.5F});
    }
}

void add_inner_ribbons(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    const Dims& dims = page.dims();
    figure::Scene& scene = page.picture.scene;
    const figure::Color color = page.color(h);
    for (std::int64_t i = 0; i < dims.Tq; ++i) {
        const figure::Color tint = with_opacity(color, i == page.word ? page.strong() : page.faint());
        const figure::Rect row = head.q.at(i), to = head.map.at(i);
        scene.add(ribbon(right_of(row, tint, row.h), left_of(to, tint, to.h)));
    }
    const float thick = flow_strand(head, dims.Tk), cell = head.map.area.w / static_cast<float>(dims.Tk);
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const figure::Rect key = head.k.at(j);
        const float x = head.map.area.x + cell * (static_cast<float>(j) + 0.5F);
        const figure::Color tint = with_opacity(color, page.by_weight(page.weight(h, page.word, j)));
        scene.add(
            turning_strand({key.right(), key.y + key.h / 2}, {x, head.map.area.bottom()}, thick, tint, tint));
    }
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const figure::Rect value = head.v.at(j), gate = flow_gate(head, j);
        const float high = std::max(std::min(value.h * 0.5F, 11.0F), 1.0F);
        const figure::Color tint = with_opacity(color, page.by_weight(page.weight(h, page.word, j)));
        scene.add(ribbon(right_of(value, tint, high), left_of(gate, tint, high)));
    }
}

void add_output_ribbons(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    const Dims& dims = page.dims();
    const bool others = dims.Tq <= most_single_ribbons && dims.Tk <= most_single_ribbons;
    const auto of_word = [&](std::int64_t i) {
        for (std::int64_t j = 0; j < dims.Tk; ++j) {
            const float weight = page.weight(h, i, j);
            if (weight < (i == page.word ? 0.002F : least_drawn_weight))
                continue;
            const FlowSlice slice = flow_output_slice(page, h, i, j);
            const figure::Rect gate = flow_gate(head, j);
            const figure::Color tint =
                with_opacity(page.color(h), i == page.word ? 0.25F + 0.35F * weight : 0.8F * page.faint());
            page.picture.scene.add(ribbon(right_of(gate, tint, slice.bottom - slice.top),
                                          {head.out.area.x, slice.top, slice.bottom, tint}));
        }
    };
    for (std::int64_t i = 0; i < dims.Tq && others; ++i)
        if (i != page.word)
            of_word(i);
    of_word(page.word);
}

void add_joining_ribbons(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    const Dims& dims = page.dims();
    const FlowLayout& layout = page.layout;
    const bool joined = layout.concat.area.w > 0;
    const FlowRows& to = joined ? layout.concat : layout.output;
    const float share = 1 / static_cast<float>(dims.H);
    for (std::int64_t i = 0; i < dims.Tq; ++i) {
        if (i != page.word && dims.Tq > most_single_ribbons)
            continue;
        const figure::Rect row = head.out.at(i), end = to.at(i);
        const float opacity = page.is_off(h)   ? 0.4F * page.faint()
                              : i == page.word ? page.strong()
                                               : page.faint();
        const figure::Color from = with_opacity(page.color(h), opacity);
        const float top = end.y + end.h * share * static_cast<float>(h);
        page.picture.scene.add(
            ribbon(right_of(row, from, row.h), {end.x, top, top + end.h * share,
                                                joined ? from : with_opacity(page.theme().muted, opacity)}));
    }
}

void draw_key_words(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    constexpr float lowest = 12, size = 12.5F, indent = 8;
    const float room = page.layout.names.w - indent - 4;
    const auto words = [&](const FlowRows& rows, std::int64_t count, bool keys) {
        if (rows.pitch < lowest || room < 20)
            return;
        const float text = std::min(size, rows.pitch - 1);
        for (std::int64_t i = 0; i < count; ++i) {
            const bool focus = !keys && i == page.word;
            const figure::Font font = focus ? figure::Font::ui_semibold : figure::Font::ui;
            const std::string word =
                fitted(page.context, keys ? page.key_word(i) : page.query_word(i), font, text, room);
            const figure::Rect row = rows.at(i);
            draw_text(page.picture, page.context, row.right() + indent,
                      figure::baseline_for(row.y + row.h / 2, text), word, font, text,
                      focus || (keys && page.weight(h, page.word, i) > 0.3F) ? page.theme().ink
                                                                             : page.theme().text);
        }
    };
    words(head.q, page.dims().Tq, false);
    words(head.k, page.dims().Tk, true);
    words(head.v, page.dims().Tk, true);
}

void draw_captions(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    constexpr float above = 7, least_gap = 15;
    const std::string number = std::to_string(h);
    const float room = head.q.area.w + 24;
    draw_flow_caption(page, head.q.area.x, head.captions, "Q", tr("flow.queries", "queries"), TensorId::q,
                      "queries " + number, room);
    draw_flow_key_words(page, head.map.area, head.captions);
    draw_flow_caption(page, head.out.area.x, head.captions, "", tr("flow.head_output", "head output"),
                      TensorId::head_out, "head output " + number, head.out.area.w + 60);
    const bool shared = page.dims().Hkv < page.dims().H;
    const auto between = [&](const FlowRows& above_rows, const FlowRows& rows, const char* name,
                             const std::string& words, TensorId opens, const std::string& label) {
        constexpr float chip_room = 52; // a chip has the name otherwise
        if (rows.area.y - above_rows.area.bottom() < least_gap && rows.area.h >= chip_room)
            return;
        if (rows.area.y - above_rows.area.bottom() < least_gap)
            draw_text(page.picture, page.context, rows.area.x - 6,
                      figure::baseline_for(rows.area.y + rows.area.h / 2, 13), name, figure::Font::mono, 13,
                      page.theme().muted, figure::Align::right);
        else
            draw_flow_caption(page, rows.area.x, rows.area.y - above, name, words, opens, label, room);
    };
    between(head.q, head.k, "K",
            shared ? tr("flow.keys_shared", "keys of group {}", page.dims().kv_head(h))
                   : tr("flow.keys", "keys"),
            TensorId::k, "keys " + number);
    between(head.k, head.v, "V",
            shared ? tr("flow.values_shared", "values of group {}", page.dims().kv_head(h))
                   : tr("flow.values", "values"),
            TensorId::v, "values " + number);
}

void draw_folded_head(const FlowPage& page, std::int64_t h, const FlowHead& head) {
    for (const auto& [id, rows] : {std::pair(TensorId::q_heads, &head.q),
                                   {TensorId::k_heads, &head.k},
                                   {TensorId::v_heads, &head.v},
                                   {TensorId::head_out, &head.out}})
        draw_flow_rows(page, flow_tensor(page, id, h), *rows);
    draw_flow_map(page, h, head.map, 0, page.dims().Tq);
    constexpr float size = 13;
    const float x = head.map.area.right() + 10, room = head.out.area.x - x - 8;
    const float baseline = figure::baseline_for(head.band.y + head.band.h / 2, size);
    const std::string name = flow_head_name(h);
    const float wide = page.context.measure(name, figure::Font::ui_semibold, size);
    if (wide <= room) {
        draw_text(page.picture, page.context, x, baseline, name, figure::Font::ui_semibold, size,
                  page.theme().ink);
        if (page.is_off(h))
            strike_out(page.picture, x, baseline, wide, size, page.theme().ink);
        const std::string role = FigureWeights(page.context, HeadsView::each, h).role();
        if (page.context.measure(role, figure::Font::ui, size) + wide + 8 <= room)
            draw_text(page.picture, page.context, x + wide + 8, baseline, role, figure::Font::ui, size,
                      page.theme().muted);
    }
    if (page.context.controls)
        page.picture.add_hotspot({x - 4, head.band.y, std::max(room, 20.0F), head.band.h},
                                 "flow head " + std::to_string(h), PickHead{h},
                                 tr("flow.put_head_focus", "Put head {} in focus", h));
}

} // namespace

std::string flow_head_name(std::int64_t h) {
    return tr("common.head", "Head {}", h);
}

FlowSlice flow_output_slice(const FlowPage& page, std::int64_t h, std::int64_t i, std::int64_t j) {
    const figure::Rect row = page.layout.heads[static_cast<std::size_t>(h)].out.at(i);
    float before = 0;
    for (std::int64_t key = 0; key < j; ++key)
        before += page.weight(h, i, key);
    return {row.y + row.h * before, row.y + row.h * (before + page.weight(h, i, j))};
}

figure::Rect flow_gate(const FlowHead& head, std::int64_t j) {
    const figure::Rect value = head.v.at(j);
    const float high = std::clamp(value.h - 3, 1.0F, 18.0F);
    return {head.gates.x, value.y + (value.h - high) / 2, head.gates.w, high};
}

void draw_flow_gate(const FlowPage& page, const figure::Rect& gate, std::int64_t h, float weight,
                    bool forbidden) {
    constexpr float lowest_text = 13, narrowest_text = 40;
    if (forbidden) {
        draw_hatched(page.picture, page.theme(), gate);
        return;
    }
    const figure::Color fill = ramp_color(page.ramp(h), weight);
    page.picture.scene.add(
        figure::RectItem{.area = gate, .fill = fill, .radius = std::min(4.0F, gate.h / 2)});
    if (gate.h >= lowest_text && gate.w >= narrowest_text)
        draw_text(page.picture, page.context, gate.x + gate.w / 2,
                  figure::baseline_for(gate.y + gate.h / 2, 12), "×" + number(weight, 2),
                  figure::Font::mono_semibold, 12, text_on(fill), figure::Align::center);
}

float flow_strand(const FlowHead& head, std::int64_t Tk) {
    const float cell = head.map.area.w / static_cast<float>(Tk);
    return std::max(std::min({head.k.row * 0.55F, cell * 0.3F, 11.0F}), 1.0F);
}

void draw_flow_head_name(const FlowPage& page, std::int64_t h) {
    const FlowHead& head = page.layout.heads[static_cast<std::size_t>(h)];
    const Theme& theme = page.theme();
    constexpr float size = 15, above_bar = 8;
    const float x = head.band.x, baseline = head.bar - above_bar;
    const std::string name = flow_head_name(h);
    const float wide =
        draw_text(page.picture, page.context, x, baseline, name, figure::Font::ui_semibold, size, theme.ink);
    if (page.is_off(h))
        strike_out(page.picture, x, baseline, wide, size, theme.ink);
    const float end = head.band.right() - (page.context.controls ? 76.0F : 0.0F);
    const std::string role = FigureWeights(page.context, HeadsView::each, h).role();
    const std::string fits = fitted_words(page.context, role, figure::Font::ui, 13, end - x - wide - 10);
    draw_text(page.picture, page.context, x + wide + 8, baseline, fits, figure::Font::ui, 13, theme.muted);
    const figure::Rect bar{x, head.bar, head.band.w, 3};
    if (page.is_off(h))
        page.picture.scene.add(figure::RectItem{.area = bar, .stroke = theme.muted});
    else
        page.picture.scene.add(figure::RectItem{.area = bar, .fill = page.color(h)});
    if (!page.context.controls)
        return;
    page.picture.add_hotspot({x - 4, baseline - 16, std::max(wide + 12, end - x - 8), 24},
                             "flow head " + std::to_string(h), PickHead{h},
                             tr("flow.put_head_focus", "Put head {} in focus", h));
    const bool off = page.is_off(h);
    const figure::Rect knob{head.band.right() - 30, baseline - 13, 30, 16};
    draw_text(page.picture, page.context, knob.x - 7, baseline,
              off ? tr("flow.off", "off") : tr("flow.on", "on"),
              off ? figure::Font::ui_semibold : figure::Font::ui, 13, off ? theme.ink : theme.muted,
              figure::Align::right);
    page.picture.scene.add(
        figure::RectItem{.area = knob, .fill = off ? theme.line2 : page.color(h), .radius = 8});
    page.picture.scene.add(
        figure::RectItem{.area = {off ? knob.x + 2 : knob.right() - 14, knob.y + 2, 12, 12},
                         .fill = theme.canvas,
                         .radius = 6});
    page.picture.add_hotspot({knob.x - 34, knob.y - 4, 68, 24}, "switch head " + std::to_string(h),
                             SetGain{h, off ? 1.0F : 0.0F},
                             off ? tr("flow.switch_on", "Switch head {} on again", h)
                                 : tr("flow.switch_off", "Switch head {} off: its output counts as 0", h));
}

void draw_flow_head_ribbons(const FlowPage& page, std::int64_t h) {
    const FlowHead& head = page.layout.heads[static_cast<std::size_t>(h)];
    if (!head.shown)
        return;
    const Dims& dims = page.dims();
    const FlowLayout& layout = page.layout;
    if (!head.open) {
        const float pale = page.faint() * (dims.H > 4 ? 0.6F : 1.2F); // many ribbons add up
        add_source_ribbon(page, layout.x.area, head.q.area, h, pale);
        if (owns_keys(page, h)) {
            add_source_ribbon(page, key_source(page).area, head.k.area, h, pale);
            add_source_ribbon(page, key_source(page).area, head.v.area, h, pale);
        }
        const figure::Color tint = with_opacity(page.color(h), page.faint()),
                            end = with_opacity(page.color(h), 2 * page.faint());
        page.picture.scene.add(ribbon({head.q.area.right(), head.band.y, head.band.bottom(), tint},
                                      {head.map.area.x, head.band.y, head.band.bottom(), tint}));
        page.picture.scene.add(ribbon(
            {head.map.area.right(), head.band.y + head.band.h * 0.4F, head.band.y + head.band.h * 0.6F, tint},
            {head.out.area.x, head.band.y, head.band.bottom(), end}));
        add_joining_ribbons(page, h, head);
        return;
    }
    add_source_ribbons(page, layout.x, head.q, dims.Tq, h,
                       [&](std::int64_t i) { return i == page.word ? page.strong() : page.faint(); });
    if (owns_keys(page, h)) {
        const auto by_weight = [&](std::int64_t j) { return page.by_weight(page.weight(h, page.word, j)); };
        add_source_ribbons(page, key_source(page), head.k, dims.Tk, h, by_weight);
        add_source_ribbons(page, key_source(page), head.v, dims.Tk, h, by_weight);
    } else {
        link_shared_keys(page, h);
    }
    add_inner_ribbons(page, h, head);
    add_output_ribbons(page, h, head);
    add_joining_ribbons(page, h, head);
}

void draw_flow_head(const FlowPage& page, std::int64_t h) {
    const FlowHead& head = page.layout.heads[static_cast<std::size_t>(h)];
    if (!head.shown)
        return;
    if (!head.open)
        return draw_folded_head(page, h, head);
    draw_flow_head_name(page, h);
    if (head.captions > 0)
        draw_captions(page, h, head);
    for (const auto& [id, rows] :
         {std::pair(TensorId::q_heads, &head.q), {TensorId::k_heads, &head.k}, {TensorId::v_heads, &head.v}})
        draw_flow_rows(page, flow_tensor(page, id, h), *rows);
    FlowTensor out = flow_tensor(page, TensorId::head_out, h);
    if (page.is_off(h))
        out.gain = 0;
    draw_flow_rows(page, out, head.out);
    draw_flow_map(page, h, head.map, 0, page.dims().Tq);
    draw_key_words(page, h, head);
    for (std::int64_t j = 0; j < page.dims().Tk; ++j)
        draw_flow_gate(page, flow_gate(head, j), h, page.weight(h, page.word, j),
                       page.is_forbidden(h, page.word, j));
    draw_flow_weights_before(page, h);
    for (const FlowRows* const rows : {&head.q, &head.map, &head.out})
        frame_flow_part(page, rows->at(page.word));
    if (page.is_off(h))
        draw_text(page.picture, page.context, head.out.area.right(), head.out.area.bottom() + 18,
                  tr("flow.times_zero", "× 0: adds nothing"), figure::Font::ui, 13, page.theme().text,
                  figure::Align::right);
}

} // namespace headscope::app
