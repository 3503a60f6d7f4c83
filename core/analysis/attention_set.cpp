#include "core/analysis/attention_set.h"

#include "core/analysis/heads/mean_weights.h"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>

namespace headscope::analysis {

std::string layer_name(const AttentionInfo& info, std::int64_t l) {
    if (l >= info.own_layers())
        return "mean";
    if (info.axis == SetAxis::one)
        return "";
    return (info.axis == SetAxis::layers ? "L" : "B") +
           std::to_string(info.numbers[static_cast<std::size_t>(l)]);
}

std::string head_column(const AttentionInfo& info, std::int64_t h) {
    return h < info.own_heads() ? "H" + std::to_string(h) : info.made_head;
}

std::string head_name(const AttentionInfo& info, std::int64_t l, std::int64_t h) {
    if (info.axis == SetAxis::one)
        return head_column(info, h);
    if (l < info.own_layers())
        return layer_name(info, l) + " " + head_column(info, h);
    return h < info.own_heads() ? head_column(info, h) + " mean" : "mean of all";
}

Trace attention_trace(const AttentionSet& set, std::int64_t l, Progress& progress) {
    using Row = Eigen::Map<const Eigen::ArrayXf>;
    const auto start = std::chrono::steady_clock::now();
    const AttentionInfo& info = set.info();
    progress.check();
    const TensorPtr weights = set.layer(l);
    Trace trace;
    trace.dims = {.B = 1, .Tq = info.Tq, .Tk = info.Tk, .H = info.H, .Hkv = info.H};
    auto mean = std::make_shared<Tensor>(Shape{1, info.Tq, info.Tk}, 0.0F);
    MeanWeights over_heads(info.Tq, info.Tk);
    for (std::int64_t h = 0; h < info.H; ++h) {
        progress.check();
        const float* head = weights->data() + weights->offset(0, h, 0, 0);
        if (h < info.own_heads())
            over_heads.add({head, static_cast<std::size_t>(mean->count())});
        for (std::int64_t i = 0; i < info.Tq; ++i)
            if ((Row(head + i * info.Tk, info.Tk) == 0.0F).all())
                trace.fully_masked.push_back({0, h, i});
    }
    over_heads.write(mean->values());
    trace.slot(TensorId::weights) = weights;
    trace.slot(TensorId::weights_mean) = std::move(mean);
    trace.device = "file";
    trace.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return trace;
}

} // namespace headscope::analysis
