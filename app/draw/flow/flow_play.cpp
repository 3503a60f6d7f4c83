#include "app/draw/flow/flow_play.h"

#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_ribbons.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/matrix.h"
#include "app/state/screens/flow.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float slide_share = 0.31F, products_end = 0.87F; ///< of the time of a key
constexpr float lift = 6;

const FlowHead& story_head(const FlowPage& page) {
    return page.layout.heads[static_cast<std::size_t>(page.head)];
}

void veil(const FlowPage& page, const figure::Rect& area, float opacity) {
    if (area.h > 0)
        page.picture.scene.add(
            figure::RectItem{.area = area, .fill = with_opacity(page.theme().canvas, opacity)});
}

/// Makes all rows but one paler.
void veil_others(const FlowPage& page, const FlowRows& rows, std::int64_t row, float opacity) {
    const figure::Rect kept = rows.at(row), all = rows.area;
    veil(page, {all.x, all.y, all.w, kept.y - all.y}, opacity);
    veil(page, {all.x, kept.bottom(), all.w, all.bottom() - kept.bottom()}, opacity);
}

void clear_row(const FlowPage& page, const figure::Rect& row) {
    page.picture.scene.add(figure::RectItem{.area = row, .fill = page.theme().canvas});
}

figure::Rect between(const figure::Rect& a, const figure::Rect& b, float t) {
    return {std::lerp(a.x, b.x, t), std::lerp(a.y, b.y, t), std::lerp(a.w, b.w, t), std::lerp(a.h, b.h, t)};
}

/// The place of the query's card while it meets a key.
figure::Rect card_at_key(const FlowHead& head, std::int64_t key) {
    const figure::Rect row = head.k.at(key);
    const float high = std::clamp(head.q.row, 14.0F, 27.0F);
    const bool above = head.k.pitch >= head.k.row + high;
    return {row.x - 5, above ? row.y - high - 1 : row.y - high / 2, row.w + 10, high};
}

/// The card of the query: from X to its row, then from key to key.
void draw_query_card(const FlowPage& page, const FlowInstant& at) {
    const FlowHead& head = story_head(page);
    const figure::Rect slot = head.q.at(page.word);
    const figure::Rect lifted{slot.x - 5, slot.y - lift, slot.w + 10, slot.h};
    const std::vector<float> query = flow_row_numbers(page, TensorId::q_heads, page.head, page.word);
    if (!at.over(FlowStep::query)) {
        constexpr float travels = 0.7F, turns = 0.45F;
        const float p = at.progress(FlowStep::query), way = ease_in_out(p / travels);
        const figure::Rect from = page.layout.x.at(page.word);
        if (p < travels) {
            // The row of X goes into W_Q, and the query comes out of it.
            const figure::Point point = on_ribbon(right_of(from, 0, 1), left_of(slot, 0, 1), way);
            const float high = std::max(slot.h, 16.0F), wide = std::lerp(from.w, slot.w, way);
            const figure::Rect card{std::lerp(from.x, slot.x, way), point.y - high / 2, wide, high};
            draw_flow_card(page, card, way < turns ? std::vector<float>{} : query,
                           way < turns ? tr("flow.row_of_x", "row of X") : tr("flow.query", "query"));
            return;
        }
        draw_flow_card(page, between(slot, lifted, ease_in_out((p - travels) / (1 - travels))), query,
                       tr("flow.query", "query"));
        return;
    }
    if (at.over(FlowStep::compare))
        return;
    figure::Rect card = lifted;
    for (std::int64_t key = 0; key < page.dims().Tk; ++key) {
        const float met = at.story.compared(static_cast<std::size_t>(key), at.time);
        if (met <= 0)
            break;
        card = between(card, card_at_key(head, key), ease_in_out(met / slide_share));
    }
    draw_flow_card(page, card, query, tr("flow.query", "query"));
}

/// The score of each key in the row of the map, then its weight.
void draw_map_row(const FlowPage& page, const FlowInstant& at) {
    const FlowHead& head = story_head(page);
    const Dims& dims = page.dims();
    const figure::Rect row = head.map.at(page.word);
    const float cell_w = row.w / static_cast<float>(dims.Tk);
    clear_row(page, row);
    float low = INFINITY, high = -INFINITY;
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const float score = page.value(TensorId::scores, page.head, page.word, j);
        low = std::min(low, score);
        high = std::max(high, score);
    }
    constexpr float least_number = 30, least_height = 16, slot_least = 8, size = 12.5F;
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        const figure::Rect cell{row.x + cell_w * static_cast<float>(j), row.y, cell_w - 1, row.h - 1};
        const FlowScore score = flow_score(page, at, j);
        const bool weighed = flow_weight_arrived(at, j, dims.Tk) >= 1;
        if (at.reached(FlowStep::softmax) && page.is_forbidden(page.head, page.word, j)) {
            draw_hatched(page.picture, page.theme(), cell);
            continue;
        }
        if (score.arrived < 1) {
            if (cell_w >= slot_least)
                draw_flow_slot(page, cell, "");
            continue;
        }
        const float weight = page.weight(page.head, page.word, j);
        const float shade =
            weighed ? weight
            : high > low
                ? 0.05F + 0.75F * (page.value(TensorId::scores, page.head, page.word, j) - low) / (high - low)
                : 0.4F;
        const figure::Color fill = ramp_color(page.ramp(page.head), shade);
        page.picture.scene.add(figure::RectItem{.area = cell, .fill = fill});
        if (cell_w >= least_number && row.h >= least_height)
            draw_text(page.picture, page.context, cell.x + cell.w / 2,
                      figure::baseline_for(cell.y + cell.h / 2, size),
                      weighed ? number(weight, 2) : number(score.value, cell_w >= 42 ? 2 : 1),
                      figure::Font::mono, size, text_on(fill), figure::Align::center);
    }
    const std::string what = at.over(FlowStep::softmax) || at.progress(FlowStep::softmax) > 0.8F
                                 ? tr("flow.weights_word", "weights")
                             : at.over(FlowStep::scale) ? tr("flow.scaled_word", "scaled")
                                                        : tr("flow.scores_word", "scores");
    if (row.right() + 70 < head.out.area.x && at.reached(FlowStep::compare) && !at.reached(FlowStep::mix))
        draw_text(page.picture, page.context, row.right() + 10, figure::baseline_for(row.y + row.h / 2, 13),
                  what, figure::Font::ui, 13, page.theme().muted);
    if (at.reached(FlowStep::mix))
        frame_flow_part(page, row);
}

/// The words beside the rows of the queries, and of the keys or values that are not spread.
void draw_story_words(const FlowPage& page, const FlowHead& head) {
    constexpr float lowest = 11, size = 12.5F, indent = 8;
    const auto words = [&](const FlowRows& rows, std::int64_t count, bool keys) {
        for (std::int64_t i = 0; i < count && rows.row >= lowest && rows.pitch <= rows.row + 1; ++i) {
            const figure::Rect row = rows.at(i);
            const bool focus = !keys && i == page.word;
            const float text = std::min(size, rows.row);
            draw_text(page.picture, page.context, row.right() + indent,
                      figure::baseline_for(row.y + row.h / 2, text),
                      keys ? page.key_word(i) : page.query_word(i),
                      focus ? figure::Font::ui_semibold : figure::Font::ui, text,
                      focus ? page.theme().ink : page.theme().muted);
        }
    };
    words(head.q, page.dims().Tq, false);
    words(head.k, page.dims().Tk, true);
    words(head.v, page.dims().Tk, true);
}

void draw_story_captions(const FlowPage& page, const FlowHead& head) {
    constexpr float above = 7;
    const auto caption = [&](const FlowRows& rows, float baseline, const char* name, const std::string& words,
                             TensorId opens) {
        draw_flow_caption(page, rows.area.x, baseline, name, words, opens,
                          std::string("story ") + name + words, rows.area.w + 40);
    };
    caption(head.q, head.captions, "Q", tr("flow.queries", "queries"), TensorId::q);
    // The card of the query may be above the first spread key.
    const bool spread_keys = head.k.pitch > head.k.row + 1, spread_values = head.v.pitch > head.v.row + 1;
    caption(head.k, head.k.area.y - (spread_keys ? 34 : above), "K", tr("flow.keys", "keys"), TensorId::k);
    caption(head.v, head.v.area.y - (spread_values ? 12 : above), "V", tr("flow.values", "values"),
            TensorId::v);
    caption(head.out, head.captions, "", tr("flow.head_output", "head output"), TensorId::head_out);
    draw_flow_key_words(page, head.map.area, head.captions);
}

} // namespace

std::vector<float> flow_row_numbers(const FlowPage& page, TensorId id, std::int64_t head, std::int64_t row) {
    const FlowTensor tensor = flow_tensor(page, id, head);
    std::vector<float> numbers;
    for (std::int64_t c = 0; c < tensor.cols; ++c)
        numbers.push_back(page.value(id, tensor.head, row, c));
    return numbers;
}

FlowScore flow_score(const FlowPage& page, const FlowInstant& at, std::int64_t key) {
    const float met = at.story.compared(static_cast<std::size_t>(key), at.time);
    const float products = std::clamp((met - slide_share) / (products_end - slide_share), 0.0F, 1.0F);
    const auto dk = static_cast<float>(page.dims().dk);
    FlowScore score{.product = products * dk,
                    .arrived = std::clamp((met - products_end) / (1 - products_end), 0.0F, 1.0F)};
    const float whole = page.value(TensorId::scores, page.head, page.word, key);
    if (products >= 1) {
        const float scaled = page.value(TensorId::scaled, page.head, page.word, key);
        score.value = std::lerp(whole, scaled, at.eased(FlowStep::scale));
        return score;
    }
    const std::int64_t kv = page.dims().kv_head(page.head);
    const auto done = static_cast<std::int64_t>(score.product);
    for (std::int64_t c = 0; c < done; ++c)
        score.value += page.value(TensorId::q_heads, page.head, page.word, c) *
                       page.value(TensorId::k_heads, kv, key, c);
    return score;
}

float flow_weight_arrived(const FlowInstant& at, std::int64_t key, std::int64_t Tk) {
    constexpr float drops_from = 0.68F;
    const float p = at.progress(FlowStep::softmax);
    if (p >= 1)
        return 1;
    const float share = 1 / static_cast<float>(Tk),
                from = drops_from + (1 - drops_from) * share * static_cast<float>(key);
    return std::clamp((p - from) / ((1 - drops_from) * share), 0.0F, 1.0F);
}

void draw_flow_card(const FlowPage& page, const figure::Rect& area, const std::vector<float>& numbers,
                    const std::string& tag, float outline) {
    const Theme& theme = page.theme();
    constexpr float least_cell = 28, lowest = 13, size = 12.5F, two_decimals = 38;
    page.picture.scene.add(figure::RectItem{
        .area = area, .fill = theme.raise, .stroke = theme.ink, .stroke_width = outline, .radius = 4});
    const float cell = (area.w - 8) / static_cast<float>(std::max<std::size_t>(numbers.size(), 1));
    if (!numbers.empty() && cell >= least_cell && area.h >= lowest)
        for (std::size_t c = 0; c < numbers.size(); ++c)
            draw_text(page.picture, page.context, area.x + 4 + cell * (static_cast<float>(c) + 0.5F),
                      figure::baseline_for(area.y + area.h / 2, size),
                      number(static_cast<double>(numbers[c]), cell >= two_decimals ? 2 : 1),
                      figure::Font::mono, size, theme.ink, figure::Align::center);
    if (tag.empty())
        return;
    constexpr float tag_size = 12;
    const float wide = page.context.measure(tag, figure::Font::ui_semibold, tag_size) + 14;
    const bool inside = numbers.empty() || cell < least_cell;
    const figure::Rect label = inside ? figure::Rect{area.x + (area.w - wide) / 2, area.y, wide, area.h}
                                      : figure::Rect{area.x - wide - 2, area.y + (area.h - 18) / 2, wide, 18};
    if (inside && wide > area.w)
        return;
    if (!inside)
        page.picture.scene.add(figure::RectItem{.area = label, .fill = theme.ink, .radius = 4});
    if (area.h >= lowest)
        draw_text(page.picture, page.context, label.x + wide / 2,
                  figure::baseline_for(label.y + label.h / 2, tag_size), tag, figure::Font::ui_semibold,
                  tag_size, inside ? theme.ink : theme.canvas, figure::Align::center);
}

void draw_flow_slot(const FlowPage& page, const figure::Rect& area, const std::string& word) {
    constexpr float dash = 4, gap = 3;
    const figure::Color color = page.theme().muted;
    figure::Scene& scene = page.picture.scene;
    for (float x = area.x; x < area.right() - 1; x += dash + gap)
        for (const float y : {area.y, area.bottom()})
            scene.add(figure::LineItem{{x, y}, {std::min(x + dash, area.right()), y}, color, 1});
    for (float y = area.y; y < area.bottom() - 1; y += dash + gap)
        for (const float x : {area.x, area.right()})
            scene.add(figure::LineItem{{x, y}, {x, std::min(y + dash, area.bottom())}, color, 1});
    constexpr float size = 12, lowest = 13;
    if (!word.empty() && area.h >= lowest)
        draw_text(page.picture, page.context, area.x + area.w / 2,
                  figure::baseline_for(area.y + area.h / 2, size),
                  fitted(page.context, word, figure::Font::ui, size, area.w - 4), figure::Font::ui, size,
                  page.theme().muted, figure::Align::center);
}

void draw_flow_story_ribbons(const FlowPage& page, const FlowInstant& at) {
    const FlowHead& head = story_head(page);
    const Dims& dims = page.dims();
    figure::Scene& scene = page.picture.scene;
    const figure::Color color = page.color(page.head), neutral = page.theme().muted;
    const FlowRows& keys = page.problem().cross() ? page.layout.x_kv : page.layout.x;
    const bool values = at.reached(FlowStep::mix);
    const auto source = [&](const figure::Rect& from, const figure::Rect& to, float opacity) {
        scene.add(ribbon(right_of(from, with_opacity(neutral, opacity), from.h),
                         left_of(to, with_opacity(color, opacity), to.h)));
    };
    constexpr std::int64_t most = 12;
    for (std::int64_t i = 0; i < dims.Tq; ++i)
        if (i == page.word || dims.Tq <= most)
            source(page.layout.x.at(i), head.q.at(i),
                   i == page.word && !values ? page.strong() : page.faint());
    for (std::int64_t j = 0; j < dims.Tk && dims.Tk <= most; ++j) {
        const float weight = page.weight(page.head, page.word, j);
        source(keys.at(j), head.k.at(j), values ? page.faint() : 0.5F * page.strong());
        source(keys.at(j), head.v.at(j), values ? page.by_weight(weight) : page.faint());
    }
    if (dims.Tk > most)
        for (const FlowRows* const rows : {&head.k, &head.v})
            source(keys.area, rows->area, 1.6F * page.faint());
    for (std::int64_t j = 0; j < dims.Tk && !values; ++j) {
        const figure::Rect value = head.v.at(j), gate = flow_gate(head, j);
        const figure::Color strand = with_opacity(color, page.faint());
        const float high = std::max(std::min(value.h * 0.5F, 11.0F), 1.0F);
        scene.add(ribbon(right_of(value, strand, high), left_of(gate, strand, high)));
    }
    const figure::Rect row = head.q.at(page.word), map = head.map.at(page.word);
    const figure::Color tint = with_opacity(color, page.strong()), pale = with_opacity(color, 0.1F);
    if (at.reached(FlowStep::compare)) {
        RibbonEnd from = right_of(row, pale, row.h - 4), to = left_of(map, tint, map.h - 4);
        from.x += std::min(page.layout.names.w * 0.3F, 60.0F);
        scene.add(ribbon(from, to));
    }
    if (at.reached(FlowStep::join)) { // the head's row joins those of the others
        constexpr float joins = 0.4F;
        const bool joined = page.layout.concat.area.w > 0;
        const figure::Rect out = head.out.at(page.word),
                           end = (joined ? page.layout.concat : page.layout.output).at(page.word);
        const float share = end.h / static_cast<float>(dims.H),
                    top = end.y + share * static_cast<float>(page.head);
        scene.add(ribbon_part(right_of(out, tint, out.h), {end.x, top, top + share, tint},
                              ease_in_out(at.progress(FlowStep::join) / joins)));
    }
    // The strand of each key, as far as its score has come.
    if (!at.reached(FlowStep::softmax)) {
        const float cell = head.map.area.w / static_cast<float>(dims.Tk),
                    thick = std::max(flow_strand(head, dims.Tk), 1.5F);
        for (std::int64_t j = 0; j < dims.Tk; ++j) {
            const figure::Rect key = head.k.at(j);
            const float x = head.map.area.x + cell * (static_cast<float>(j) + 0.5F), y = key.y + key.h / 2;
            const float from = std::min(flow_score_end(page, at, j), x - 16);
            const figure::BandItem strand =
                turning_strand({from, y}, {x, head.map.area.bottom()}, thick,
                               with_opacity(color, page.faint()), with_opacity(color, page.faint()));
            scene.add(strand);
            const FlowScore score = flow_score(page, at, j);
            if (score.arrived > 0)
                scene.add(strand_part(turning_strand({from, y}, {x, head.map.area.bottom()}, thick,
                                                     with_opacity(color, 0.25F), tint),
                                      score.arrived));
        }
    }
}

void draw_flow_story_head(const FlowPage& page, const FlowInstant& at) {
    const FlowHead& head = story_head(page);
    const Dims& dims = page.dims();
    constexpr float dimmed = 0.55F;
    draw_flow_head_name(page, page.head);
    draw_story_captions(page, head);
    draw_story_words(page, head);
    draw_flow_rows(page, flow_tensor(page, TensorId::q_heads, page.head), head.q);
    draw_flow_rows(page, flow_tensor(page, TensorId::k_heads, page.head), head.k);
    draw_flow_rows(page, flow_tensor(page, TensorId::v_heads, page.head), head.v);
    draw_flow_map(page, page.head, head.map, 0, dims.Tq);
    draw_flow_rows(page, flow_tensor(page, TensorId::head_out, page.head), head.out);
    veil_others(page, head.q, page.word, dimmed);
    veil_others(page, head.map, page.word, 0.65F);
    veil_others(page, head.out, page.word, dimmed);
    const bool values = at.reached(FlowStep::mix);
    veil(page, values ? head.k.area : head.v.area, dimmed);
    const figure::Rect slot = head.q.at(page.word);
    if (!at.over(FlowStep::compare)) {
        clear_row(page, slot);
        draw_flow_slot(page, slot,
                       at.reached(FlowStep::compare) ? tr("flow.lifted_off", "lifted off") : std::string());
    }
    draw_map_row(page, at);
    draw_flow_scores(page, at);
    draw_flow_values(page, at);
    draw_query_card(page, at);
}

void draw_flow_story_end(const FlowPage& page, const FlowInstant& at) {
    const float p = at.progress(FlowStep::join);
    constexpr float joins = 0.4F, mixes = 0.7F;
    const FlowLayout& layout = page.layout;
    const figure::Rect concat = layout.concat.at(page.word), output = layout.output.at(page.word);
    if (p < joins && layout.concat.area.w > 0) {
        veil(page, concat, 0.8F);
        frame_flow_part(page, concat, 1);
    }
    if (p >= mixes) {
        frame_flow_part(page, output, 2.5F);
        return;
    }
    clear_row(page, {output.x - 3, output.y - 2, output.w + 6, output.h + 4});
    const float begin = at.story.start(FlowStep::join), end = at.story.end(FlowStep::join);
    const auto seconds = static_cast<int>(std::floor(begin + mixes * (end - begin)));
    draw_flow_slot(page, {output.x, output.y + 1, output.w, output.h - 3},
                   tr("flow.comes_at", "comes at 0:{}", (seconds < 10 ? "0" : "") + std::to_string(seconds)));
}

void draw_flow_subtitle(const FlowPage& page, const FlowInstant& at) {
    const Theme& theme = page.theme();
    const FlowSubtitle subtitle = flow_subtitle(page.context.shown, page.context.view, at.time);
    constexpr float below = 20, high = 52, pad = 24, least = 12, usual = 17;
    const std::string count =
        std::to_string(static_cast<int>(at.step()) + 1) + "/" + std::to_string(flow_step_count);
    const std::string gap = subtitle.strong.empty() ? "" : " ";
    float size = usual, wide = 0, plain = 0;
    const float number = page.context.measure(count, figure::Font::mono, 13) + 18;
    for (; size >= least; size -= 1) {
        plain = page.context.measure(subtitle.text + gap, figure::Font::ui, size);
        wide = plain + page.context.measure(subtitle.strong, figure::Font::ui_semibold, size);
        if (wide + number + 2 * pad <= page.layout.width - 16)
            break;
    }
    const figure::Rect bar{(page.layout.width - wide - number - 2 * pad) / 2,
                           page.layout.height - below - high, wide + number + 2 * pad, high};
    page.picture.scene.add(figure::RectItem{.area = bar,
                                            .fill = theme.dark ? theme.raise : theme.ink,
                                            .stroke = theme.dark ? theme.line2 : theme.ink,
                                            .radius = 8});
    const figure::Color text = theme.dark ? theme.ink : theme.canvas;
    const float baseline = figure::baseline_for(bar.y + bar.h / 2, size);
    draw_text(page.picture, page.context, bar.x + pad, figure::baseline_for(bar.y + bar.h / 2, 13), count,
              figure::Font::mono, 13, theme.dark ? theme.muted : with_opacity(theme.canvas, 0.75F));
    draw_text(page.picture, page.context, bar.x + pad + number, baseline, subtitle.text, figure::Font::ui,
              size, text);
    draw_text(page.picture, page.context, bar.x + pad + number + plain, baseline, subtitle.strong,
              figure::Font::ui_semibold, size, text);
}

} // namespace headscope::app
