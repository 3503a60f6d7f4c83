#include "core/engine/cpu/long_map.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/engine/cpu/head_scores.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/row_runs.h"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <utility>

namespace headscope::cpu {

namespace {

using Matrix = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr std::int64_t rows_at_once = 48; ///< of one task of a rectangle, and of one block of an overview

std::int64_t in_steps(std::int64_t count, std::int64_t step) {
    return (count + step - 1) / step;
}

/// Columns, or rows, [first, first + count) of W; of a bias its numbers. Null for null.
TensorPtr part_of(const TensorPtr& W, std::int64_t first, std::int64_t count, bool columns) {
    if (W == nullptr)
        return nullptr;
    if (W->shape().rank() == 1)
        return make_tensor(Shape{count}, W->values().subspan(static_cast<std::size_t>(first),
                                                             static_cast<std::size_t>(count)));
    const std::int64_t rows = W->shape()[0], cols = W->shape()[1];
    if (!columns)
        return make_tensor(Shape{count, cols}, W->values().subspan(static_cast<std::size_t>(first * cols),
                                                                   static_cast<std::size_t>(count * cols)));
    auto part = std::make_shared<Tensor>(Shape{rows, count});
    Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        part->data(), rows, count) = Matrix(W->data(), rows, cols).middleCols(first, count);
    return part;
}

/// The problem whose queries and keys are those of head h: with this head alone, unless a norm joins all.
Problem projected(const Problem& problem, std::int64_t h) {
    Problem one = problem;
    const Dims& d = problem.dims;
    one.mask.clear();
    if (d.H == 1 || problem.parts().joint_norm)
        return one;
    const std::int64_t g = d.kv_head(h);
    Weights& w = one.weights;
    for (TensorPtr* const tensor : {&w.W_Q, &w.b_Q})
        *tensor = part_of(*tensor, h * d.dk, d.dk, true);
    for (TensorPtr* const tensor : {&w.W_K, &w.b_K})
        *tensor = part_of(*tensor, g * d.dk, d.dk, true);
    for (TensorPtr* const tensor : {&w.W_V, &w.b_V})
        *tensor = part_of(*tensor, g * d.dv, d.dv, true);
    w.W_O = part_of(w.W_O, h * d.dv, d.dv, false);
    w.sink = nullptr;
    one.gains.clear();
    one.dims.H = one.dims.Hkv = 1;
    return one;
}

void require(std::uint64_t numbers, const std::string& advice) {
    require_memory(numbers * sizeof(float), "this map", advice);
}

} // namespace

void check_head(const Dims& dims, std::int64_t b, std::int64_t h) {
    if (h < 0 || h >= dims.H)
        fail_input("there is no head " + std::to_string(h) + "; heads are numbered 0 to " +
                   std::to_string(dims.H - 1));
    if (b < 0 || b >= dims.B)
        fail_input("there is no batch entry " + std::to_string(b) + "; they are numbered 0 to " +
                   std::to_string(dims.B - 1));
}

void check_part(const Dims& dims, const MapPart& part) {
    const auto inside = [](std::int64_t first, std::int64_t count, std::int64_t extent) {
        return first >= 0 && count >= 1 && count <= extent && first <= extent - count;
    };
    if (!inside(part.row, part.rows, dims.Tq) || !inside(part.col, part.cols, dims.Tk))
        fail_input("rows " + std::to_string(part.row) + " to " + std::to_string(part.row + part.rows) +
                   " and columns " + std::to_string(part.col) + " to " +
                   std::to_string(part.col + part.cols) +
                   " are asked for; the map has (Tq, Tk) = " + Shape({dims.Tq, dims.Tk}).text());
}

struct LongMap::State {
    std::shared_ptr<CpuMachine> machine;
    TensorPtr queries; ///< what `scores` reads
    HeadScores scores;

    std::int64_t threads() const { return machine->pool.threads(); }
};

LongMap::LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
                 std::shared_ptr<CpuMachine> machine, Progress& progress)
    : problem_(problem) {
    validate(problem_);
    const Dims& d = problem_.dims;
    check_head(d, b, h);
    // The queries and keys, and the keys once more, packed.
    require(static_cast<std::uint64_t>(d.dk) * static_cast<std::uint64_t>(d.Tq + 2 * d.Tk) +
                rows_at_once * static_cast<std::uint64_t>(machine->pool.threads() * keys_at_once),
            "take fewer tokens");
    const Kernels& kernels = machine->kernels;
    const Problem one = projected(problem_, h);
    const std::int64_t head = one.dims.H == d.H ? h : 0;
    using enum TensorId;
    const bool columns = heads_are_columns(one.parts());
    const StageSet wanted = columns ? StageSet{}.with(q).with(k) : StageSet{}.with(q_heads).with(k_heads);
    Trace trace = projections.run(one, wanted, progress);
    const Block queries = query_rows(one, trace, b, head);
    const Block keys = key_rows(one, trace, b, one.dims.kv_head(head));
    state_.reset(new State{.machine = std::move(machine),
                           .queries = std::move(trace.slot(columns ? q : q_heads)),
                           .scores = HeadScores(kernels, problem_, b, h, queries, keys, 0)});
}

LongMap::~LongMap() = default;

Tensor LongMap::rectangle(const MapPart& part, Progress& progress) const {
    check_part(problem_.dims, part);
    const HeadScores& scores = state_->scores;
    const Kernels& kernels = scores.kernels();
    require(static_cast<std::uint64_t>(part.rows) * static_cast<std::uint64_t>(part.cols),
            "take a smaller rectangle, or an overview");
    Tensor weights(Shape{part.rows, part.cols});
    const std::int64_t tasks = in_steps(part.rows, rows_at_once), end = part.col + part.cols;
    const std::int64_t flops = 2 * part.rows * (cols() + part.cols) * problem_.dims.dk;
    std::vector<RowRuns> runs(static_cast<std::size_t>(state_->threads()));
    std::atomic<std::int64_t> done{0};
    state_->machine->for_tasks(progress, tasks, flops, [&](std::int64_t task, int worker) {
        RowRuns& own = runs[static_cast<std::size_t>(worker)];
        const std::int64_t first = task * rows_at_once, count = std::min(rows_at_once, part.rows - first);
        own.read(scores, part.row + first, count, keys_at_once, progress);
        for (std::int64_t col = part.col / kernels.panel * kernels.panel; col < end; col += keys_at_once) {
            const std::int64_t width = std::min(keys_at_once, end - col), from = std::max(col, part.col);
            scores.weights({part.row + first, count, col, width}, own.softmax(), own.tile(), keys_at_once);
            for (std::int64_t r = 0; r < count; ++r)
                std::copy_n(own.tile() + r * keys_at_once + (from - col), col + width - from,
                            weights.data() + weights.offset(first + r, from - part.col));
        }
        progress.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    return weights;
}

Overview LongMap::overview(std::int64_t most, Pooling pooling, Progress& progress) const {
    if (most < 1)
        fail_input("an overview of " + std::to_string(most) +
                   " pixels is asked for; it should have at least 1 pixel a side");
    const std::int64_t longest = std::max(rows(), cols());
    const std::int64_t cells = in_steps(longest, std::min(most, longest));
    const std::int64_t height = in_steps(rows(), cells), width = in_steps(cols(), cells);
    require(static_cast<std::uint64_t>(width) *
                static_cast<std::uint64_t>(height + state_->threads() * rows_at_once * RowRuns::numbers),
            "take fewer pixels (on the command line --overview)");
    Overview out{.pixels = Tensor(Shape{height, width}, 0.0F), .cells = cells};
    // A task has whole rows of pixels, and enough queries for the kernels.
    const std::int64_t pixels = in_steps(rows_at_once, cells), tasks = in_steps(height, pixels);
    const std::int64_t flops = 2 * rows() * cols() * problem_.dims.dk;
    std::vector<RowRuns> runs(static_cast<std::size_t>(state_->threads()));
    std::atomic<std::int64_t> done{0};
    state_->machine->for_tasks(progress, tasks, flops, [&](std::int64_t task, int worker) {
        RowRuns& own = runs[static_cast<std::size_t>(worker)];
        const std::int64_t end = std::min(rows(), (task + 1) * pixels * cells);
        std::vector<double> sums(static_cast<std::size_t>(pooling == Pooling::mean ? pixels * width : 0));
        for (std::int64_t i = task * pixels * cells; i < end; i += rows_at_once) {
            const std::int64_t count = std::min(rows_at_once, end - i);
            own.read(state_->scores, i, count, cells, progress);
            for (std::int64_t r = 0; r < count; ++r) {
                const std::int64_t pixel = (i + r) / cells;
                if (pooling == Pooling::max)
                    own.add_largest(r, out.pixels.data() + pixel * width);
                else
                    own.add_sums(r, sums.data() + (pixel - task * pixels) * width);
            }
        }
        for (std::size_t n = 0; n < sums.size(); ++n) {
            const auto at = static_cast<std::int64_t>(n);
            const std::int64_t row = task * pixels + at / width, col = at % width;
            if (row < height)
                out.pixels.at(row, col) = static_cast<float>(
                    sums[n] / (static_cast<double>(std::min(cells, rows() - row * cells)) *
                               static_cast<double>(std::min(cells, cols() - col * cells))));
        }
        progress.report(static_cast<float>(++done) / static_cast<float>(tasks));
    });
    return out;
}

} // namespace headscope::cpu
