#include "core/engine/cpu/long_map.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/cpu/head_scores.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/row_runs.h"
#include "core/engine/head_projection.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

namespace headscope::cpu {

namespace {

constexpr std::int64_t rows_at_once = 48;      ///< in one task of a rectangle
constexpr std::int64_t rows_of_bands = 4 * 48; ///< that share each read of a key, in an overview

} // namespace

struct LongMap::State {
    std::shared_ptr<CpuMachine> machine;
    TensorPtr queries; ///< owns the data that `scores` reads
    HeadScores scores;
    /// Softmax parameters of each row, and flags of the rows that were read. A row belongs to one thread at a
    /// time.
    std::vector<RowSoftmax> softmax;
    std::vector<std::uint8_t> known;

    std::int64_t threads() const { return machine->pool.threads(); }

    /// Reads the rows in runs of `cells` keys, and caches their softmax parameters.
    void read(RowRuns& runs, std::int64_t first, std::int64_t rows, std::int64_t cells,
              const Progress& cancel) {
        runs.read(scores, first, rows, cells, cancel);
        std::copy_n(runs.softmax(), rows, softmax.begin() + first);
        std::fill_n(known.begin() + first, rows, std::uint8_t{1});
    }
    void read_if_new(RowRuns& runs, std::int64_t first, std::int64_t rows, const Progress& cancel) {
        if (std::find(known.begin() + first, known.begin() + first + rows, 0) != known.begin() + first + rows)
            read(runs, first, rows, keys_at_once, cancel);
    }
    /// The range [begin, end) of the keys that any of the rows may attend to.
    std::pair<std::int64_t, std::int64_t> keys_of(std::int64_t first, std::int64_t rows) const {
        std::int64_t begin = scores.dims().Tk, end = 0;
        for (std::int64_t i = first; i < first + rows; ++i)
            if (const MaskRow mask = scores.mask(i); mask.begin < mask.end) {
                begin = std::min(begin, mask.begin);
                end = std::max(end, mask.end);
            }
        return {begin, end};
    }
    void pool_rows(const MapPart& part, std::int64_t first, std::int64_t count, std::int64_t cells,
                   Pooling pooling, float* tile, float* out) const;
};

LongMap::LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
                 std::shared_ptr<CpuMachine> machine, Progress& progress)
    : problem_(problem) {
    validate(problem_);
    const Dims& d = problem_.dims;
    engine::check_head(d, b, h);
    // The queries, the keys, a packed copy of the keys, and the products with relative positions.
    require_map_memory(static_cast<std::uint64_t>(d.dk) * static_cast<std::uint64_t>(d.Tq + 2 * d.Tk) +
                           static_cast<std::uint64_t>(d.distances) * static_cast<std::uint64_t>(d.Tq + d.Tk) +
                           rows_at_once * static_cast<std::uint64_t>(machine->pool.threads() * keys_at_once),
                       tr("common.take_fewer_tokens", "take fewer tokens"));
    const Kernels& kernels = machine->kernels;
    engine::ProjectedHead head = engine::project_head(problem_, b, h, projections, progress);
    const Block queries = block_of(head.queries, d), keys = block_of(head.keys, d);
    state_.reset(new State{.machine = std::move(machine),
                           .queries = std::move(head.queries.tensor),
                           .scores = HeadScores(kernels, problem_, b, h, queries, keys),
                           .softmax = std::vector<RowSoftmax>(static_cast<std::size_t>(d.Tq)),
                           .known = std::vector<std::uint8_t>(static_cast<std::size_t>(d.Tq), 0)});
}

LongMap::~LongMap() = default;

/// Pools rows [first, first + count) of the part, at most rows_at_once, whose softmax is known. `out` is the
/// row of pixels that row `first` belongs to; for a mean it receives sums.
void LongMap::State::pool_rows(const MapPart& part, std::int64_t first, std::int64_t count,
                               std::int64_t cells, Pooling pooling, float* tile, float* out) const {
    const std::int64_t width = divide_rounding_up(part.cols, cells), row = part.row + first;
    const auto [begin, stop] = keys_of(row, count);
    const std::int64_t end = std::min(part.col + part.cols, stop), panel = scores.kernels().panel;
    for (std::int64_t col = std::max(part.col, begin) / panel * panel; col < end; col += keys_at_once) {
        const std::int64_t keys = std::min(keys_at_once, end - col), from = std::max(col, part.col);
        scores.weights({row, count, col, keys}, softmax.data() + row, tile, keys_at_once);
        for (std::int64_t r = 0; r < count; ++r) {
            const float* const weights = tile + r * keys_at_once - col;
            float* const pixels = out + ((first + r) / cells - first / cells) * width;
            if (cells == 1) {
                std::copy(weights + from, weights + col + keys, pixels + from - part.col);
                continue;
            }
            for (std::int64_t j = from; j < col + keys;) {
                const std::int64_t pixel = (j - part.col) / cells;
                const std::int64_t next = std::min(col + keys, part.col + (pixel + 1) * cells);
                if (pooling == Pooling::max)
                    pixels[pixel] = std::max(pixels[pixel], scores.kernels().largest(weights + j, next - j));
                else
                    pixels[pixel] += std::reduce(weights + j, weights + next, 0.0F);
                j = next;
            }
        }
    }
}

Tensor LongMap::pooled(const MapPart& part, std::int64_t cells, Pooling pooling, Progress& progress) const {
    check_part(rows(), cols(), part);
    const std::int64_t height = divide_rounding_up(part.rows, cells),
                       width = divide_rounding_up(part.cols, cells);
    require_map_memory(
        static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width),
        tr("common.take_smaller_rectangle_overview", "take a smaller rectangle, or an overview"));
    Tensor out(Shape{height, width}, 0.0F);
    // A task has whole rows of pixels, and enough queries for the kernels.
    const std::int64_t pixels = divide_rounding_up(rows_at_once, cells),
                       tasks = divide_rounding_up(height, pixels);
    const std::int64_t flops = 2 * part.rows * part.cols * problem_.dims.dk;
    const auto threads = static_cast<std::size_t>(state_->threads());
    std::vector<RowRuns> runs(threads);
    std::vector<std::vector<float>> tiles(threads);
    std::atomic<std::int64_t> done{0};
    state_->machine->for_tasks(progress, tasks, flops, [&](std::int64_t task, int worker) {
        const auto own = static_cast<std::size_t>(worker);
        tiles[own].resize(static_cast<std::size_t>(rows_at_once * keys_at_once));
        const std::int64_t end = std::min(part.rows, (task + 1) * pixels * cells);
        for (std::int64_t i = task * pixels * cells; i < end; i += rows_at_once) {
            progress.check();
            const std::int64_t count = std::min(rows_at_once, end - i);
            const auto [begin, stop] = state_->keys_of(part.row + i, count);
            if (begin >= part.col + part.cols || stop <= part.col)
                continue; // fully masked
            state_->read_if_new(runs[own], part.row + i, count, progress);
            state_->pool_rows(part, i, count, cells, pooling, tiles[own].data(),
                              out.data() + i / cells * width);
        }
        for (std::int64_t row = task * pixels; pooling == Pooling::mean && row * cells < end; ++row)
            for (std::int64_t col = 0; col < width; ++col)
                out.at(row, col) /= static_cast<float>(std::min(cells, part.rows - row * cells) *
                                                       std::min(cells, part.cols - col * cells));
        progress.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    return out;
}

std::vector<MapBand> LongMap::bands(std::span<const std::int64_t> which, std::int64_t cells,
                                    Progress& progress) const {
    const std::int64_t held = state_->threads() * rows_at_once * RowRuns::numbers;
    require_map_memory(
        static_cast<std::uint64_t>(divide_rounding_up(cols(), cells)) *
            static_cast<std::uint64_t>(held + 2 * std::ssize(which)),
        tr("common.take_fewer_pixels_command", "take fewer pixels (on the command line --overview)"));
    std::vector<MapBand> out(which.size());
    // A task has enough queries for the kernels if its bands are adjacent.
    const std::int64_t group = divide_rounding_up(rows_of_bands, cells), count = std::ssize(which);
    const std::int64_t tasks = divide_rounding_up(count, group),
                       flops = 2 * count * cells * cols() * problem_.dims.dk;
    std::vector<RowRuns> runs(static_cast<std::size_t>(state_->threads()));
    std::atomic<std::int64_t> done{0};
    state_->machine->for_tasks(progress, tasks, flops, [&](std::int64_t task, int worker) {
        const std::int64_t last = std::min(count, (task + 1) * group);
        for (std::int64_t n = task * group; n < last;) {
            std::int64_t next = n + 1;
            while (next < last &&
                   which[static_cast<std::size_t>(next)] == which[static_cast<std::size_t>(next - 1)] + 1)
                ++next;
            make_bands(which.subspan(static_cast<std::size_t>(n), static_cast<std::size_t>(next - n)), cells,
                       runs[static_cast<std::size_t>(worker)], out.data() + n, progress);
            n = next;
        }
        progress.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    return out;
}

/// Computes adjacent bands.
void LongMap::make_bands(std::span<const std::int64_t> which, std::int64_t cells, RowRuns& runs, MapBand* out,
                         const Progress& cancel) const {
    const std::int64_t width = divide_rounding_up(cols(), cells), first = which.front() * cells;
    const std::int64_t end = std::min(rows(), (which.back() + 1) * cells);
    std::vector<double> sums(which.size() * static_cast<std::size_t>(width));
    for (std::size_t n = 0; n < which.size(); ++n)
        out[n].largest.assign(static_cast<std::size_t>(width), 0.0F);
    for (std::int64_t i = first; i < end; i += rows_of_bands) {
        const std::int64_t count = std::min(rows_of_bands, end - i);
        state_->read(runs, i, count, cells, cancel);
        for (std::int64_t r = 0; r < count; ++r) {
            const std::int64_t band = (i + r - first) / cells;
            runs.add_largest(r, out[band].largest.data());
            runs.add_sums(r, sums.data() + band * width);
        }
    }
    const double* sum = sums.data();
    for (std::size_t n = 0; n < which.size(); ++n) {
        const std::int64_t queries = std::min(cells, rows() - which[n] * cells);
        out[n].mean.resize(static_cast<std::size_t>(width));
        for (std::int64_t col = 0; col < width; ++col)
            out[n].mean[static_cast<std::size_t>(col)] = static_cast<float>(
                *sum++ / static_cast<double>(queries * std::min(cells, cols() - col * cells)));
    }
}

} // namespace headscope::cpu
