#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/kernels/kernels.h"
#include "core/engine/cpu/packed_weights.h"
#include "core/engine/cpu/worker_pool.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>

namespace headscope {

/// What the runs of one engine share.
struct CpuMachine {
    const Kernels& kernels;
    WorkerPool pool;
    std::shared_ptr<BufferStore> store = std::make_shared<BufferStore>();
    PackedWeights packed_weights{};
    Tensor scratch{Shape{0}};                                            ///< of all workers; grows
    std::shared_ptr<Tensor> packed = std::make_shared<Tensor>(Shape{0}); ///< for small runs

    /// Memory for packed keys and values. What was given before becomes invalid where it is small.
    std::shared_ptr<Tensor> packed_for(std::int64_t numbers) {
        constexpr std::int64_t small = 64 << 10;
        if (numbers > small)
            return std::make_shared<Tensor>(Shape{numbers}, store);
        if (packed->count() < numbers)
            packed = std::make_shared<Tensor>(Shape{numbers});
        return packed;
    }

    /// So many numbers for each worker, one worker's after another's. What was given before becomes invalid.
    float* scratch_for(std::int64_t numbers) {
        if (scratch.count() < numbers * pool.threads())
            scratch = Tensor(Shape{numbers * pool.threads()});
        return scratch.data();
    }

    /// Calls task(index, worker) for every index; on all threads when the work is worth waking them. `cancel`
    /// is looked at before each.
    template<class Task>
    void for_tasks(const Progress& cancel, std::int64_t count, std::int64_t flops, const Task& task) {
        constexpr std::int64_t small = 3'000'000;
        const auto checked = [&](std::int64_t index, int worker) {
            cancel.check();
            task(index, worker);
        };
        if (count > 1 && flops >= small && pool.threads() > 1)
            return pool.run(count, checked);
        for (std::int64_t index = 0; index < count; ++index)
            checked(index, 0);
    }
};

} // namespace headscope
