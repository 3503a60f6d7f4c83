#include "core/engine/memory_need.h"

#include "core/base/memory.h"
#include "core/base/message.h"

#include <limits>

namespace headscope::engine {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? most : product;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? most : sum;
}

} // namespace

std::uint64_t stage_bytes(const Problem& problem, StageSet wanted) {
    return stage_bytes(problem.dims, problem.parts(), wanted);
}

std::uint64_t stage_bytes(const Dims& dims, const ProblemParts& parts, StageSet wanted) {
    std::uint64_t bytes = 0;
    for (const TensorInfo& info : stage_table()) {
        if (!wanted.has(info.id) || info.id == TensorId::x || !has_tensor(info.id, parts))
            continue;
        std::uint64_t stage = sizeof(float);
        for (const std::int64_t extent : info.shape(dims))
            stage = times(stage, static_cast<std::uint64_t>(extent));
        bytes = plus(bytes, stage);
    }
    return bytes;
}

void require_memory_for(const Problem& problem, StageSet wanted, std::uint64_t also) {
    // The mean is computed from the weights, which are stored until then.
    if (wanted.has(TensorId::weights_mean))
        wanted = wanted.with(TensorId::weights);
    require_memory(plus(stage_bytes(problem, wanted), also), tr("common.run", "this run"),
                   tr("memory_need.take_fewer_tokens_fewer",
                      "take fewer tokens, or fewer stages (on the command line --stages)"));
}

} // namespace headscope::engine
