#include "core/analysis/heads/head_metrics.h"

#include "core/attention/problem.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headscope::analysis {

namespace {

RowPart one(float value) {
    return {static_cast<double>(value), 1};
}

RowPart on_first(const WeightRow& row) {
    return row.i > 0 ? one(row.weights.front()) : RowPart();
}

RowPart on_previous(const WeightRow& row) {
    return row.i > 0 ? one(row.weights[static_cast<std::size_t>(row.i - 1)]) : RowPart();
}

RowPart on_self(const WeightRow& row) {
    return one(row.weights[static_cast<std::size_t>(row.i)]);
}

RowPart on_next(const WeightRow& row) {
    const auto next = static_cast<std::size_t>(row.i + 1);
    return next < row.weights.size() ? one(row.weights[next]) : RowPart();
}

/// How far away the row reads, each weight counted by itself: rows of a larger sum count for more.
RowPart distance_part(const WeightRow& row) {
    RowPart part;
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
        const auto weight = static_cast<double>(row.weights[j]);
        part.value += weight * std::abs(static_cast<double>(row.i) - static_cast<double>(j));
        part.weight += weight;
    }
    return part;
}

RowPart confidence_part(const WeightRow& row) {
    float largest = 0;
    std::size_t from = 0;
    const auto take = [&](std::size_t end) {
        for (const float weight : row.weights.subspan(from, end - from))
            largest = std::max(largest, weight);
        from = end + 1;
    };
    for (const std::size_t end : row.ends)
        take(end);
    if (from < row.weights.size())
        take(row.weights.size());
    return one(largest);
}

/// The tokens with which models end a text. A key counts as one when its text is exactly that.
constexpr std::array<std::string_view, 7> end_of_text{"</s>",  "<eos>",         "[EOS]",          "[SEP]",
                                                      "<sep>", "<|endoftext|>", "<|end_of_text|>"};

std::vector<std::size_t> ends_in(const std::vector<std::string>& key_tokens) {
    std::vector<std::size_t> ends;
    for (std::size_t j = 0; j < key_tokens.size(); ++j)
        if (std::ranges::find(end_of_text, key_tokens[j]) != end_of_text.end())
            ends.push_back(j);
    return ends;
}

RowPart entropy_part(const WeightRow& row) {
    return {entropy_of(row.weights), 1};
}

RowPart largest_part(const WeightRow& row) {
    return one(*std::ranges::max_element(row.weights));
}

double one_at_most(std::int64_t) {
    return 1;
}

double nats_at_most(std::int64_t Tk) {
    return std::log(static_cast<double>(Tk));
}

double tokens_at_most(std::int64_t Tk) {
    return static_cast<double>(Tk - 1);
}

constexpr ScoreUnit weight_unit{1, 2, "", one_at_most}, nats{1, 2, " nats", nats_at_most},
    percent{100, 0, " %", one_at_most}, tokens{1, 2, " tokens", tokens_at_most};
constexpr float half = 0.5F; ///< a head is called by what holds at least half of its weight
constexpr HeadLabel no_label{"", "", "", '\0', 0, 0};

constexpr std::array<HeadScoreInfo, head_score_count> table{
    {{.score = HeadScore::first,
      .id = "first",
      .formula = "mean of A[i, 0] over rows i >= 1",
      .source = "Clark et al. 2019",
      .unit = weight_unit,
      .positions = true,
      .title = "on the first token",
      .brief = "first token",
      .bar = "",
      .explains = "",
      .label = {"first token", "first token", "most weight on the first token", 'F', half, 4},
      .part = on_first},
     {.score = HeadScore::previous,
      .id = "previous",
      .formula = "mean of A[i, i-1] over rows i >= 1",
      .source = "Clark et al. 2019",
      .unit = weight_unit,
      .positions = true,
      .title = "on the token before",
      .brief = "previous",
      .bar = "",
      .explains = "",
      .label = {"previous token", "one place back", "most weight on the token before", 'P', half, 1},
      .part = on_previous},
     {.score = HeadScore::self,
      .id = "self",
      .formula = "mean of A[i, i]",
      .source = "Clark et al. 2019",
      .unit = weight_unit,
      .positions = true,
      .title = "on the token itself",
      .brief = "itself",
      .bar = "",
      .explains = "",
      .label = {"itself", "same place", "most weight on the token itself", 'I', half, 3},
      .part = on_self},
     {.score = HeadScore::next,
      .id = "next",
      .formula = "mean of A[i, i+1] over rows i < T-1",
      .source = "Clark et al. 2019",
      .unit = weight_unit,
      .positions = true,
      .title = "on the token after",
      .brief = "next",
      .bar = "",
      .explains = "",
      .label = {"next token", "one place on", "most weight on the token after", 'N', half, 2},
      .part = on_next},
     {.score = HeadScore::distance,
      .id = "distance",
      .formula = "sum of A[i, j] |i - j| over sum of A, in tokens",
      .source = "Vig and Belinkov 2019",
      .unit = tokens,
      .positions = true,
      .title = "mean distance",
      .brief = "mean distance",
      .bar = "distance",
      .explains = "Distance: how many tokens away a head reads, averaged over its weight; {} at most.",
      .label = no_label,
      .part = distance_part},
     {.score = HeadScore::entropy,
      .id = "entropy",
      .formula = "mean over rows of -sum over j of A[i, j] ln A[i, j], in nats",
      .source = "Clark et al. 2019",
      .unit = nats,
      .positions = false,
      .title = "entropy of a row",
      .brief = "entropy",
      .bar = "entropy",
      .explains = "Entropy: how widely a row spreads its weight, averaged over rows; 0 is one key, {} is all "
                  "keys alike.",
      .label = no_label,
      .part = entropy_part},
     {.score = HeadScore::confidence,
      .id = "confidence",
      .formula = "mean over rows of the largest A[i, j], keys that end a text left out: </s>, <eos>, [EOS], "
                 "[SEP], <sep>, <|endoftext|>, <|end_of_text|>",
      .source = "Voita et al. 2019",
      .unit = weight_unit,
      .positions = false,
      .title = "confidence",
      .brief = "confidence",
      .bar = "confidence",
      .explains =
          "Confidence: the largest weight of a row that is not on a token that ends the text, averaged "
          "over rows.",
      .label = no_label,
      .part = confidence_part},
     {.score = HeadScore::largest,
      .id = "largest",
      .formula = "mean over rows of the largest A[i, j]",
      .source = "",
      .unit = weight_unit,
      .positions = false,
      .title = "largest of a row",
      .brief = "largest weight of a row",
      .bar = "",
      .explains = "",
      .label = no_label,
      .part = largest_part},
     {.score = HeadScore::share,
      .id = "share",
      .formula = "Frobenius norm of the head's contribution to the output over the sum of all heads' norms",
      .source = "",
      .unit = percent,
      .positions = false,
      .title = "",
      .brief = "",
      .bar = "share",
      .explains = "Share: size (Frobenius norm) of what the head adds to the output, over the sum for all "
                  "heads.",
      .label = no_label,
      .part = nullptr}}};
static_assert([] {
    for (std::size_t s = 0; s < table.size(); ++s)
        if (table[s].score != static_cast<HeadScore>(s) || table[s].id.empty())
            return false;
    return true;
}());

/// Of two equal scores the label of lower rank.
std::optional<HeadScore> label_of(const HeadMetrics& metrics) {
    const HeadScoreInfo* best = nullptr;
    for (const HeadScoreInfo& info : table) {
        const float score = metrics[info.score];
        if (info.label.text.empty() || score < info.label.from)
            continue;
        const float so_far = best == nullptr ? -1 : metrics[best->score];
        if (score > so_far || (score == so_far && info.label.rank < best->label.rank))
            best = &info;
    }
    return best == nullptr ? std::nullopt : std::optional(best->score);
}

/// `skip(i)`: row i may attend to nothing.
template<class Skip>
HeadMetrics metrics_of(const float* weights, std::int64_t Tq, std::int64_t Tk,
                       const std::vector<std::string>& key_tokens, const Skip& skip) {
    std::array<RowPart, head_score_count> sums{};
    const std::vector<std::size_t> ends = ends_in(key_tokens);
    for (std::int64_t i = 0; i < Tq; ++i) {
        if (skip(i))
            continue;
        const WeightRow row{{weights + i * Tk, static_cast<std::size_t>(Tk)}, i, ends};
        for (std::size_t s = 0; s < table.size(); ++s) {
            if (table[s].part == nullptr || !score_applies(table[s].score, Tq, Tk))
                continue;
            const RowPart part = table[s].part(row);
            sums[s].value += part.value;
            sums[s].weight += part.weight;
        }
    }
    HeadMetrics metrics;
    for (std::size_t s = 0; s < table.size(); ++s)
        metrics.scores[s] = sums[s].weight > 0 ? static_cast<float>(sums[s].value / sums[s].weight) : 0.0F;
    metrics.labelled = label_of(metrics);
    return metrics;
}

} // namespace

const std::array<HeadScoreInfo, head_score_count>& head_scores() {
    return table;
}

const HeadScoreInfo& info_of(HeadScore score) {
    return table[static_cast<std::size_t>(score)];
}

const HeadScoreInfo* find_head_score(std::string_view id) {
    const auto row = std::ranges::find(table, id, &HeadScoreInfo::id);
    return row == table.end() ? nullptr : &*row;
}

bool score_applies(HeadScore score, std::int64_t Tq, std::int64_t Tk) {
    return !info_of(score).positions || (Tq == Tk && Tq >= 2);
}

double largest_score(HeadScore score, std::int64_t Tk) {
    return info_of(score).unit.largest(Tk);
}

double entropy_of(std::span<const float> row) {
    double entropy = 0;
    for (const float weight : row)
        if (weight > 0 && std::isfinite(weight))
            entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
    return entropy;
}

std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b, std::vector<HeadMetrics> before,
                                      const std::vector<std::string>& key_tokens) {
    std::vector<HeadMetrics> all = std::move(before);
    const bool afresh = static_cast<std::int64_t>(all.size()) != trace.dims.H;
    if (afresh)
        all.assign(static_cast<std::size_t>(trace.dims.H), {});
    const Tensor& weights = *trace.stage(TensorId::weights);
    const Tensor* contributions = trace.stage(TensorId::contributions);
    const std::int64_t cells = trace.dims.Tq * trace.dims.D;
    double total = 0;
    for (std::int64_t h = 0; h < trace.dims.H; ++h) {
        HeadMetrics& m = all[static_cast<std::size_t>(h)];
        if (afresh || trace.computed.has(TensorId::weights, h)) {
            const double norm = m.output_norm;
            m = metrics_of(weights.data() + weights.offset(b, h, 0, 0), trace.dims.Tq, trace.dims.Tk,
                           key_tokens, [&](std::int64_t i) {
                               return std::ranges::binary_search(
                                   trace.fully_masked, std::tuple(b, h, i), {},
                                   [](const MaskedRow& row) { return std::tuple(row.b, row.h, row.i); });
                           });
            m.output_norm = norm;
        }
        // In double precision neither the squares nor the sum of float32 numbers overflow.
        if (contributions != nullptr && (afresh || trace.computed.has(TensorId::contributions, h)))
            m.output_norm = Eigen::Map<const Eigen::VectorXf>(
                                contributions->data() + contributions->offset(b, h, 0, 0), cells)
                                .cast<double>()
                                .norm();
        total += m.output_norm;
    }
    for (HeadMetrics& m : all)
        m[HeadScore::share] = total > 0 ? static_cast<float>(m.output_norm / total) : 0.0F;
    return all;
}

std::vector<HeadMetrics> head_metrics(const Problem& problem, const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before) {
    return head_metrics(trace, b, std::move(before), problem.cross() ? problem.kv_tokens : problem.tokens);
}

HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk,
                         const std::vector<std::string>& key_tokens) {
    return metrics_of(weights.data(), Tq, Tk, key_tokens, [&](std::int64_t i) {
        const float* row = weights.data() + i * Tk;
        return std::all_of(row, row + Tk, [](float value) { return value == 0.0F; });
    });
}

} // namespace headscope::analysis
