#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>

namespace headscope::cpu {

namespace {

/// One row of one head: `width` numbers `from` the first input, and where the stage has them.
struct HeadRow {
    const Problem& problem;
    const TensorInfo& stage;
    std::int64_t b, i;
    const float* from;
    float* to;
    std::int64_t width;
};

void move(const HeadRow& row) {
    std::copy_n(row.from, row.width, row.to);
}

/// Turns the pairs of numbers by the position.
void turn(const HeadRow& row) {
    const Tensor &cos = *row.problem.rotary->cos, &sin = *row.problem.rotary->sin;
    const std::int64_t table = cos.offset(cos.shape()[0] == 1 ? 0 : row.b, row.i, 0), half = row.width / 2;
    const float *const c = cos.data() + table, *const s = sin.data() + table;
    for (std::int64_t n = 0; n < half; ++n) {
        const float first = row.from[n], second = row.from[n + half];
        row.to[n] = first * c[n] - second * s[n];
        row.to[n + half] = second * c[n + half] + first * s[n + half];
    }
}

struct Step {
    Operation operation;
    void (*apply)(const HeadRow& row);
};
constexpr std::array steps{Step{Operation::split, move}, Step{Operation::rotation, turn}};

} // namespace

void CpuRun::make_head_rows(const TensorInfo& stage) {
    const Tensor& from = made(source_of(stage.inputs[0], parts_));
    Tensor& to = make(stage.id);
    const std::int64_t count = to.shape()[1], T = to.shape()[2], width = to.shape()[3];
    const Step& step = *std::ranges::find(steps, stage.operation, &Step::operation);
    for (std::int64_t b = 0; b < d_.B; ++b)
        for (std::int64_t h = 0; h < count; ++h)
            for (std::int64_t i = 0; dirty_.has(stage.id, h) && i < T; ++i)
                step.apply({problem_, stage, b, i,
                            from.data() + (from.shape().rank() == 4 ? from.offset(b, h, i, 0)
                                                                    : from.offset(b, i, h * width)),
                            to.data() + to.offset(b, h, i, 0), width});
    if (stage.operation != Operation::split &&
        !std::ranges::all_of(to.values(), [](float y) { return std::isfinite(y); }))
        engine::fail_head_rows(stage.id);
}

} // namespace headscope::cpu
