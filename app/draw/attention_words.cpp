#include "app/draw/attention_pages.h"
#include "app/draw/format.h"
#include "app/state/model_document.h"

#include <algorithm>
#include <cmath>

namespace headscope {

const HeadFacts* facts_of(const DrawContext& context, std::int64_t h) {
    if (context.board == nullptr)
        return nullptr;
    const auto row = context.board->row(context.shown.document->layer);
    // The board keeps the row for as long as it lives.
    return row == nullptr || row->heads.empty() ? nullptr : &row->heads[static_cast<std::size_t>(h)].facts;
}

bool nothing_read(const DrawContext& context, std::int64_t h, std::int64_t i, std::int64_t j) {
    const float value = context.shown.value({TensorId::weights, {0, h, i, j}});
    if (!std::isfinite(value))
        return true;
    const Dims& dims = context.dims();
    if (value != 0 || j <= i + dims.Tk - dims.Tq)
        return false;
    const HeadFacts* facts = facts_of(context, h);
    return facts != nullptr && facts->causal;
}

const std::vector<Pattern>& patterns() {
    static const std::vector<Pattern> all{{"first token", 'F', "most weight on the first token"},
                                          {"previous token", 'P', "most weight on the token before"},
                                          {"itself", 'I', "most weight on the token itself"},
                                          {"next token", 'N', "most weight on the token after"},
                                          {"", '-', "none of these holds half of the weight"}};
    return all;
}

const Pattern& pattern_of(const HeadMetrics& metrics) {
    const auto row = std::ranges::find(patterns(), metrics.label, &Pattern::label);
    return row == patterns().end() ? patterns().back() : *row;
}

float pattern_score(const HeadMetrics& metrics) {
    switch (pattern_of(metrics).letter) {
    case 'F':
        return metrics.first_token;
    case 'P':
        return metrics.previous_token;
    case 'I':
        return metrics.itself;
    case 'N':
        return metrics.next_token;
    default:
        return metrics.largest;
    }
}

std::vector<std::string> flags_of(const HeadFacts& facts, const AttentionInfo& info) {
    std::vector<std::string> out;
    const auto rows = [](std::int64_t count) {
        return grouped(count) + (count == 1 ? " row does" : " rows do");
    };
    const auto at = [](const PlacedWeight& weight) {
        return "[" + std::to_string(weight.i) + ", " + std::to_string(weight.j) + "]";
    };
    if (facts.rows_off > 0)
        out.push_back(rows(facts.rows_off) + " not sum to 1 within " + shortest_number(info.sum_tolerance) +
                      ": row " + std::to_string(facts.worst_row) + " sums to " +
                      number(static_cast<double>(facts.worst_sum), 4) + ".");
    if (facts.outside > 0)
        out.push_back(grouped(facts.outside) + (facts.outside == 1 ? " weight lies" : " weights lie") +
                      " outside 0 to 1, the first at " + at(facts.first_outside) + ": " +
                      number(static_cast<double>(facts.first_outside.value), 4) + ".");
    if (facts.not_finite > 0)
        out.push_back(grouped(facts.not_finite) + (facts.not_finite == 1 ? " weight is" : " weights are") +
                      " no finite number, the first at " + at(facts.first_not_finite) + ".");
    return out;
}

std::string head_page_title(const DrawContext& context) {
    const Document& document = *context.shown.document;
    const std::int64_t h = context.view.head;
    switch (context.view.heads_view) {
    case HeadsView::each:
        return open_head_name(document, h);
    case HeadsView::difference:
        return open_head_name(document, h) + " − H" + std::to_string(context.view.other);
    case HeadsView::mean:
        return open_layer_name(document) + ", mean of heads";
    }
    return {};
}

std::string head_page_line(const DrawContext& context) {
    if (context.view.heads_view == HeadsView::difference)
        return "weight in the one − weight in the other";
    if (context.view.heads_view == HeadsView::mean)
        return "sum over heads ÷ " + std::to_string(context.dims().H);
    const HeadFacts* facts = facts_of(context, context.view.head);
    if (facts == nullptr)
        return "";
    const std::string& label = facts->metrics.label;
    return label.empty() ? "no clear pattern"
                         : label + " " + number(static_cast<double>(pattern_score(facts->metrics)), 2);
}

} // namespace headscope
