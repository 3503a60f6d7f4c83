#include "app/draw/kit/format.h"
#include "app/draw/kit/sheet.h"
#include "app/draw/pages/attention_pages.h"
#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace headscope::app {

namespace {

std::string capital(std::string words) {
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    return words;
}

/// A number of any size with three significant digits: "0.0123", "−1.2e-05".
std::string three_digits(double value) {
    if (!std::isfinite(value))
        return number(value, 0);
    std::array<char, 32> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.3g", std::abs(value));
    return (value < 0 ? "−" : "") + std::string(text.data(), static_cast<std::size_t>(size));
}

/// "average of 12 heads".
std::string averaged_heads(std::int64_t count) {
    return tr_n("attention_words.average_head", "average of {} head", "average of {} heads", count,
                grouped(count));
}

std::string averaged_over(const AttentionInfo& info, std::int64_t l, std::int64_t h) {
    const std::int64_t L = info.own_layers(), H = info.own_heads();
    if (h >= H && info.made_head.english != "mean")
        return tr("attention_words.all_heads_layers_0", "all heads of layers 0 to {}", l);
    if (l >= L)
        return h >= H ? averaged_heads(L * H)
                      : tr_n("attention_words.average_layer", "average of {} layer", "average of {} layers",
                             L, grouped(L));
    return h >= H ? averaged_heads(H) : "";
}

/// The name of the aggregation that computed head h; null for an original head.
const Message* made_head(const DrawContext& context, std::int64_t h) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    return given != nullptr && h >= given->info().own_heads() ? &given->info().made_head : nullptr;
}

} // namespace

const analysis::HeadFacts* facts_of(const DrawContext& context, std::int64_t h) {
    // The screen may still show the previous set.
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    const bool other_stack = context.shown.document->stack() != context.view.attention.stack;
    if (context.head_grid == nullptr || other_stack ||
        (given != nullptr && &context.head_grid->info() != &given->info()))
        return nullptr;
    // The grid of heads may already contain the next text.
    const AttentionInfo& info = context.head_grid->info();
    if (info.Tq != context.dims().Tq || info.Tk != context.dims().Tk)
        return nullptr;
    const auto row = context.head_grid->row(context.shown.document->layer());
    // The grid of heads keeps the row for its lifetime.
    return row == nullptr || h >= std::ssize(row->heads) ? nullptr
                                                         : &row->heads[static_cast<std::size_t>(h)].facts;
}

bool is_without_value(const DrawContext& context, std::int64_t h, std::int64_t i, std::int64_t j) {
    const float value = context.shown.value({TensorId::weights, {0, h, i, j}});
    if (!std::isfinite(value))
        return true;
    const Dims& dims = context.dims();
    if (value != 0 || j <= i + dims.Tk - dims.Tq)
        return false;
    const analysis::HeadFacts* facts = facts_of(context, h);
    return facts != nullptr && facts->causal;
}

const std::vector<Pattern>& patterns() {
    static const std::vector<Pattern> all = [] {
        std::vector<Pattern> rows;
        for (const analysis::HeadScoreInfo& info : analysis::head_scores())
            if (!info.label.text.empty() &&
                std::ranges::find(rows, info.label.text, &Pattern::label) == rows.end())
                rows.push_back({info.label.text, info.label.letter, tr(info.label.says)});
        rows.push_back(
            {{},
             '-',
             tr("attention_words.none_holds_enough_weight", "none of these gets enough of the weight")});
        return rows;
    }();
    return all;
}

const Pattern& pattern_of(const analysis::HeadMetrics& metrics) {
    return *std::ranges::find(patterns(), metrics.label(),
                              [](const Pattern& pattern) { return pattern.label.english; });
}

float pattern_score(const analysis::HeadMetrics& metrics) {
    return metrics.labelled ? metrics.label_score() : metrics[analysis::HeadScore::largest];
}

std::string label_words(const analysis::HeadMetrics& metrics) {
    if (!metrics.labelled)
        return {};
    const std::string label = tr(analysis::info_of(*metrics.labelled).label.text);
    // Translators: {} is a label of heads, such as "previous token"; most of the weight is on the first token
    return metrics.beside_first ? tr("common.beside_first_token", "{}, apart from the first token", label)
                                : label;
}

std::string score_text(analysis::HeadScore score, float value) {
    const analysis::ScoreUnit& unit = analysis::info_of(score).unit;
    if (analysis::info_of(score).of == analysis::ScoreSource::comparison) // small changes count as well
        return three_digits(static_cast<double>(value));
    return number(unit.factor * static_cast<double>(value), unit.decimals) + tr(unit.suffix);
}

std::vector<std::string> flags_of(const analysis::HeadFacts& facts, const AttentionInfo& info) {
    std::vector<std::string> out;
    const auto at = [](const analysis::PlacedWeight& weight) {
        return "[" + std::to_string(weight.i) + ", " + std::to_string(weight.j) + "]";
    };
    if (facts.rows_off > 0)
        out.push_back(tr_n("attention_words.row_not_sum_1",
                           "{} row does not sum to 1 within {}: row {} sums to {}.",
                           "{} rows do not sum to 1 within {}: row {} sums to {}.", facts.rows_off,
                           grouped(facts.rows_off), shortest_number(info.sum_tolerance), facts.worst_row,
                           number(static_cast<double>(facts.worst_sum), 4)));
    if (facts.outside > 0)
        out.push_back(
            tr_n("attention_words.weight_lies_outside_0", "{} weight is outside 0 to 1, the first at {}: {}.",
                 "{} weights are outside 0 to 1, the first at {}: {}.", facts.outside, grouped(facts.outside),
                 at(facts.first_outside), number(static_cast<double>(facts.first_outside.value), 4)));
    if (facts.not_finite > 0)
        out.push_back(tr_n("attention_words.weight_no_finite_number",
                           "{} weight is not finite, the first at {}.",
                           "{} weights are not finite, the first at {}.", facts.not_finite,
                           grouped(facts.not_finite), at(facts.first_not_finite)));
    return out;
}

std::string head_page_title(const DrawContext& context) {
    const Document& document = *context.shown.document;
    const std::int64_t h = context.view.head;
    switch (context.view.heads_view) {
    case HeadsView::each:
        return capital(open_head_name(document, h));
    case HeadsView::difference:
        return capital(open_head_name(document, h)) + " − " +
               head_column_name(document, context.view.compared_head);
    case HeadsView::mean:
        return tr("attention_words.mean_heads", "{}, mean of heads", capital(open_layer_name(document)));
    }
    return {};
}

std::string head_column_name(const Document& document, std::int64_t h) {
    return document.shows_weights() ? analysis::head_column(document.shown_weights()->info(), h)
                                    : "H" + std::to_string(h);
}

std::string head_title(const DrawContext& context, std::int64_t h) {
    const Message* const made = made_head(context, h);
    return made != nullptr ? capital(tr(*made)) : tr("common.head", "Head {}", h);
}

std::string head_title_in_sentence(const DrawContext& context, std::int64_t h) {
    const Message* const made = made_head(context, h);
    return made != nullptr ? tr(*made) : tr("common.head_3", "head {}", h);
}

std::string pair_word(const DrawContext& context, std::int64_t a, std::int64_t b) {
    return head_title(context, a) + " − " + head_title_in_sentence(context, b);
}

std::string set_size_text(const AttentionInfo& info) {
    const std::int64_t L = info.own_layers(), H = info.own_heads();
    const std::string heads = tr_n("common.head_4", "{} head", "{} heads", H, grouped(H));
    if (info.axis == SetAxis::one)
        return heads;
    return (info.axis == SetAxis::layers
                ? tr_n("common.layer", "{} layer", "{} layers", L, grouped(L))
                : tr_n("attention_words.sequence", "{} sequence", "{} sequences", L, grouped(L))) +
           " × " + heads;
}

std::string mean_word(const DrawContext& context) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    const std::int64_t H = given == nullptr ? context.dims().H : given->info().own_heads();
    return tr_n("attention_words.mean_over_head", "Mean over {} head", "Mean over {} heads", H, grouped(H));
}

std::string why_empty(const DrawContext& context) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    return given != nullptr && given->info().renormalised
               ? tr("attention_words.nothing_left_row_all",
                    "Nothing is left of this row: all its weight was on hidden tokens, or it read nothing.")
               : tr("attention_words.all_weights_0_query", "All its weights are 0: the query read nothing, "
                                                           "for example because every key is masked.");
}

std::string head_page_line(const DrawContext& context) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    if (context.view.heads_view == HeadsView::difference)
        return tr("common.difference", "difference");
    if (context.view.heads_view == HeadsView::mean)
        return averaged_heads(given == nullptr ? context.dims().H : given->info().own_heads());
    const std::string averaged =
        given == nullptr ? std::string()
                         : averaged_over(given->info(), context.shown.document->layer(), context.view.head);
    const analysis::HeadFacts* facts = facts_of(context, context.view.head);
    if (facts == nullptr || !averaged.empty())
        return averaged;
    const std::string label = label_words(facts->metrics);
    return label.empty() ? tr("attention_words.no_clear_pattern", "no clear pattern")
                         : label + " " + number(static_cast<double>(pattern_score(facts->metrics)), 2);
}

void draw_reading_line(Picture& picture, const DrawContext& context) {
    const AttentionSetPtr& given = context.shown.document->shown_weights();
    std::string reading = given == nullptr ? std::string() : given->info().reading;
    if (reading.empty())
        return;
    reading = capital(std::move(reading));
    constexpr float size = 12.5F, baseline = 21;
    const float room = context.width - 2 * canvas_pad;
    const std::string text = fitted(context, reading, figure::Font::ui_medium, size, room);
    draw_text(picture, context, canvas_pad, baseline, text, figure::Font::ui_medium, size,
              context.theme.text);
    picture.tips.push_back({{canvas_pad, baseline - 14, room, 20}, reading + "."});
}

} // namespace headscope::app
