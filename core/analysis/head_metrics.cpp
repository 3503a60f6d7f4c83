#include "core/analysis/head_metrics.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace headscope::analysis {

namespace {

constexpr float label_from = 0.5F; ///< a head is called by a pattern that holds at least half of its weight

/// An average over the rows that have the cell in question.
struct Average {
    double sum = 0;
    int count = 0;
    void add(float value) {
        sum += static_cast<double>(value);
        ++count;
    }
    float value() const { return count == 0 ? 0.0F : static_cast<float>(sum / count); }
};

float entropy_of(const float* row, std::int64_t count) {
    double entropy = 0;
    for (std::int64_t j = 0; j < count; ++j)
        if (row[j] > 0)
            entropy -= static_cast<double>(row[j]) * std::log(static_cast<double>(row[j]));
    return static_cast<float>(entropy);
}

std::string label_of(const HeadMetrics& m) {
    struct Named {
        float score;
        const char* name;
    };
    const std::array named{Named{m.previous_token, "previous token"}, Named{m.next_token, "next token"},
                           Named{m.itself, "itself"}, Named{m.first_token, "first token"}};
    const Named& best = *std::ranges::max_element(named, {}, &Named::score);
    return best.score >= label_from ? best.name : "";
}

/// `skip(i)`: row i may attend to nothing.
template<class Skip>
HeadMetrics metrics_of(const float* weights, std::int64_t Tq, std::int64_t Tk, const Skip& skip) {
    const bool square = Tq == Tk;
    Average entropy, largest, previous, next, itself, first;
    for (std::int64_t i = 0; i < Tq; ++i) {
        if (skip(i))
            continue;
        const float* row = weights + i * Tk;
        entropy.add(entropy_of(row, Tk));
        largest.add(*std::max_element(row, row + Tk));
        if (!square || Tq < 2)
            continue;
        itself.add(row[i]);
        if (i > 0) {
            previous.add(row[i - 1]);
            first.add(row[0]);
        }
        if (i + 1 < Tk)
            next.add(row[i + 1]);
    }
    HeadMetrics m;
    m.entropy = entropy.value();
    m.largest = largest.value();
    m.previous_token = previous.value();
    m.next_token = next.value();
    m.itself = itself.value();
    m.first_token = first.value();
    m.label = label_of(m);
    return m;
}

} // namespace

std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b) {
    return head_metrics(trace, b, {});
}

std::vector<HeadMetrics> head_metrics(const Trace& trace, std::int64_t b, std::vector<HeadMetrics> before) {
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
                           [&](std::int64_t i) {
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
        m.output_share = total > 0 ? static_cast<float>(m.output_norm / total) : 0.0F;
    return all;
}

HeadMetrics head_metrics(std::span<const float> weights, std::int64_t Tq, std::int64_t Tk) {
    return metrics_of(weights.data(), Tq, Tk, [&](std::int64_t i) {
        const float* row = weights.data() + i * Tk;
        return std::all_of(row, row + Tk, [](float value) { return value == 0.0F; });
    });
}

} // namespace headscope::analysis
