#include "app/draw/inspector/inspector_sections.h"

#include "app/draw/inspector/inspector_words.h"
#include "app/draw/kit/format.h"
#include "app/draw/pages/attention_pages.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float narrowest_key = 30.0F, widest_key = 56.0F;

/// One line of the softmax table; one may stand for all keys that are not listed, and one for the sink.
struct SoftmaxLine {
    std::string key;
    double s = 0, exp = 0, weight = 0;
    bool spoken = false, rest = false, sink = false;
};

struct Softmax {
    std::vector<SoftmaxLine> lines;
    double exp_sum = 0, weight_sum = 0;
    SoftmaxLine spoken;
};

Softmax softmax_of(const Shown& shown, const Index& at) {
    const auto read = [&](TensorId id) {
        return numbers_of(shown, {id, {at[0], at[1], at[2], 0}, 3, shown.dims().Tk});
    };
    const std::vector<double> s = read(TensorId::masked), weights = read(TensorId::weights);
    const Tensor* const sinks = shown.problem().input(TensorId::sink);
    double max = *std::ranges::max_element(s);
    if (sinks != nullptr)
        max = std::max(max, static_cast<double>(sinks->at(at[1])));
    std::vector<std::size_t> kept =
        largest_indices(weights, weights.size() > longest_table ? largest_terms : weights.size());
    const auto spoken = static_cast<std::size_t>(at[3]);
    if (!std::ranges::binary_search(kept, spoken))
        kept.insert(std::ranges::upper_bound(kept, spoken), spoken);
    Softmax out;
    SoftmaxLine rest{.key = tr("inspector_softmax.more", "… {} more",
                               grouped(static_cast<std::int64_t>(s.size() - kept.size()))),
                     .rest = true};
    for (std::size_t j = 0; j < s.size(); ++j) {
        const SoftmaxLine line{.key = key_word(shown.problem(), static_cast<std::int64_t>(j)),
                               .s = s[j],
                               .exp = std::isinf(max) ? 0.0 : std::exp(s[j] - max),
                               .weight = weights[j],
                               .spoken = j == spoken};
        out.exp_sum += line.exp;
        out.weight_sum += line.weight;
        if (line.spoken)
            out.spoken = line;
        if (std::ranges::binary_search(kept, j)) {
            out.lines.push_back(line);
        } else {
            rest.exp += line.exp;
            rest.weight += line.weight;
        }
    }
    if (kept.size() < s.size())
        out.lines.push_back(rest);
    if (sinks != nullptr) {
        const auto score = static_cast<double>(sinks->at(at[1]));
        SoftmaxLine sink{
            .key = tr("common.sink", "sink"), .s = score, .exp = std::exp(score - max), .sink = true};
        out.exp_sum += sink.exp;
        sink.weight = sink.exp / out.exp_sum;
        out.weight_sum += sink.weight;
        out.lines.push_back(sink);
    }
    return out;
}

std::vector<double> column(const Softmax& softmax, double SoftmaxLine::*member) {
    std::vector<double> out;
    for (const SoftmaxLine& line : softmax.lines)
        out.push_back(line.*member);
    return out;
}

void write_softmax(Sheet& sheet, const Softmax& softmax, const SumFormat& exp, const SumFormat& weight,
                   int score_decimals, std::int64_t head) {
    const Theme& theme = sheet.context.theme;
    const auto wide = [&](const std::string& text) {
        return sheet.context.measure(text, figure::Font::mono_semibold, Sheet::text_size) + 14;
    };
    float exp_width = wide(approximate_prefix(exp.approximate) + number(softmax.exp_sum, exp.decimals));
    for (const SoftmaxLine& line : softmax.lines)
        exp_width = std::max(exp_width, wide(number(line.exp, exp.decimals)));
    const std::string weight_head = tr("common.weight", "weight");
    const float weight_width = std::max(
        wide(weight_head), wide(approximate_prefix(weight.approximate) + number(1, weight.decimals)));
    const auto score_width = [&] {
        float width = wide("s");
        for (const SoftmaxLine& line : softmax.lines)
            width = std::max(width, wide(number(line.s, score_decimals)));
        return width;
    };
    // Huge scores give up decimals before the keys lose their names.
    float s_width = score_width();
    while (score_decimals > 0 && sheet.width() - s_width - exp_width - weight_width < narrowest_key) {
        --score_decimals;
        s_width = score_width();
    }
    // The numbers spread over the room that there is, so that the columns stay apart at any width.
    const float spare = std::max(0.0F, sheet.width() - s_width - exp_width - weight_width - widest_key) / 4;
    const float exp_edge = sheet.right - weight_width - spare, s_edge = exp_edge - exp_width - spare;
    const float key_room = std::max(16.0F, s_edge - s_width - sheet.left);
    sheet.y -= 2;
    const auto head_text = [&](float x, const std::string& text, figure::Align align) {
        sheet.put(x, text, 80, figure::Font::ui, 12, theme.muted, align);
    };
    head_text(sheet.left, tr("common.key", "key"), figure::Align::left);
    head_text(s_edge, "s", figure::Align::right);
    head_text(exp_edge, "exp", figure::Align::right);
    head_text(sheet.right, weight_head, figure::Align::right);
    sheet.y += Sheet::row_height - 2;
    for (const SoftmaxLine& line : softmax.lines) {
        if (line.spoken) {
            const float x = sheet.left - 10;
            sheet.picture.scene.add(figure::RectItem{
                .area = {x, sheet.y, sheet.right + 10 - x, Sheet::row_height}, .fill = theme.highlight});
            sheet.picture.scene.add(figure::RectItem{.area = {x, sheet.y, 3, Sheet::row_height},
                                                     .fill = bar_color(sheet.context, head)});
        }
        const auto cell = [&](float x, const std::string& text, bool bold) {
            sheet.put(x, text, sheet.width(), bold ? figure::Font::mono_semibold : figure::Font::mono,
                      Sheet::text_size, line.spoken ? theme.ink : theme.text, figure::Align::right);
        };
        sheet.put(sheet.left, line.key, line.rest ? s_edge - sheet.left : key_room,
                  line.spoken ? figure::Font::ui_semibold : figure::Font::ui, Sheet::text_size,
                  line.rest || line.sink ? theme.muted
                  : line.spoken          ? theme.ink
                                         : theme.text);
        if (!line.rest)
            cell(s_edge, number(line.s, score_decimals), false);
        cell(exp_edge, number(line.exp, exp.decimals), false);
        cell(sheet.right, number(line.weight, weight.decimals), line.spoken);
        sheet.y += Sheet::row_height;
    }
    sheet.rule(sheet.right - exp_edge + exp_width);
    sheet.put(sheet.left, tr("common.sum", "sum"), 60, figure::Font::ui, Sheet::text_size, theme.muted);
    const auto sum = [&](float x, const SumFormat& format, double value) {
        sheet.put(x, approximate_prefix(format.approximate) + number(value, format.decimals), sheet.width(),
                  figure::Font::mono, Sheet::text_size, theme.ink, figure::Align::right);
    };
    sum(exp_edge, exp, softmax.exp_sum);
    sum(sheet.right, weight, softmax.weight_sum);
    sheet.y += Sheet::row_height;
}

std::string mask_name(const Problem& problem, const std::vector<RuleSays>& rules) {
    if (problem.mask.empty())
        return tr("inspector_softmax.none_no_mask", "none");
    return tr_n("inspector_softmax.rule", "{} rule", "{} rules", std::ssize(rules),
                grouped(std::ssize(rules)));
}

} // namespace

int add_scale(Sheet& sheet, const Index& at, int fewest) {
    const Shown& shown = sheet.context.shown;
    const Problem& problem = shown.problem();
    const bool tempered = problem.temperature != 1.0F;
    const auto from = static_cast<double>(shown.value({TensorId::scores, at}));
    const auto to = static_cast<double>(shown.value({TensorId::scaled, at}));
    const double root = std::sqrt(static_cast<double>(shown.dims().dk));
    const auto temperature = static_cast<double>(problem.temperature);
    const auto cap = static_cast<double>(problem.score_cap);
    const double scaled = cap == 0 ? to : from / root / temperature;
    sheet.section(tr("common.scale", "Scale"),
                  tempered ? tr("inspector_softmax.dk_temperature", "÷ √dk ÷ temperature") : "÷ √dk");
    const SumFormat format = step_format(
        {from}, scaled, [&](const std::vector<double>& n) { return n[0] / root / temperature; }, fewest);
    sheet.arithmetic(number(from, format.decimals) + " ÷ √" + std::to_string(shown.dims().dk) +
                         (tempered ? " ÷ " + number(temperature, 2) : ""),
                     approximate_prefix(format.approximate) + number(scaled, format.decimals));
    if (cap == 0)
        return format.decimals;
    sheet.section(tr("common.soft_cap", "Soft cap"),
                  tr("inspector_softmax.c_tanh_score_c", "c · tanh(score ÷ c)"));
    const std::string c = number(cap, 1);
    sheet.arithmetic(c + " × tanh(" + number(scaled, 3) + " ÷ " + c + ")",
                     approximate_prefix(true) + number(to, 3));
    return 3;
}

int add_mask(Sheet& sheet, const Index& at, int fewest) {
    const Shown& shown = sheet.context.shown;
    const Theme& theme = sheet.context.theme;
    const std::vector<RuleSays> rules = rules_on(shown.problem(), at);
    sheet.section(tr("common.mask_2", "Mask"), mask_name(shown.problem(), rules));
    if (rules.empty())
        return fewest;
    double add = 0;
    for (const RuleSays& rule : rules) {
        const std::string verdict = rule.adds      ? signed_number(rule.add, 2)
                                    : rule.allowed ? tr("inspector_softmax.allowed", "allowed")
                                                   : tr("inspector_softmax.forbidden", "forbidden");
        add += rule.add;
        const float room =
            sheet.width() - sheet.context.measure(verdict, figure::Font::ui_semibold, 12.5F) - 12;
        sheet.put(sheet.right, verdict, sheet.width(),
                  rule.adds ? figure::Font::mono : figure::Font::ui_semibold, Sheet::text_size, theme.ink,
                  figure::Align::right);
        const float next = draw_paragraph(sheet.picture, sheet.context, sheet.left, sheet.baseline(), room,
                                          rule.words, figure::Font::ui, Sheet::text_size, 18, theme.text);
        sheet.y += Sheet::row_height + (next - sheet.baseline() - 18);
    }
    const auto from = static_cast<double>(shown.value({TensorId::scaled, at}));
    const auto to = static_cast<double>(shown.value({TensorId::masked, at}));
    if (std::isinf(to)) {
        sheet.arithmetic(tr("inspector_softmax.becomes", "{} becomes", number(from, fewest)), number(to, 2));
        return fewest;
    }
    const SumFormat format = step_format(
        {from, add}, to, [](const std::vector<double>& n) { return n[0] + n[1]; }, fewest);
    const std::string score = number(from, format.decimals);
    sheet.arithmetic(add == 0 ? tr("inspector_softmax.stays", "{} stays", score)
                              : score + (add < 0 ? " − " : " + ") + number(std::abs(add), format.decimals),
                     approximate_prefix(format.approximate) + number(to, format.decimals));
    return format.decimals;
}

int add_softmax(Sheet& sheet, const Index& at, int score_decimals) {
    const Shown& shown = sheet.context.shown;
    sheet.section(tr("common.softmax", "Softmax"),
                  tr("inspector_softmax.exp_s_max_sum", "exp(s − max) ÷ sum"));
    if (fully_masked(*shown.trace, at[0], at[1], at[2])) {
        sheet.paragraph(tr("inspector_softmax.no_key_allowed_row",
                           "No key is allowed in this row, so there is nothing to distribute. By definition "
                           "every weight is 0, and so is the head's output."),
                        sheet.context.theme.text);
        return 2;
    }
    const Softmax softmax = softmax_of(shown, at);
    const SumFormat exp = sum_format(column(softmax, &SoftmaxLine::exp), softmax.exp_sum);
    const SumFormat weight = sum_format(column(softmax, &SoftmaxLine::weight), softmax.weight_sum);
    write_softmax(sheet, softmax, exp, weight, score_decimals, at[1]);
    const SumFormat last = step_format({softmax.spoken.exp, softmax.exp_sum}, softmax.spoken.weight,
                                       [](const std::vector<double>& n) { return n[0] / n[1]; });
    sheet.arithmetic(number(softmax.spoken.exp, last.decimals) + " ÷ " +
                         number(softmax.exp_sum, last.decimals),
                     approximate_prefix(last.approximate) + number(softmax.spoken.weight, last.decimals));
    if (softmax.lines.back().sink)
        sheet.paragraph(
            tr("inspector_softmax.heads_sink_takes_part",
               "The head’s sink acts like one more key. It gets {} of this row; that fraction is dropped.",
               number(softmax.lines.back().weight, weight.decimals)),
            sheet.context.theme.text);
    return weight.decimals;
}

int add_mean(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    const Dims& dims = shown.dims();
    // Weights that were given are not computed, so that no graph says what their mean reads.
    std::vector<double> weights =
        numbers_of(shown, {TensorId::weights, {cell.at[0], 0, cell.at[1], cell.at[2]}, 1, dims.H});
    // Of given weights, a further head may be the mean itself, and heads that read nothing take no part.
    const AttentionSetPtr& given = shown.document->shown_weights();
    weights.resize(static_cast<std::size_t>(given == nullptr ? dims.H : given->info().own_heads()));
    std::int64_t counted = 0;
    std::vector<Term> terms;
    for (std::int64_t h = 0; h < static_cast<std::int64_t>(weights.size()); ++h) {
        const bool empty = given != nullptr && fully_masked(*shown.trace, cell.at[0], h, cell.at[1]);
        counted += empty ? 0 : 1;
        terms.push_back({.label = empty ? tr("common.head_reads_nothing", "Head {}, reads nothing", h)
                                        : tr("common.head", "Head {}", h),
                         .value = weights[static_cast<std::size_t>(h)],
                         .head = h});
    }
    counted = std::max<std::int64_t>(counted, 1);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    sheet.section(tr("inspector_softmax.average_over_heads", "Average over heads"),
                  given == nullptr ? tr("inspector_softmax.sum_h", "sum ÷ H")
                                   : tr("inspector_softmax.sum_heads", "sum ÷ heads"));
    const int decimals = draw_terms(
        sheet, {.groups = {{.terms = std::move(terms)}}, .name = tr("common.sum", "sum"), .total = sum});
    const auto mean = static_cast<double>(shown.value(cell));
    const SumFormat format = step_format(
        {sum}, mean, [&](const std::vector<double>& n) { return n[0] / static_cast<double>(counted); },
        decimals);
    sheet.arithmetic(number(sum, format.decimals) + " ÷ " + std::to_string(counted),
                     approximate_prefix(format.approximate) + number(mean, format.decimals));
    return format.decimals;
}

void add_comparison(Sheet& sheet, const CellAddress& cell) {
    const Shown& shown = sheet.context.shown;
    CellAddress twin = cell;
    twin.at[1] = cell.at[1] == sheet.context.view.compared_head ? sheet.context.view.head
                                                                : sheet.context.view.compared_head;
    // One head alone has none to be compared with, and key/value heads may be fewer.
    if (twin.at[1] == cell.at[1] || twin.at[1] >= shown.tensor(cell.tensor)->shape()[1])
        return;
    const auto own = static_cast<double>(shown.value(cell)), other = static_cast<double>(shown.value(twin));
    const AttentionSetPtr& given = shown.document->shown_weights();
    const bool made = given != nullptr && twin.at[1] >= given->info().own_heads();
    sheet.section(tr("inspector_softmax.compared", "Compared with {}",
                     made ? tr(given->info().made_head) : say_head(twin.at[1])));
    const bool finite = std::isfinite(own) && std::isfinite(other);
    const SumFormat format = finite ? sum_format({own, -other}, own - other) : SumFormat{};
    sheet.row(head_title(sheet.context, cell.at[1]), number(own, format.decimals));
    sheet.row(head_title(sheet.context, twin.at[1]), number(other, format.decimals));
    if (finite)
        sheet.row(tr("common.difference", "difference"),
                  approximate_prefix(format.approximate) + signed_number(own - other, format.decimals), true);
    else
        sheet.paragraph(
            tr("inspector_softmax.key_masked_no", "There is no difference where a key is masked."),
            sheet.context.theme.muted);
}

} // namespace headscope::app
