#include "core/checkpoint/run/longer_text.h"

#include "core/checkpoint/model/rope.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

/// (1, T, D) from (1, t, D) and the (1, T - t, D) behind them.
TensorPtr with_rows(const Tensor& before, const Tensor& behind) {
    const std::int64_t T = before.shape()[1] + behind.shape()[1];
    auto out = std::make_shared<Tensor>(Shape{1, T, before.shape()[2]});
    std::ranges::copy(behind.values(), std::ranges::copy(before.values(), out->data()).out);
    return out;
}

/// (1, H, T, T) from (1, H, t, t) and the rows of the later queries, (1, H, T - t, T); the earlier ones give
/// 0 to later keys.
TensorPtr with_queries(const Tensor& before, const Tensor& behind) {
    const std::int64_t H = before.shape()[1], t = before.shape()[2], T = behind.shape()[3];
    auto out = std::make_shared<Tensor>(Shape{1, H, T, T});
    float* to = out->data();
    for (std::int64_t h = 0; h < H; ++h) {
        for (std::int64_t i = 0; i < t; ++i, to += T)
            std::fill(std::copy_n(before.data() + before.offset(0, h, i, 0), t, to), to + T, 0.0F);
        to = std::copy_n(behind.data() + behind.offset(0, h, 0, 0), (T - t) * T, to);
    }
    return out;
}

} // namespace

bool goes_on(const Architecture& architecture, const ModelInputs& shorter, const ModelInputs& longer) {
    const auto plain = [](const ModelInputs& inputs) {
        return inputs.B == 1 && inputs.T > 0 && inputs.attention_mask.empty() && inputs.token_types.empty() &&
               inputs.source.empty();
    };
    return architecture.causal && architecture.encoder == nullptr && plain(shorter) && plain(longer) &&
           longer.T > shorter.T && std::equal(shorter.ids.begin(), shorter.ids.end(), longer.ids.begin()) &&
           !angles_change(architecture, shorter.T, longer.T);
}

LongerText run_behind(const KnownText& known, const ForwardPass& rest, const ModelEdits& edits,
                      std::vector<cpu::KeyValueCache>& caches, std::size_t kept_bytes, cpu::CpuEngine& engine,
                      cpu::CpuDense& cpu, Progress& progress) {
    const StageSet output = StageSet().with(TensorId::output);
    std::size_t room = kept_bytes;
    Streams behind;
    LongerText out;
    rest.run(
        cpu, behind,
        [&](std::int64_t n, const Problem& problem) {
            const auto at = static_cast<std::size_t>(n);
            cpu::KeyValueCache& cache = caches[at];
            if (cache.rows() != known.t) {
                cache.truncate(0);
                engine.extend(with_edits(known.pass.problem(cpu, n, known.streams), edits_of(edits, n)),
                              cache, output, progress);
            }
            const Dims& dims = problem.dims;
            const auto bytes = sizeof(float) * static_cast<std::size_t>(dims.H * dims.Tk * dims.Tk);
            const bool keep = known.weights[at] != nullptr && bytes <= room;
            Trace trace =
                engine.extend(problem, cache, keep ? output.with(TensorId::weights) : output, progress);
            room -= keep ? bytes : 0;
            out.weights.push_back(keep ? with_queries(*known.weights[at], *trace.stage(TensorId::weights))
                                       : nullptr);
            return trace.slot(TensorId::output);
        },
        progress);
    for (std::size_t s = 0; s < behind.own.size(); ++s)
        out.streams.push_back(with_rows(*known.streams.own[s], *behind.own[s]));
    return out;
}

} // namespace headscope::checkpoint
