#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/blocks.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace headscope::cpu {

struct CpuMachine;

/// The operations around attention in a transformer, with the kernels and threads of the CPU engine. Used by
/// one thread at a time, and not while an engine of the same machine runs. Results depend neither on the
/// number of threads nor on how the work is divided.
class CpuDense {
public:
    /// Creates its own machine. threads: the number that work at once; 0: one per core.
    explicit CpuDense(int threads = 0);
    explicit CpuDense(std::shared_ptr<CpuMachine> machine);

    // x is (B, T, depth); the result is a new tensor (B, T, columns). b may be null. Throws Error(cancelled).
    /// x W + b, W (depth, columns).
    std::shared_ptr<Tensor> multiply(const Tensor& x, const Tensor& W, const Tensor* b,
                                     const Progress& cancel);
    /// Same, into C (x.rows, W.cols). Returns false if a number is not finite.
    bool multiply(const Block& x, const Block& W, const float* b, float* C, const Progress& cancel);
    /// x tableᵀ + b, table (columns, depth): the unembedding of a language model.
    std::shared_ptr<Tensor> multiply_by_rows(const Tensor& x, const Tensor& table, const Tensor* b,
                                             const Progress& cancel);
    /// Same, into y, (B, T, columns).
    void multiply_by_rows(const Tensor& x, const Tensor& table, const Tensor* b, Tensor& y,
                          const Progress& cancel);

    /// Element-wise functions, applied in place.
    enum class Function : std::uint8_t { gelu, gelu_tanh, silu };
    void apply(Function function, std::span<float> x, const Progress& cancel);

    /// Calls task(first, count) on all threads for parts that together cover [0, rows).
    void for_rows(std::int64_t rows, std::int64_t flops_per_row,
                  const std::function<void(std::int64_t first, std::int64_t count)>& task);
    /// A tensor whose memory is reused from tensor to tensor.
    std::shared_ptr<Tensor> make(const Shape& shape) const;

private:
    std::shared_ptr<CpuMachine> machine_;
};

} // namespace headscope::cpu
