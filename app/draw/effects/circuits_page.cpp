#include "app/draw/effects/circuits.h"

#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/matrix/edit_marks.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

using analysis::Composition;
using figure::Align;
using figure::Font;

constexpr float lists_top = 132, list_line = 22, graph_row = 64;

std::string head_name(analysis::HeadPlace head) {
    return "L" + std::to_string(head.layer) + " H" + std::to_string(head.head);
}

analysis::HeadPlace open_head(const DrawContext& context) {
    return {context.view.attention.layer, context.view.head};
}

/// A list of tokens with bars. Returns its lower edge.
float draw_list(Picture& picture, const DrawContext& context, const figure::Rect& area,
                const std::string& title, const std::string& formula,
                const std::vector<TokenCircuit::Entry>& entries, double limit) {
    const Theme& theme = context.theme;
    draw_text(picture, context, area.x, area.y + 14, title, Font::ui_semibold, 15, theme.ink);
    draw_text(picture, context, area.x, area.y + 34, formula, Font::mono, 12, theme.muted);
    float y = area.y + 46;
    constexpr float number_room = 52, name_room = 92;
    for (const TokenCircuit::Entry& entry : entries) {
        const float baseline = figure::baseline_for(y + list_line / 2, 13);
        draw_text(picture, context, area.x, baseline,
                  fitted(context, entry.token, Font::ui, 13, name_room - 8), Font::ui, 13, theme.ink);
        const float bar = std::max(area.w - number_room - name_room, 10.0F),
                    length = static_cast<float>(std::abs(entry.value) / std::max(limit, 1e-12)) * bar;
        picture.scene.add(figure::RectItem{.area = {area.x + name_room, y + 6, std::min(length, bar), 10},
                                           .fill = sign_colour(theme, entry.value)});
        draw_text(picture, context, area.right(), baseline, number(entry.value, 2), Font::mono, 12.5F,
                  theme.text, Align::right);
        y += list_line;
    }
    return y;
}

float draw_lists(Picture& picture, const DrawContext& context, const TokenCircuit& circuit) {
    const float room = context.width - 2 * canvas_pad, gap = 32;
    const float each = (room - 2 * gap) / 3;
    const auto largest = [](const std::vector<TokenCircuit::Entry>& list) {
        return list.empty() ? 0.0 : std::abs(list.front().value);
    };
    const double written = std::max(largest(circuit.promoted), largest(circuit.suppressed));
    float bottom = 0;
    const auto list = [&](int n, const std::string& title, const std::string& formula, const auto& entries,
                          double limit) {
        const figure::Rect area{canvas_pad + static_cast<float>(n) * (each + gap), lists_top, each, 0};
        bottom = std::max(bottom, draw_list(picture, context, area, title, formula, entries, limit));
    };
    list(0, tr("circuits_page.reads_promotes", "Reads {}, promotes", circuit.token), "e W_V W_O W_U",
         circuit.promoted, written);
    list(1, tr("circuits_page.suppresses", "and suppresses"),
         tr("circuits_page.smallest", "e W_V W_O W_U, smallest"), circuit.suppressed, written);
    list(2, tr("circuits_page.query_looks", "Query {} looks for", circuit.token), "e W_Q W_Kᵀ W_Eᵀ / √dk",
         circuit.looked_for, largest(circuit.looked_for));
    return bottom;
}

/// Draws heads as dots, one row per layer, with a line for each composition of two heads that reaches the
/// threshold.
float draw_graph(Picture& picture, const DrawContext& context, const CircuitsView& view, float y) {
    const Theme& theme = context.theme;
    const HeadCircuits& heads = *view.heads;
    const auto L = std::ssize(heads.copying), H = std::ssize(heads.copying.front());
    const float left = canvas_pad + 36, right = context.width - canvas_pad;
    draw_hairline(picture, context, canvas_pad, y, right - canvas_pad);
    const float taken =
        draw_text(picture, context, canvas_pad, y + 30,
                  tr("circuits_page.heads_compose", "Heads that compose"), Font::ui_semibold, 17, theme.ink);
    const std::string line = tr("circuits_page.line_later_head_read",
                                "a line: the later head can read the output of the earlier one"),
                      least = tr("circuits_page.least", "at least");
    constexpr float slider = 150;
    const float controls = context.controls ? slider + 10 + context.measure(least, Font::ui, 12.5F) : 0;
    const bool beside =
        canvas_pad + taken + 14 + context.measure(line, Font::ui, 12.5F) + 14 <= right - controls;
    if (beside)
        draw_text(picture, context, canvas_pad + taken + 14, y + 30, line, Font::ui, 12.5F, theme.muted);
    if (context.controls) {
        const figure::Rect track{right - slider, y + 25, 110, 4};
        draw_text(picture, context, track.x - 10, y + 30, least, Font::ui, 12.5F, theme.muted, Align::right);
        draw_track(
            picture, context, track,
            {.track = track,
             .label = "composition threshold",
             .low = 0,
             .high = 0.6F,
             .value = view.threshold(),
             .default_value = heads.default_threshold,
             .action = [](float value) { return AskCircuits{.threshold = value}; },
             .tip = tr("circuits_page.compositions_below_left", "Hides compositions weaker than this")},
            theme.ink);
        draw_text(picture, context, right, y + 30, number(static_cast<double>(view.threshold()), 2),
                  Font::mono, 12.5F, theme.ink, Align::right);
    }
    if (!beside)
        draw_text(picture, context, canvas_pad, (y += 22) + 30, line, Font::ui, 12.5F, theme.muted);
    const float top = y + 66,
                row =
                    std::min(graph_row, std::max((context.height - top - 30) / static_cast<float>(L), 46.0F));
    const float pitch = (right - left) / static_cast<float>(H);
    const auto place = [&](analysis::HeadPlace head) {
        return figure::Point{left + pitch * (static_cast<float>(head.head) + 0.5F),
                             top + row * static_cast<float>(head.layer)};
    };
    const analysis::HeadPlace open = open_head(context);
    // The open head's lines are drawn last, over the others.
    for (const bool own : {false, true})
        for (const Composition& one : heads.compositions) {
            if (one.largest() < static_cast<double>(view.threshold()) ||
                (one.from == open || one.to == open) != own)
                continue;
            const figure::Point from = place(one.from), to = place(one.to);
            const auto width = static_cast<float>(0.5 + 5 * one.largest());
            picture.scene.add(figure::LineItem{from, to, own ? theme.ink : theme.line2, width});
            if (!own)
                continue;
            const char letter = one.largest() == one.queries ? 'Q' : one.largest() == one.keys ? 'K' : 'V';
            const figure::Point label{std::lerp(from.x, to.x, 0.35F), std::lerp(from.y, to.y, 0.35F)};
            picture.scene.add(figure::RectItem{
                .area = {label.x - 8, label.y - 9, 16, 17}, .fill = theme.canvas, .radius = 4});
            draw_text(picture, context, label.x, label.y + 4, std::string(1, letter), Font::mono, 12,
                      theme.ink, Align::center);
        }
    for (std::int64_t l = 0; l < L; ++l) {
        draw_text(picture, context, left - 8, place({l, 0}).y + 4, "L" + std::to_string(l), Font::ui, 12,
                  theme.muted, Align::right);
        for (std::int64_t h = 0; h < H; ++h) {
            const figure::Point at = place({l, h});
            const bool on = open == analysis::HeadPlace{l, h};
            const double copies = heads.copying[static_cast<std::size_t>(l)][static_cast<std::size_t>(h)];
            const float half = std::clamp(pitch / 2 - 3, 4.0F, 22.0F), tall = half < 12 ? half : 11.0F;
            const figure::Color fill = signed_colour(theme, copies, 1);
            const figure::Rect area{at.x - half, at.y - tall, 2 * half, 2 * tall};
            picture.scene.add(figure::RectItem{.area = area,
                                               .fill = fill,
                                               .stroke = on ? theme.ink : theme.line2,
                                               .stroke_width = on ? 2.5F : 1.0F,
                                               .radius = 5});
            const HeadEdits* const edits = head_edits(context, l, h);
            const bool off = edits != nullptr && edits->ablated();
            if (half >= 14) {
                const float baseline = figure::baseline_for(at.y, 12);
                const float wide =
                    draw_text(picture, context, at.x, baseline, "H" + std::to_string(h),
                              on ? Font::ui_semibold : Font::ui, 12, text_on(fill), Align::center);
                if (off)
                    strike_out(picture, at.x, baseline, wide, 12, text_on(fill), Align::center);
            }
            if (edits != nullptr)
                draw_edit_marks(picture, context, area, *edits);
            if (context.controls)
                picture.add_hotspot(area, "circuit " + std::to_string(l) + "." + std::to_string(h),
                                    OpenHead{l, h},
                                    tr("circuits_page.copies_1_1", "{}: copying score {} (−1 to 1)",
                                       head_name({l, h}), signed_number(copies, 2)) +
                                        (edits == nullptr ? "" : "\n" + edits_text(*edits)));
        }
    }
    const float bottom = top + row * static_cast<float>(L - 1) + 26;
    draw_ramp(picture, theme.diverging, left, bottom + 6, 110);
    draw_text(picture, context, left + 122, bottom + 15,
              tr("circuits_page.1_1_how_much",
                 "−1: suppresses what it reads, 1: copies it. Q, K, V: strongest input of the later head"),
              Font::ui, 12.5F, theme.muted);
    return bottom + 30;
}

void draw_token_field(Picture& picture, const DrawContext& context, const CircuitsView& view) {
    if (!context.controls)
        return;
    const float right = context.width - canvas_pad;
    constexpr float width = 118, top = 84;
    std::string word = view.token->token;
    constexpr std::string_view blank = "·";
    if (word.starts_with(blank) && word.size() > blank.size())
        word.erase(0, blank.size());
    picture.fields.push_back({.area = {right - width, top, width, 28},
                              .label = "circuit token",
                              .text = word,
                              .action = [](const std::string& typed) { return AskCircuits{.word = typed}; },
                              .tip = tr("circuits_page.token_head_reads_empty",
                                        "The token that the head reads; empty: the selected token"),
                              .controls = text::ControlCharacters::kept});
    draw_text(picture, context, right - width - 8, figure::baseline_for(top + 14, 12.5F),
              tr("common.token", "token"), Font::ui, 12.5F, context.theme.muted, Align::right);
    const std::string label = view.asked.through_mlp
                                  ? tr("circuits_page.through_first_mlp", "Through the first MLP")
                                  : tr("circuits_page.word_alone", "Embedding alone");
    const float wide = context.measure(label, Font::ui_medium, 12.5F) + 16;
    draw_text_button(picture, context, right - width - 60 - wide, top, label, view.asked.through_mlp,
                     AskCircuits{.through_mlp = !view.asked.through_mlp},
                     tr("circuits_page.e_tokens_row_word",
                        "e is the token's row of the embedding table, or that row after the first layer's "
                        "MLP, which is closer to what later layers read"));
}

} // namespace

Picture draw_circuits_page(const DrawContext& context) {
    Picture picture = empty_view(context);
    const CircuitsView* const view = context.shown.circuits.get();
    draw_view_heading(
        picture, context, tr("circuits_page.weights", "Circuits of {}", head_name(open_head(context))),
        tr("circuits_page.e_w_v_w", "e W_V W_O W_U and e W_Q W_Kᵀ W_Eᵀ, without norms, biases and rotation"));
    if (view == nullptr || view->token == nullptr) {
        draw_message(picture, context,
                     view != nullptr && !view->error.empty()
                         ? view->error
                         : tr("circuits_page.circuits_worked_out", "The circuits are being computed."));
        return picture;
    }
    draw_token_field(picture, context, *view);
    float y = draw_lists(picture, context, *view->token) + 16;
    if (view->heads != nullptr && !view->heads->copying.empty())
        y = draw_graph(picture, context, *view, y);
    picture.scene.height = std::max(context.height, y + 16);
    return picture;
}

Picture draw_circuits_inspector(const DrawContext& context) {
    Sheet sheet(context);
    sheet.link_terms();
    const Theme& theme = context.theme;
    const CircuitsView* const view = context.shown.circuits.get();
    const analysis::HeadPlace open = open_head(context);
    sheet.y = 18;
    if (view == nullptr || view->heads == nullptr || open.layer >= std::ssize(view->heads->copying) ||
        open.head >= std::ssize(view->heads->copying.front())) {
        sheet.paragraph(
            tr("circuits_page.circuits_all_heads_worked", "The circuits of all heads are being computed."),
            theme.muted);
        return sheet.finish();
    }
    const double copies =
        view->heads->copying[static_cast<std::size_t>(open.layer)][static_cast<std::size_t>(open.head)];
    sheet.headline("copying[" + std::to_string(open.layer) + "][" + std::to_string(open.head) + "]",
                   signed_number(copies, 2),
                   copies > 0.3    ? tr("circuits_page.copies", "it copies")
                   : copies < -0.3 ? tr("circuits_page.holds_back", "it suppresses")
                                   : tr("circuits_page.neither", "neither"));
    sheet.paragraph(tr("circuits_page.re_over_eigenvalues_w",
                       "Σ Re λ ÷ Σ |λ| over the eigenvalues λ of W_E W_V W_O W_U. At 1 the head copies what "
                       "it reads, at −1 it suppresses it."),
                    theme.muted);
    const auto list = [&](const std::string& title, bool from) {
        std::vector<Composition> own;
        std::ranges::copy_if(view->heads->compositions, std::back_inserter(own),
                             [&](const Composition& one) { return (from ? one.from : one.to) == open; });
        std::ranges::stable_sort(own, std::ranges::greater{},
                                 [](const Composition& one) { return one.largest(); });
        constexpr std::size_t listed = 7;
        own.resize(std::min(own.size(), listed));
        if (own.empty())
            return;
        sheet.section(title, "Q     K     V");
        for (const Composition& one : own) {
            const analysis::HeadPlace other = from ? one.to : one.from;
            sheet.row_spot(title + " " + std::to_string(other.layer) + "." + std::to_string(other.head),
                           OpenHead{other.layer, other.head}, tr("common.look_head", "Select this head"));
            sheet.row(head_name(other),
                      number(one.queries, 2) + "  " + number(one.keys, 2) + "  " + number(one.values, 2));
        }
    };
    list(tr("circuits_page.writes", "Read by"), true);
    list(tr("circuits_page.reads", "Reads from"), false);
    sheet.section(tr("common.how_measured", "How it is measured"));
    sheet.paragraph(tr("circuits_page.ov_m_b_ov",
                       "|OV_a M_b| ÷ (|OV_a| |M_b|), with Frobenius norms and OV = W_V W_O: a is the earlier "
                       "head, b the later one. M is W_Q W_Kᵀ for Q, its transpose for K, and OV for V. Norms "
                       "and rotation between the heads are left out."),
                    theme.muted);
    return sheet.finish();
}

} // namespace headscope::app
