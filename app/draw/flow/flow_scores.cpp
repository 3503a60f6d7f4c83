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

constexpr float exp_until = 0.3F, pours_until = 0.68F; ///< of the time of the softmax
constexpr float high_pitch = 36;                       ///< rows with a line of text above the bar
constexpr std::int64_t most_terms = 6;

/// The place and the length of the bars.
struct ScoreBars {
    float zero = 0; ///< x of 0
    float unit = 0; ///< pixels per 1
    float longest = 0;
    float name_w = 0; ///< of a name before the bar; 0: it is above the bar
};

ScoreBars score_bars(const FlowPage& page) {
    const figure::Rect room = page.layout.stage.bars;
    float low = 0, high = 1e-6F;
    for (std::int64_t j = 0; j < page.dims().Tk; ++j) {
        const float score = page.value(TensorId::scores, page.head, page.word, j);
        low = std::min(low, score);
        high = std::max(high, score);
    }
    ScoreBars bars;
    const FlowRows& keys = page.layout.heads[static_cast<std::size_t>(page.head)].k;
    bars.name_w = keys.pitch >= high_pitch ? 0 : std::min(64.0F, room.w * 0.35F);
    constexpr float number_room = 46;
    bars.longest = std::max(room.w - bars.name_w - number_room, 24.0F);
    bars.unit = bars.longest / (high - low);
    bars.zero = room.x + bars.name_w - low * bars.unit;
    return bars;
}

/// "7.75+0.45+0.34+0.00", or the product that is being computed.
std::string terms_text(const FlowPage& page, std::int64_t key, float product) {
    const Dims& dims = page.dims();
    if (dims.dk > most_terms)
        return {};
    const std::int64_t kv = dims.kv_head(page.head);
    const auto done = static_cast<std::int64_t>(product);
    const auto q = [&](std::int64_t c) {
        return static_cast<double>(page.value(TensorId::q_heads, page.head, page.word, c));
    };
    const auto k = [&](std::int64_t c) {
        return static_cast<double>(page.value(TensorId::k_heads, kv, key, c));
    };
    if (done < dims.dk)
        return number(q(done), 2) + " × " + number(k(done), 2);
    std::string text;
    for (std::int64_t c = 0; c < dims.dk; ++c) {
        const std::string term = number(q(c) * k(c), 2);
        text += (c == 0 || term.starts_with("−") ? "" : "+") + term;
    }
    return text;
}

/// Segments of the products so far; one piece for the whole score later.
void draw_score_bar(const FlowPage& page, const ScoreBars& bars, const figure::Rect& line, std::int64_t key,
                    const FlowScore& score, bool segments) {
    const Dims& dims = page.dims();
    const Ramp& ramp = page.ramp(page.head);
    figure::Scene& scene = page.picture.scene;
    const auto piece = [&](float from, float to, float shade) {
        scene.add(figure::RectItem{.area = {bars.zero + std::min(from, to) * bars.unit, line.y,
                                            std::max(std::abs(to - from) * bars.unit - 0.5F, 0.5F), line.h},
                                   .fill = ramp_color(ramp, shade)});
    };
    scene.add(
        figure::RectItem{.area = {bars.zero - 1, line.y - 2, 1, line.h + 4}, .fill = page.theme().muted});
    if (!segments || dims.dk > most_terms) {
        piece(0, score.value, 0.6F);
        return;
    }
    const std::int64_t kv = dims.kv_head(page.head);
    float at = 0;
    for (std::int64_t c = 0; c < dims.dk; ++c) {
        const float share = std::clamp(score.product - static_cast<float>(c), 0.0F, 1.0F);
        const float term = page.value(TensorId::q_heads, page.head, page.word, c) *
                           page.value(TensorId::k_heads, kv, key, c) * share;
        if (term != 0)
            piece(at, at + term, 0.75F - 0.45F * static_cast<float>(c) / static_cast<float>(dims.dk));
        at += term;
    }
}

figure::Rect bar_line(const FlowPage& page, std::int64_t key) {
    const figure::Rect row = page.layout.heads[static_cast<std::size_t>(page.head)].k.at(key);
    const float high = std::clamp(row.h * 0.75F, 1.0F, 17.0F);
    return {page.layout.stage.bars.x, row.y + (row.h - high) / 2, 0, high};
}

void draw_line_text(const FlowPage& page, const ScoreBars& bars, const figure::Rect& line, std::int64_t key,
                    const std::string& terms, const std::string& result, float end, bool strong) {
    constexpr float size = 12.5F, above = 6, least_line = 9;
    const FlowRows& keys = page.layout.heads[static_cast<std::size_t>(page.head)].k;
    const figure::Font font = strong ? figure::Font::ui_semibold : figure::Font::ui;
    const figure::Color color = strong ? page.theme().ink : page.theme().text;
    const float text = std::min(size, keys.pitch);
    if (bars.name_w == 0) {
        const float x = page.layout.stage.bars.x + 4, baseline = line.y - above;
        const float wide =
            draw_text(page.picture, page.context, x, baseline, page.key_word(key), font, text, color);
        const float room = page.layout.stage.bars.w - wide - 12;
        if (page.context.measure(terms, figure::Font::mono, 12) <= room)
            draw_text(page.picture, page.context, x + wide + 9, baseline, terms, figure::Font::mono, 12,
                      page.theme().text);
    } else if (keys.pitch >= least_line) {
        draw_text(page.picture, page.context, page.layout.stage.bars.x,
                  figure::baseline_for(line.y + line.h / 2, text),
                  fitted(page.context, page.key_word(key), font, text, bars.name_w - 6), font, text, color);
    }
    if (keys.pitch >= least_line)
        draw_text(page.picture, page.context, end + 6, figure::baseline_for(line.y + line.h / 2, text),
                  result, figure::Font::mono_semibold, text, page.theme().ink);
}

/// The largest scaled score that the mask allows.
float largest_allowed(const FlowPage& page) {
    float largest = -INFINITY;
    for (std::int64_t j = 0; j < page.dims().Tk; ++j)
        if (!page.is_forbidden(page.head, page.word, j))
            largest = std::max(largest, page.value(TensorId::scaled, page.head, page.word, j));
    return largest;
}

void draw_scores_of_keys(const FlowPage& page, const FlowInstant& at, const ScoreBars& bars) {
    for (std::int64_t j = 0; j < page.dims().Tk; ++j) {
        const float met = at.story.compared(static_cast<std::size_t>(j), at.time);
        const FlowScore score = flow_score(page, at, j);
        const figure::Rect line = bar_line(page, j);
        const bool forbidden =
            page.is_forbidden(page.head, page.word, j) && at.progress(FlowStep::scale) > 0.5F;
        if (forbidden) {
            draw_line_text(page, bars, line, j, tr("flow.masked_key", "masked"), "−∞", bars.zero, false);
            continue;
        }
        if (met <= 0) {
            if (bars.name_w == 0)
                draw_line_text(page, bars, line, j, "", "", bars.zero, false);
            continue;
        }
        draw_score_bar(page, bars, line, j, score, !at.reached(FlowStep::scale));
        const float end = bars.zero + std::max(score.value, 0.0F) * bars.unit;
        const bool complete = score.product >= static_cast<float>(page.dims().dk);
        draw_line_text(page, bars, line, j,
                       at.reached(FlowStep::scale)
                           ? number(page.value(TensorId::scores, page.head, page.word, j), 2) + " ÷ √" +
                                 std::to_string(page.dims().dk)
                           : terms_text(page, j, score.product),
                       number(score.value, 2) + (complete ? "" : " …"), end, met < 1);
    }
}

void draw_glass(const FlowPage& page, const figure::Rect& glass, bool full) {
    if (full)
        page.picture.scene.add(
            figure::RectItem{.area = glass, .stroke = page.theme().ink, .stroke_width = 2, .radius = 4});
    else
        draw_flow_slot(page, glass, "");
    draw_text(page.picture, page.context, glass.x + glass.w / 2, glass.y - 8, "100 %", figure::Font::mono,
              12.5F, page.theme().text, figure::Align::center);
}

/// The weights as parts of the glass, from the top in the order of the sentence.
figure::Rect glass_part(const FlowPage& page, const figure::Rect& glass, std::int64_t key) {
    float before = 0;
    for (std::int64_t j = 0; j < key; ++j)
        before += page.weight(page.head, page.word, j);
    return {glass.x + 2, glass.y + 2 + (glass.h - 4) * before, glass.w - 4,
            (glass.h - 4) * page.weight(page.head, page.word, key)};
}

void draw_parts_text(const FlowPage& page, const figure::Rect& glass) {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < page.dims().Tk; ++j)
        if (page.weight(page.head, page.word, j) > page.weight(page.head, page.word, best))
            best = j;
    constexpr float size = 12.5F, least = 0.02F;
    const figure::Rect large = glass_part(page, glass, best);
    const float x = glass.right() + 8, middle = large.y + large.h / 2;
    const auto percent = [&](std::int64_t j) {
        return std::to_string(std::lround(100 * page.weight(page.head, page.word, j))) + " %";
    };
    draw_text(page.picture, page.context, x, middle + 4, percent(best), figure::Font::ui_semibold, 20,
              page.theme().ink);
    draw_text(page.picture, page.context, x, middle + 22, page.key_word(best), figure::Font::ui, 13,
              page.theme().text);
    float above = middle - 16, below = middle + 26;
    for (std::int64_t j = best - 1; j >= 0; --j) {
        const figure::Rect part = glass_part(page, glass, j);
        const float y = std::min(part.y + part.h / 2 + 4, above - 4);
        if (page.weight(page.head, page.word, j) < least || y < glass.y - 4)
            continue;
        draw_text(page.picture, page.context, x, y, page.key_word(j) + " " + percent(j), figure::Font::ui,
                  size, page.theme().text);
        above = y - size;
    }
    for (std::int64_t j = best + 1; j < page.dims().Tk; ++j) {
        const figure::Rect part = glass_part(page, glass, j);
        const float y = std::max(part.y + part.h / 2 + 4, below + size);
        if (page.weight(page.head, page.word, j) < least || y > glass.bottom() + 20)
            continue;
        draw_text(page.picture, page.context, x, y, page.key_word(j) + " " + percent(j), figure::Font::ui,
                  size, page.theme().text);
        below = y;
    }
}

void draw_softmax(const FlowPage& page, const FlowInstant& at, const ScoreBars& bars) {
    const float p = at.progress(FlowStep::softmax);
    const float turned = ease_in_out(p / exp_until);
    const float poured = ease_in_out((p - exp_until) / (pours_until - exp_until));
    const float largest = largest_allowed(page);
    const figure::Rect glass = page.layout.stage.glass;
    const float whole = bars.longest * 0.75F;
    const FlowHead& head = page.layout.heads[static_cast<std::size_t>(page.head)];
    const Ramp& ramp = page.ramp(page.head);
    figure::Scene& scene = page.picture.scene;
    if (bars.name_w == 0)
        draw_text(page.picture, page.context, page.layout.stage.bars.x + 4, page.layout.stage.bars.y - 14,
                  tr("flow.exp_of_scaled", "e to the power of (score − largest)"), figure::Font::ui, 12.5F,
                  page.theme().muted);
    for (std::int64_t j = 0; j < page.dims().Tk; ++j) {
        const figure::Rect line = bar_line(page, j);
        if (page.is_forbidden(page.head, page.word, j)) {
            draw_line_text(page, bars, line, j, tr("flow.masked_key", "masked"), "0", bars.zero, false);
            continue;
        }
        const float scaled = page.value(TensorId::scaled, page.head, page.word, j);
        const float power = std::exp(scaled - largest);
        const float length = std::lerp(std::max(scaled, 0.0F) * bars.unit, power * whole, turned);
        scene.add(figure::RectItem{.area = {bars.zero, line.y, std::max(length, 2.0F), line.h},
                                   .fill = ramp_color(ramp, 0.6F)});
        const float end = bars.zero + length;
        draw_line_text(page, bars, line, j,
                       number(scaled, 2) + " − " + number(largest, 2) + " = " +
                           number(static_cast<double>(scaled - largest), 2),
                       turned < 0.5F ? number(scaled, 2) : number(static_cast<double>(power), 3), end,
                       page.weight(page.head, page.word, j) > 0.3F);
        const figure::Rect part = glass_part(page, glass, j);
        const float weight = page.weight(page.head, page.word, j);
        const figure::Color tint = with_opacity(page.color(page.head), 0.2F),
                            into = with_opacity(page.color(page.head), 0.55F);
        if (poured > 0) {
            constexpr float number_room = 52;
            scene.add(ribbon_part({std::min(end + number_room, glass.x - 20), line.y, line.y + line.h, tint},
                                  {glass.x, part.y, part.y + part.h, into}, poured));
            scene.add(
                figure::RectItem{.area = {part.x, part.y, part.w, part.h * std::min(1.0F, 2 * poured - 0.6F)},
                                 .fill = poured > 0.3F ? ramp_color(ramp, 0.35F + 0.5F * weight) : 0});
        }
        const float dropped = flow_weight_arrived(at, j, page.dims().Tk);
        if (dropped > 0) {
            const figure::Rect gate = flow_gate(head, j);
            const float thick = 1 + 10 * weight;
            scene.add(ribbon_part(
                {glass.x, glass.bottom() - thick, glass.bottom(), into},
                {gate.right(), gate.y + (gate.h - thick) / 2, gate.y + (gate.h + thick) / 2, into},
                ease_in_out(dropped)));
        }
    }
    draw_glass(page, glass, true);
    if (poured >= 1)
        draw_parts_text(page, glass);
}

} // namespace

float flow_score_end(const FlowPage& page, const FlowInstant& at, std::int64_t key) {
    constexpr float number_room = 46;
    const ScoreBars bars = score_bars(page);
    return bars.zero + std::max(flow_score(page, at, key).value, 0.0F) * bars.unit + number_room;
}

void draw_flow_scores(const FlowPage& page, const FlowInstant& at) {
    if (page.layout.stage.bars.w <= 0)
        return;
    const ScoreBars bars = score_bars(page);
    if (!at.reached(FlowStep::mix)) {
        if (at.reached(FlowStep::softmax)) {
            draw_softmax(page, at, bars);
        } else if (at.reached(FlowStep::compare)) {
            draw_scores_of_keys(page, at, bars);
            draw_glass(page, page.layout.stage.glass, false);
        }
    }
    // The gates, empty until their weight arrives.
    const FlowHead& head = page.layout.heads[static_cast<std::size_t>(page.head)];
    for (std::int64_t j = 0; j < page.dims().Tk; ++j) {
        const figure::Rect gate = flow_gate(head, j);
        if (flow_weight_arrived(at, j, page.dims().Tk) >= 1)
            draw_flow_gate(page, gate, page.head, page.weight(page.head, page.word, j),
                           page.is_forbidden(page.head, page.word, j));
        else if (gate.h >= 8)
            draw_flow_slot(page, gate, "");
    }
}

} // namespace headscope::app
