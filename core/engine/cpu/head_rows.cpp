#include "core/engine/cpu/run.h"
#include "core/engine/range_fault.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headscope::cpu {

namespace {

/// One row of one of `heads` heads: the `width` numbers at `from` in the first input, and their destination.
struct HeadRow {
    const Problem& problem;
    const TensorInfo& stage;
    std::int64_t b, h, i;
    const float* from;
    float* to;
    std::int64_t width, heads;
    double& joint_mean; ///< mean square of the token's row of all heads; negative until it is computed
};

void move(const HeadRow& row) {
    std::copy_n(row.from, row.width, row.to);
}

/// Computed in double precision.
double mean_square(const float* numbers, std::int64_t count) {
    return std::transform_reduce(numbers, numbers + count, 0.0, std::plus<>(),
                                 [](float y) { return static_cast<double>(y) * y; }) /
           static_cast<double>(count);
}

/// RMSNorm. The mean square must fit into float32, as on other devices.
void norm_by(const HeadRow& row, double mean, const float* weight) {
    const auto narrow = static_cast<float>(mean);
    const double scale = 1.0 / std::sqrt(mean + static_cast<double>(row.problem.norm_eps));
    std::transform(row.from, row.from + row.width, weight, row.to, [&](float y, float w) {
        return std::isfinite(narrow) ? static_cast<float>(y * scale) * w : narrow;
    });
}

void norm(const HeadRow& row) {
    norm_by(row, mean_square(row.from, row.width), row.problem.input(row.stage.inputs[1])->data());
}

void norm_jointly(const HeadRow& row) {
    const std::int64_t first = row.h * row.width;
    if (row.joint_mean < 0)
        row.joint_mean = mean_square(row.from - first, row.heads * row.width);
    norm_by(row, row.joint_mean, row.problem.input(row.stage.inputs[1])->data() + first);
}

/// Rotates the pairs of numbers by the position.
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
                           Step{Operation::joint_norm, norm_jointly}, Step{Operation::rotation, turn}};

} // namespace

void CpuRun::make_head_rows(const TensorInfo& stage) {
    const Tensor& from = computed_stage(source_of(stage.inputs[0], parts_));
    Tensor& to = make(stage.id);
    const std::int64_t count = to.shape()[1], T = to.shape()[2], width = to.shape()[3];
    const Step& step = *std::ranges::find(steps, stage.operation, &Step::operation);
    for (std::int64_t row = 0; row < d_.B * T; ++row) {
        const std::int64_t b = row / T, i = row % T;
        double joint_mean = -1;
        for (std::int64_t h = 0; h < count; ++h)
            if (dirty_.has(stage.id, h))
                step.apply({problem_, stage, b, h, i,
                            from.data() + (from.shape().rank() == 4 ? from.offset(b, h, i, 0)
                                                                    : from.offset(b, i, h * width)),
                            to.data() + to.offset(b, h, i, 0), width, count, joint_mean});
    }
    if (stage.operation != Operation::split &&
        !std::ranges::all_of(to.values(), [](float y) { return std::isfinite(y); }))
        engine::fail_head_rows(stage.id);
}

} // namespace headscope::cpu
