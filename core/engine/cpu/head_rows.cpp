#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

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

/// RMSNorm. The mean square is summed in double and has to fit into float32, as it has to on other devices.
void norm(const HeadRow& row) {
    const Tensor& weight = *row.problem.input(row.stage.inputs[1]);
    const double squares = std::transform_reduce(row.from, row.from + row.width, 0.0, std::plus<>(),
                                                 [](float y) { return static_cast<double>(y) * y; });
    const auto mean = static_cast<float>(squares / static_cast<double>(row.width));
    const double scale =
        1.0 / std::sqrt(squares / static_cast<double>(row.width) + static_cast<double>(row.problem.norm_eps));
    std::transform(row.from, row.from + row.width, weight.data(), row.to, [&](float y, float w) {
        return std::isfinite(mean) ? static_cast<float>(y * scale) * w : mean;
    });
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
constexpr std::array steps{Step{Operation::split, move}, Step{Operation::head_norm, norm},
                           Step{Operation::rotation, turn}};

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
