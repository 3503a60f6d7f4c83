#include "core/analysis/heads/head_metrics.h"

#include "core/attention/problem.h"
#include "core/tensor/views.h"
#include "core/text/readable_tokens.h"
#include "core/text/tokenizer/unicode.h"
#include "core/text/word_pieces.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace headscope::analysis {

namespace {

/// The tokens with which models end a text. A key counts as one when its text is exactly that.
constexpr std::array<std::string_view, 7> end_of_text{"</s>",  "<eos>",         "[EOS]",          "[SEP]",
                                                      "<sep>", "<|endoftext|>", "<|end_of_text|>"};

bool ends_text(const std::string& token) {
    return std::ranges::find(end_of_text, token) != end_of_text.end();
}

bool is_all_punctuation(const std::string& readable) {
    bool all = !readable.empty();
    text::for_each_code_point(readable, [&](char32_t letter, std::size_t, std::size_t) {
        all = all && text::is_punctuation(letter);
    });
    return all;
}

template<class Holds>
std::vector<std::size_t> keys_that(const std::vector<std::string>& tokens, const Holds& holds) {
    std::vector<std::size_t> keys;
    for (std::size_t j = 0; j < tokens.size(); ++j)
        if (holds(tokens[j]))
            keys.push_back(j);
    return keys;
}

/// Of each token the last earlier one that is the same, or -1.
template<class Token>
std::vector<std::int64_t> same_before(const std::vector<Token>& tokens) {
    std::vector<std::int64_t> before;
    std::map<Token, std::int64_t> last;
    for (const Token& token : tokens) {
        const auto at = last.try_emplace(token, -1).first;
        before.push_back(std::exchange(at->second, std::ssize(before)));
    }
    return before;
}

/// Batch entry b of what stands one text after the other, Tk each; all where there is but one.
template<class Value>
std::vector<Value> entry_of(const std::vector<Value>& all, std::int64_t b, std::int64_t Tk) {
    if (std::ssize(all) <= Tk)
        return all;
    return {all.begin() + b * Tk, all.begin() + (b + 1) * Tk};
}

/// Whether as much is known of the tokens as the score asks for. Those that no rows give are not measured
/// here.
bool can_measure(const HeadScoreInfo& info, const HeadTokens& tokens) {
    switch (info.of) {
    case ScoreSource::weights:
        return true;
    case ScoreSource::tokens:
        return !tokens.ids.empty() || !tokens.keys.empty();
    case ScoreSource::texts:
        return !tokens.keys.empty();
    case ScoreSource::probe:
        return tokens.repeated > 0;
    case ScoreSource::contributions:
    case ScoreSource::model:
    case ScoreSource::further_runs:
    case ScoreSource::needles:
    case ScoreSource::comparison:
        return false;
    }
    return false;
}

/// So much of a row must remain beside the first key for its pattern to count. What remains of a row that
/// reads little else is noise.
constexpr float least_beside = 0.1F;
/// A pattern shows in at least so many rows.
constexpr double least_rows_beside = 2;
/// Less than this is what rounding leaves of a row that reads the first key alone.
constexpr float nothing_left = 1e-6F;

/// The part of the score's value in a row that is on key 0. Row 2 is the first one asked for.
double part_on_first(const HeadScoreInfo& info, const WeightRow& row) {
    if (info.score == HeadScore::duplicate_text)
        return info.acts(row, 0);
    const bool said_first = info.score == HeadScore::probe_duplicate && row.i == row.keys.repeated;
    return said_first ? static_cast<double>(row.weights.front()) : 0.0;
}

/// The score of these values that names a head, see label_of.
std::optional<HeadScore> largest_claim(const HeadMetrics& metrics,
                                       const std::array<float, head_score_count>& scores,
                                       const LabelThresholds& from) {
    const HeadScoreInfo* best = nullptr;
    float largest = 0;
    for (const HeadScoreInfo& info : head_scores()) {
        const auto at = static_cast<std::size_t>(info.score);
        if (info.label.text.empty() || !metrics.has(info.score) || scores[at] < from[at])
            continue;
        const float factor = scores[at] / std::max(from[at], 1e-6F);
        if (best == nullptr || factor > largest ||
            (factor == largest && info.label.rank < best->label.rank)) {
            best = &info;
            largest = factor;
        }
    }
    return best == nullptr ? std::nullopt : std::optional(best->score);
}

/// The label of what remains beside the first key, which takes most; none where that has no pattern.
std::optional<HeadScore> label_beside(const HeadMetrics& metrics, const LabelThresholds& from) {
    const auto label = largest_claim(metrics, metrics.beside, from);
    return label && metrics.beside[static_cast<std::size_t>(*label)] > 0 ? label : std::nullopt;
}

void set_label(HeadMetrics& metrics) {
    metrics.labelled = label_of(metrics);
    metrics.beside_first = is_beside_first(metrics);
}

/// `skip(i)`: row i may attend to nothing.
template<class Skip>
HeadMetrics metrics_of(const float* weights, std::int64_t Tq, std::int64_t Tk, const HeadTokens& tokens,
                       const KeyFacts& keys, const Skip& skip) {
    RowMetrics metrics(Tq, Tk, tokens, keys);
    for (std::int64_t i = 0; i < Tq; ++i)
        if (!skip(i))
            metrics.add(i, {weights + i * Tk, static_cast<std::size_t>(Tk)});
    return metrics.result();
}

} // namespace

RowMetrics::RowMetrics(std::int64_t Tq, std::int64_t Tk, const HeadTokens& tokens, KeyFacts keys)
    : keys_(std::move(keys)), hide_first_(tokens.hide_first),
      looks_beside_(!tokens.hide_first && score_applies(HeadScore::first, Tq, Tk, tokens.same)) {
    sums_.reserve(head_score_count);
    for (const HeadScoreInfo& info : head_scores())
        if (can_measure(info, tokens) && score_applies(info.score, Tq, Tk, tokens.same))
            sums_.push_back({&info, {}});
}

void RowMetrics::add(std::int64_t i, std::span<const float> weights) {
    // Of a causal map the rows 0 and 1 have at most their own token beside the first: that says nothing.
    const bool looks_beside = looks_beside_ && i >= 2;
    const float remains = looks_beside || hide_first_ ? view_of(weights.subspan(1)).sum() : 0.0F;
    if (hide_first_) {
        if (!(remains > nothing_left))
            return;
        row_.assign(weights.begin(), weights.end());
        row_.front() = 0;
        for (float& weight : row_)
            weight /= remains;
        weights = row_;
    }
    const WeightRow row{weights, i, keys_};
    for (Sum& of : sums_) {
        const RowPart part = of.info->part(row);
        of.sum.value += part.value;
        of.sum.weight += part.weight;
        if (!looks_beside || of.info->label.text.empty() || of.info->score == HeadScore::first ||
            part.weight == 0)
            continue;
        of.rows_beside += 1;
        if (remains < least_beside)
            continue;
        of.beside.value += (part.value - part_on_first(*of.info, row)) / static_cast<double>(remains);
        of.beside.weight += 1;
    }
}

HeadMetrics RowMetrics::result() const {
    HeadMetrics metrics;
    for (const auto& [info, sum, beside, rows_beside] : sums_) {
        const double mean = sum.weight > 0 ? sum.value / sum.weight : 0.0;
        metrics.set(info->score, static_cast<float>(info->of_mean == nullptr ? mean : info->of_mean(mean)));
        if (beside.weight >= std::max(least_rows_beside, rows_beside / 2))
            metrics.beside[static_cast<std::size_t>(info->score)] =
                static_cast<float>(beside.value / beside.weight);
    }
    set_label(metrics);
    return metrics;
}

const LabelThresholds& usual_thresholds() {
    static const LabelThresholds all = [] {
        LabelThresholds from{};
        for (const HeadScoreInfo& info : head_scores())
            from[static_cast<std::size_t>(info.score)] = info.label.from;
        return from;
    }();
    return all;
}

std::optional<HeadScore> label_of(const HeadMetrics& metrics, const LabelThresholds& from) {
    const auto label = largest_claim(metrics, metrics.scores, from);
    return label == HeadScore::first ? label_beside(metrics, from).value_or(HeadScore::first) : label;
}

bool is_beside_first(const HeadMetrics& metrics, const LabelThresholds& from) {
    return largest_claim(metrics, metrics.scores, from) == HeadScore::first &&
           label_beside(metrics, from).has_value();
}

KeyFacts key_facts(const HeadTokens& tokens) {
    return {.ends = keys_that(tokens.keys, ends_text),
            .special = keys_that(tokens.keys, text::is_special_token),
            .punctuation = keys_that(text::readable_tokens(tokens.keys), is_all_punctuation),
            .before = tokens.ids.empty() ? same_before(tokens.keys) : same_before(tokens.ids),
            .repeated = tokens.repeated,
            .padding = tokens.padding};
}

double entropy_of(std::span<const float> row) {
    double entropy = 0;
    for (const float weight : row)
        if (weight > 0 && std::isfinite(weight))
            entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
    return entropy;
}

HeadMetrics head_metrics(const Trace& trace, std::int64_t b, std::int64_t h, const HeadTokens& tokens,
                         const KeyFacts& keys) {
    const Tensor& weights = *trace.stage(TensorId::weights);
    HeadMetrics metrics =
        metrics_of(weights.data() + weights.offset(b, h, 0, 0), trace.dims.Tq, trace.dims.Tk, tokens, keys,
                   [&](std::int64_t i) {
                       return std::ranges::binary_search(
                           trace.fully_masked, std::tuple(b, h, i), {},
                           [](const MaskedRow& row) { return std::tuple(row.b, row.h, row.i); });
                   });
    if (trace.stage(TensorId::contributions) != nullptr)
        metrics.output_norm = norm_of_contribution(trace, b, h);
    return metrics;
}

double norm_of_contribution(const Trace& trace, std::int64_t b, std::int64_t h) {
    // In double precision neither the squares nor the sum of float32 numbers overflow.
    const Tensor& contributions = *trace.stage(TensorId::contributions);
    return Eigen::Map<const Eigen::VectorXf>(contributions.data() + contributions.offset(b, h, 0, 0),
                                             trace.dims.Tq * trace.dims.D)
        .cast<double>()
        .norm();
}

void set_shares(std::span<HeadMetrics> heads) {
    const double total = std::transform_reduce(heads.begin(), heads.end(), 0.0, std::plus<>(),
                                               [](const HeadMetrics& m) { return m.output_norm; });
    for (HeadMetrics& m : heads)
        m.set(HeadScore::share, total > 0 ? static_cast<float>(m.output_norm / total) : 0.0F);
}

std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b, std::vector<HeadMetrics> before,
                                      const HeadTokens& tokens) {
    const HeadTokens of_trace{.keys = entry_of(tokens.keys, b, trace.dims.Tk),
                              .ids = entry_of(tokens.ids, b, trace.dims.Tk),
                              .same = tokens.same && (!trace.parts.cross || trace.parts.latent),
                              .repeated = tokens.repeated,
                              .hide_first = tokens.hide_first};
    const KeyFacts keys = key_facts(of_trace);
    std::vector<HeadMetrics> all = std::move(before);
    const bool afresh = static_cast<std::int64_t>(all.size()) != trace.dims.H;
    if (afresh)
        all.assign(static_cast<std::size_t>(trace.dims.H), {});
    const bool contributed = trace.stage(TensorId::contributions) != nullptr;
    for (std::int64_t h = 0; h < trace.dims.H; ++h) {
        HeadMetrics& m = all[static_cast<std::size_t>(h)];
        const double norm = m.output_norm;
        if (afresh || trace.computed.has(TensorId::weights, h)) {
            m = head_metrics(trace, b, h, of_trace, keys);
            if (!contributed)
                m.output_norm = norm;
        } else if (contributed && trace.computed.has(TensorId::contributions, h)) {
            m.output_norm = norm_of_contribution(trace, b, h);
        }
    }
    if (contributed || std::ranges::any_of(all, [](const HeadMetrics& m) { return m.output_norm > 0; }))
        set_shares(all);
    return all;
}

std::vector<HeadMetrics> head_metrics(const Problem& problem, const Trace& trace, std::int64_t b,
                                      std::vector<HeadMetrics> before) {
    return head_metrics(trace, b, std::move(before),
                        {.keys = problem.cross() ? problem.kv_tokens : problem.tokens});
}

HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk,
                         const HeadTokens& tokens) {
    return metrics_of(weights.data(), Tq, Tk, tokens, key_facts(tokens), [&](std::int64_t i) {
        const float* row = weights.data() + i * Tk;
        return std::all_of(row, row + Tk, [](float value) { return value == 0.0F; });
    });
}

HeadMetrics mean_of(std::span<const HeadMetrics> texts) {
    const auto mean = [&](const auto& number) {
        return std::transform_reduce(texts.begin(), texts.end(), 0.0, std::plus<>(), number) /
               static_cast<double>(texts.size());
    };
    HeadMetrics all;
    for (const HeadScoreInfo& info : head_scores())
        if (texts.front().has(info.score))
            all.set(info.score, static_cast<float>(mean([&](const HeadMetrics& text) {
                        return static_cast<double>(text[info.score]);
                    })));
    for (std::size_t s = 0; s < head_score_count; ++s)
        all.beside[s] = static_cast<float>(
            mean([&](const HeadMetrics& text) { return static_cast<double>(text.beside[s]); }));
    all.output_norm = mean([](const HeadMetrics& text) { return text.output_norm; });
    set_label(all);
    return all;
}

} // namespace headscope::analysis
