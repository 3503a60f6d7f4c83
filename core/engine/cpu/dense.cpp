#include "core/engine/cpu/dense.h"

#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/projections.h"

#include <algorithm>
#include <atomic>
#include <functional>

namespace headscope::cpu {

namespace {

constexpr std::int64_t table_rows = 48; ///< of a table, multiplied together
/// rows of x for these table rows: their results fit into the L2 cache
constexpr std::int64_t packed_columns = 256;
constexpr std::int64_t depth_at_once = 1024;
constexpr std::int64_t numbers_at_once = 16384; ///< of an element-wise function, by one thread

Block block_of(const Tensor& x) {
    const std::int64_t cols = x.shape().back(0);
    return {x.data(), cols, x.count() / cols, cols};
}

Shape widened(const Tensor& x, std::int64_t columns) {
    return {x.shape()[0], x.shape()[1], columns};
}

/// Transposes `results` (table rows, rows of x) into y and adds the bias.
void turn_over(const float* results, std::int64_t stride, std::int64_t count, std::int64_t rows,
               const float* bias, float* y, std::int64_t y_stride) {
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t c = 0; c < count; ++c)
            y[i * y_stride + c] = results[c * stride + i] + (bias == nullptr ? 0.0F : bias[c]);
}

} // namespace

CpuDense::CpuDense(std::shared_ptr<CpuMachine> machine) : machine_(std::move(machine)) {}

CpuDense::CpuDense(int threads) : CpuDense(make_cpu_machine(threads)) {}

std::shared_ptr<Tensor> CpuDense::make(const Shape& shape) const {
    return std::make_shared<Tensor>(shape, machine_->store);
}

std::shared_ptr<Tensor> CpuDense::multiply(const Tensor& x, const Tensor& W, const Tensor* b,
                                           const Progress& cancel) {
    const auto y = make(widened(x, W.shape()[1]));
    multiply(block_of(x), block_of(W), b == nullptr ? nullptr : b->data(), y->data(), cancel);
    return y;
}

bool CpuDense::multiply(const Block& x, const Block& W, const float* b, float* C, const Progress& cancel) {
    const WideProduct product{x, W, b, C, W.cols};
    std::atomic<bool> finite = true;
    multiply_all({&product, 1}, *machine_, cancel, [&](const ProductPart&) { finite = false; });
    return finite;
}

std::shared_ptr<Tensor> CpuDense::multiply_by_rows(const Tensor& x, const Tensor& table, const Tensor* b,
                                                   const Progress& cancel) {
    auto y = make(widened(x, table.shape()[0]));
    multiply_by_rows(x, table, b, *y, cancel);
    return y;
}

/// The table is much larger than x, and its depth is the innermost axis: it is the left factor, read once in
/// place, and x is the packed one. Each number is the same chain of multiply-adds either way.
void CpuDense::multiply_by_rows(const Tensor& x, const Tensor& table, const Tensor* b, Tensor& y,
                                const Progress& cancel) {
    const Kernels& kernels = machine_->kernels;
    const Block X = block_of(x);
    const std::int64_t columns = table.shape()[0], depth = X.cols;
    const std::int64_t tasks = (columns + table_rows - 1) / table_rows;
    const std::int64_t flops = 2 * effective_rows(X.rows) * depth * columns;
    if (X.rows == 1) {
        machine_->for_tasks(cancel, tasks, flops, [&](std::int64_t task, int) {
            const std::int64_t first = task * table_rows, count = std::min(table_rows, columns - first);
            float* const out = y.data() + first;
            kernels.multiply_row_transposed(X.data, table.data() + first * depth, depth, count, out);
            if (b != nullptr)
                std::transform(out, out + count, b->data() + first, out, std::plus<>());
        });
        return;
    }
    const auto packed = make(Shape{whole_panels(kernels, X.rows) * depth});
    pack_transposed_panels(kernels, X, packed->data());
    const std::int64_t space = table_rows * packed_columns;
    float* const scratch = machine_->scratch_for(space);
    machine_->for_tasks(cancel, tasks, flops, [&](std::int64_t task, int worker) {
        const std::int64_t first = task * table_rows, count = std::min(table_rows, columns - first);
        float* const results = scratch + worker * space;
        for (std::int64_t row = 0; row < X.rows; row += packed_columns) {
            const std::int64_t rows = std::min(packed_columns, X.rows - row);
            for (std::int64_t k = 0; k < depth; k += depth_at_once) {
                const std::int64_t some = std::min(depth_at_once, depth - k);
                kernels.multiply({.A = table.data() + first * depth + k,
                                  .A_stride = depth,
                                  .B = packed->data() + row * depth + k * kernels.panel,
                                  .B_stride = kernels.panel,
                                  .panel_stride = kernels.panel * depth,
                                  .C = results,
                                  .C_stride = packed_columns,
                                  .rows = count,
                                  .depth = some,
                                  .cols = rows,
                                  .accumulate = k > 0,
                                  .last = k + some == depth});
            }
            turn_over(results, packed_columns, count, rows, b == nullptr ? nullptr : b->data() + first,
                      y.data() + row * columns + first, columns);
        }
    });
}

void CpuDense::apply(Function function, std::span<float> x, const Progress& cancel) {
    const auto count = static_cast<std::int64_t>(x.size());
    const Kernels& kernels = machine_->kernels;
    const auto run = function == Function::gelu        ? kernels.gelu
                     : function == Function::gelu_tanh ? kernels.gelu_tanh
                                                       : kernels.silu;
    machine_->for_tasks(cancel, (count + numbers_at_once - 1) / numbers_at_once, 20 * count,
                        [&](std::int64_t task, int) {
                            const std::int64_t first = task * numbers_at_once;
                            run(x.data() + first, std::min(numbers_at_once, count - first));
                        });
}

void CpuDense::for_rows(std::int64_t rows, std::int64_t flops_per_row,
                        const std::function<void(std::int64_t, std::int64_t)>& task) {
    const std::int64_t parts = std::min<std::int64_t>(rows, 4 * machine_->pool.threads());
    machine_->for_tasks(Progress(), parts, rows * flops_per_row, [&](std::int64_t part, int) {
        const std::int64_t first = part * rows / parts;
        task(first, (part + 1) * rows / parts - first);
    });
}

} // namespace headscope::cpu
