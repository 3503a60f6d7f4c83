#pragma once

#include "core/base/progress.h"
#include "core/engine/cpu/kernels/kernels.h"
#include "core/engine/cpu/packed_parameters.h"
#include "core/engine/cpu/products.h"
#include "core/engine/cpu/rows/attention_rows.h"
#include "core/engine/cpu/worker_pool.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace headscope::cpu {

/// State shared by the runs of one engine.
struct CpuMachine {
    static constexpr std::int64_t small_tensor = 64 << 10, small_work = 3'000'000; ///< numbers, FLOP

    const Kernels& kernels;
    WorkerPool pool;
    std::shared_ptr<BufferStore> store = std::make_shared<BufferStore>();
    PackedParameters packed_parameters{};
    Tensor scratch{Shape{0}};                                            ///< for all workers; grows
    std::shared_ptr<Tensor> packed = std::make_shared<Tensor>(Shape{0}); ///< for small runs
    std::vector<WideProduct> products{}; ///< refilled by each run, like the members below
    std::vector<ProductPart> parts{};
    std::vector<std::int64_t> heads{};
    std::vector<RowStages> computed_rows{};

    /// Returns memory for packed keys and values. Invalidates a small buffer that an earlier call returned.
    std::shared_ptr<Tensor> packed_for(std::int64_t numbers) {
        if (numbers > small_tensor)
            return std::make_shared<Tensor>(Shape{numbers}, store);
        if (packed->count() < numbers)
            packed = std::make_shared<Tensor>(Shape{numbers});
        return packed;
    }

    /// Returns scratch memory with so many numbers for each worker, one worker after another. Invalidates
    /// earlier results.
    float* scratch_for(std::int64_t numbers) {
        if (scratch.count() < numbers * pool.threads())
            scratch = Tensor(Shape{numbers * pool.threads()});
        return scratch.data();
    }

    /// The number of threads for this much work: small work does not justify waking the others.
    int threads_for(std::int64_t flops) const { return flops >= small_work ? pool.threads() : 1; }

    /// Calls task(index, worker) for every index, on all threads if the work justifies waking them. Checks
    /// `cancel` before each call.
    template<class Task>
    void for_tasks(const Progress& cancel, std::int64_t count, std::int64_t flops, const Task& task) {
        const auto checked = [&](std::int64_t index, int worker) {
            cancel.check();
            task(index, worker);
        };
        if (count > 1 && threads_for(flops) > 1)
            return pool.run(count, checked);
        for (std::int64_t index = 0; index < count; ++index)
            checked(index, 0);
    }
};

} // namespace headscope::cpu
