#include "core/analysis/checkpoints/head_change.h"

#include "core/analysis/checkpoints/parameter_difference.h"
#include "core/analysis/pool.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

namespace headscope::analysis {

namespace {

/// Adds whole rows of differences, from row `first` on, to the map.
void pool_differences(AttentionDifference& map, std::span<const float> rows, std::int64_t first,
                      std::int64_t Tq, std::int64_t Tk) {
    const std::int64_t end = first + std::ssize(rows) / Tk;
    for (std::int64_t r = 0; r < map.rows; ++r) {
        const CellRun down = cells_under(r, map.rows, Tq);
        for (std::int64_t i = std::max(down.begin, first); i < std::min(down.end, end); ++i) {
            const std::span<const float> row =
                rows.subspan(static_cast<std::size_t>((i - first) * Tk), static_cast<std::size_t>(Tk));
            for (std::int64_t c = 0; c < map.cols; ++c) {
                const CellRun across = cells_under(c, map.cols, Tk);
                float& pixel = map.largest[static_cast<std::size_t>(r * map.cols + c)];
                for (std::int64_t j = across.begin; j < across.end; ++j)
                    if (const float value = row[static_cast<std::size_t>(j)];
                        std::abs(value) > std::abs(pixel))
                        pixel = value;
            }
        }
    }
}

/// Calls `take(first, differences)` for whole rows of B - A, (Tq, Tk) each, from the first row to the last.
/// read_a, read_b: (part, numbers), as AttentionSet::read_part.
template<class ReadA, class ReadB, class Take>
void for_difference_rows(std::int64_t Tq, std::int64_t Tk, const ReadA& read_a, const ReadB& read_b,
                         const Progress& progress, const Take& take) {
    constexpr std::int64_t at_once = std::int64_t{1} << 22U; // numbers
    const std::int64_t most = std::clamp<std::int64_t>(at_once / Tk, 1, Tq);
    std::vector<float> from(static_cast<std::size_t>(most * Tk)), to(from.size());
    for (std::int64_t first = 0; first < Tq; first += most) {
        progress.check();
        const MapPart part{first, 0, std::min(most, Tq - first), Tk};
        const auto size = static_cast<std::size_t>(part.rows * Tk);
        const std::span<float> a = std::span(from).first(size), b = std::span(to).first(size);
        read_a(part, a);
        read_b(part, b);
        std::ranges::transform(b, a, b.begin(), std::minus<>());
        take(first, std::span<const float>(b));
    }
}

double absolute_sum(std::span<const float> numbers) {
    double sum = 0;
    for (const float number : numbers)
        sum += std::abs(static_cast<double>(number));
    return sum;
}

/// Of head h of attention n in two runs.
double mean_absolute_change(const checkpoint::ModelRun& a, const checkpoint::ModelRun& b, std::int64_t n,
                            std::int64_t h, const Progress& progress) {
    const AttentionInfo& info = a.info(attention_place(a.model().config(), n).stack);
    const auto read = [n, h](const checkpoint::ModelRun& run) {
        return [&run, n, h](const MapPart& part, std::span<float> to) { run.read_weights(n, h, part, to); };
    };
    double sum = 0;
    for_difference_rows(info.Tq, info.Tk, read(a), read(b), progress,
                        [&](std::int64_t, std::span<const float> rows) { sum += absolute_sum(rows); });
    return sum / static_cast<double>(info.Tq * info.Tk);
}

std::vector<std::optional<double>> parameter_changes(const checkpoint::Model& model,
                                                     const checkpoint::ModelEdits& edits, std::int64_t n) {
    const checkpoint::ModelConfig& config = model.config();
    const checkpoint::LayerEdits* const changed = checkpoint::edits_of(edits, n);
    const auto H = static_cast<std::size_t>(in_stack(config, attention_place(config, n).stack).H);
    std::vector<std::optional<double>> relative(H, 0.0);
    if (changed == nullptr || changed->tensors.empty())
        return relative;
    const checkpoint::WeightSet own = model.layer(n);
    std::ranges::transform(head_differences(config, n, own, checkpoint::with_edits(own, changed)),
                           relative.begin(),
                           [](const HeadDifference& head) { return head.all().relative(); });
    return relative;
}

} // namespace

AttentionDifference attention_difference(const AttentionSet& a, const AttentionSet& b, std::int64_t l,
                                         std::int64_t h, std::int64_t side, const Progress& progress) {
    const AttentionInfo& info = a.info();
    AttentionDifference out;
    out.rows = std::min(info.Tq, side);
    out.cols = std::min(info.Tk, side);
    out.largest.assign(static_cast<std::size_t>(out.rows * out.cols), 0.0F);
    double sum = 0;
    const auto read = [l, h](const AttentionSet& set) {
        return [&set, l, h](const MapPart& part, std::span<float> to) { set.read_part(l, h, part, to); };
    };
    for_difference_rows(info.Tq, info.Tk, read(a), read(b), progress,
                        [&](std::int64_t first, std::span<const float> rows) {
                            sum += absolute_sum(rows);
                            pool_differences(out, rows, first, info.Tq, info.Tk);
                        });
    out.mean_absolute = sum / static_cast<double>(info.Tq * info.Tk);
    return out;
}

std::vector<HeadChange> head_changes(const checkpoint::ModelRunPtr& a, const checkpoint::ModelRunPtr& b,
                                     Progress& progress) {
    if (!(a->inputs() == b->inputs()))
        fail_input(tr("head_change.other_tokens",
                      "the two runs are over different tokens; compare runs over one text"));
    const checkpoint::ModelConfig& config = a->model().config();
    const std::int64_t count = attention_count(config),
                       first = checkpoint::first_difference(a->edits(), b->edits(), count);
    std::vector<HeadChange> all;
    for (std::int64_t n = 0; n < count; ++n) {
        progress.check();
        const checkpoint::AttentionPlace place = attention_place(config, n);
        if (!has_attention(config, place))
            continue;
        const std::vector<std::optional<double>> parameters = parameter_changes(a->model(), b->edits(), n);
        for (std::size_t h = 0; h < parameters.size(); ++h) {
            const auto head = static_cast<std::int64_t>(h);
            all.push_back({.place = place,
                           .head = head,
                           .parameters = parameters[h],
                           .attention = n < first ? 0.0 : mean_absolute_change(*a, *b, n, head, progress)});
        }
        progress.report(static_cast<float>(n + 1) / static_cast<float>(count));
    }
    return all;
}

} // namespace headscope::analysis
