#include "core/analysis/attention_set.h"

#include "core/analysis/heads/mean_weights.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <chrono>

namespace headscope::analysis {

std::string layer_name(const AttentionInfo& info, std::int64_t l) {
    if (l >= info.own_layers())
        // Translators: the average
        return tr("common.mean_2", "mean");
    if (info.axis == SetAxis::one)
        return "";
    return (info.axis == SetAxis::layers ? "L" : "B") +
           std::to_string(info.numbers[static_cast<std::size_t>(l)]);
}

std::string head_column(const AttentionInfo& info, std::int64_t h) {
    return h < info.own_heads() ? "H" + std::to_string(h) : tr(info.made_head);
}

std::string head_name(const AttentionInfo& info, std::int64_t l, std::int64_t h) {
    if (info.axis == SetAxis::one)
        return head_column(info, h);
    if (l < info.own_layers())
        return layer_name(info, l) + " " + head_column(info, h);
    // Translators: {} is the name of a head
    return h < info.own_heads() ? tr("attention_set.mean", "{} mean", head_column(info, h))
                                : tr("attention_set.mean_all", "mean of all");
}

Trace attention_trace(const AttentionSet& set, std::int64_t l, Progress& progress,
                      const std::vector<std::int64_t>& heads, bool mean) {
    const auto start = std::chrono::steady_clock::now();
    const AttentionInfo& info = set.info();
    progress.check();
    const auto cells = static_cast<std::size_t>(info.Tq * info.Tk);
    const auto some = heads.empty() ? nullptr : std::make_shared<Tensor>(Shape{1, info.H, info.Tq, info.Tk});
    const TensorPtr weights = some == nullptr ? set.layer(l) : some;
    Trace trace;
    trace.dims = {.B = 1, .Tq = info.Tq, .Tk = info.Tk, .H = info.H, .Hkv = info.H};
    MeanWeights over_heads(mean ? info.Tq : 0, info.Tk);
    std::vector<float> room; // for a head that only the mean needs
    for (std::int64_t h = 0; h < info.H; ++h) {
        progress.check();
        const bool kept = heads.empty() || std::ranges::binary_search(heads, h);
        if (!kept && (!mean || h >= info.own_heads()))
            continue;
        if (!kept)
            room.resize(cells);
        const auto place = static_cast<std::size_t>(h) * cells;
        if (some != nullptr)
            set.read_head(l, h, kept ? some->values().subspan(place, cells) : std::span(room));
        const std::span<const float> head =
            kept ? weights->values().subspan(place, cells) : std::span<const float>(room);
        if (mean && h < info.own_heads())
            over_heads.add(head);
        for (std::int64_t i = 0; i < info.Tq; ++i)
            if ((ConstNumbers(head.data() + i * info.Tk, info.Tk) == 0.0F).all())
                trace.fully_masked.push_back({0, h, i});
    }
    trace.slot(TensorId::weights) = weights;
    if (mean) {
        auto averaged = std::make_shared<Tensor>(Shape{1, info.Tq, info.Tk});
        over_heads.write(averaged->values());
        trace.slot(TensorId::weights_mean) = std::move(averaged);
    }
    trace.device = "file";
    trace.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return trace;
}

} // namespace headscope::analysis
