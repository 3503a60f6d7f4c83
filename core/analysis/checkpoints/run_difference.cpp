#include "core/analysis/checkpoints/run_difference.h"

#include "core/analysis/effects/logit_attribution.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace headscope::analysis {

namespace {

using checkpoint::ModelRun;

double mean_absolute_difference(std::span<const float> a, std::span<const float> b) {
    const double sum =
        std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), [](float from, float to) {
            return std::abs(static_cast<double>(to) - static_cast<double>(from));
        });
    return sum / static_cast<double>(a.size());
}

void compare_patterns(const ModelRun& a, const ModelRun& b, const Progress& cancel, RunDifference& out) {
    const checkpoint::ModelConfig& config = a.model().config();
    for (std::int64_t n = 0; n < attention_count(config); ++n) {
        cancel.check();
        const checkpoint::AttentionPlace place = attention_place(config, n);
        if (!has_attention(config, place))
            continue;
        const TensorPtr from = a.weights(n), to = b.weights(n);
        const std::int64_t H = from->shape()[1];
        const std::size_t size = from->values().size() / static_cast<std::size_t>(H);
        for (std::int64_t h = 0; h < H; ++h) {
            const std::size_t first = static_cast<std::size_t>(h) * size;
            out.heads.push_back({.place = place,
                                 .head = h,
                                 .pattern = mean_absolute_difference(from->values().subspan(first, size),
                                                                     to->values().subspan(first, size))});
        }
    }
}

void compare_effects(const ModelRun& a, const ModelRun& b, const Progress& cancel, RunDifference& out) {
    const LogitQuestion question{.position = a.inputs().T - 1, .token = out.token};
    const LogitAttribution from = logit_attribution(a, question, cancel),
                           to = logit_attribution(b, question, cancel);
    for (RunDifference::Head& head : out.heads) {
        if (head.place.stack == checkpoint::Stack::encoder)
            continue;
        const Writer writer{.kind = Writer::Kind::head,
                            .stack = head.place.stack,
                            .layer = head.place.layer,
                            .head = head.head};
        const auto part = [&](const LogitAttribution& all) {
            return sum_of_parts(all, [&](const Writer& one) { return one == writer; });
        };
        head.effect = part(to) - part(from);
    }
}

} // namespace

RunDifference run_difference(const ModelRun& a, const ModelRun& b, const Progress& cancel) {
    RunDifference out;
    compare_patterns(a, b, cancel, out);
    if (!a.model().has_head() || !b.model().has_head())
        return out;
    const TensorPtr from = a.logits_at(a.inputs().T - 1, cancel), to = b.logits_at(b.inputs().T - 1, cancel);
    out.next_a = checkpoint::likeliest(from->values(), 1).front();
    out.next_b = checkpoint::likeliest(to->values(), 1).front();
    out.token = out.next_a.id;
    out.divergence = checkpoint::compare_predictions(from->values(), to->values(), 0).kl;
    out.has_prediction = true;
    compare_effects(a, b, cancel, out);
    return out;
}

} // namespace headscope::analysis
