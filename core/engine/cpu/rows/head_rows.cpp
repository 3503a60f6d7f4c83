#include "core/engine/cpu/rows/head_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headscope::cpu {

namespace {

/// One row of one head: `width` numbers.
struct Row {
    const HeadRowStep& step;
    std::int64_t b, h, i;
    const float* from;
    float* to;
    double& joint_mean; ///< mean square of the token's row of all heads; negative until it is computed
};

/// Computed in double precision.
double mean_square(const float* numbers, std::int64_t count) {
    return std::transform_reduce(numbers, numbers + count, 0.0, std::plus<>(),
                                 [](float y) { return static_cast<double>(y) * y; }) /
           static_cast<double>(count);
}

/// RMSNorm. The mean square must fit into float32, as on other devices.
void norm_by(const Row& row, double mean, const float* weight) {
    const auto as_float = static_cast<float>(mean);
    const double scale = 1.0 / std::sqrt(mean + static_cast<double>(row.step.norm_eps));
    std::transform(row.from, row.from + row.step.width, weight, row.to, [&](float y, float w) {
        return std::isfinite(as_float) ? static_cast<float>(y * scale) * w : as_float;
    });
}

void norm_jointly(const Row& row) {
    const std::int64_t first = row.h * row.step.width;
    if (row.joint_mean < 0)
        row.joint_mean = mean_square(row.from - first, row.step.heads * row.step.width);
    norm_by(row, row.joint_mean, row.step.weight + first);
}

/// Rotates the pairs of numbers by the position.
void rotate(const Row& row) {
    const Tensor &cos = *row.step.cos, &sin = *row.step.sin;
    const std::int64_t table = cos.offset(cos.shape()[0] == 1 ? 0 : row.b, row.i, 0),
                       half = row.step.width / 2;
    const float *const c = cos.data() + table, *const s = sin.data() + table;
    for (std::int64_t n = 0; n < half; ++n) {
        const float first = row.from[n], second = row.from[n + half];
        row.to[n] = first * c[n] - second * s[n];
        row.to[n + half] = second * c[n + half] + first * s[n + half];
    }
}

void scale(const Row& row) {
    const float times = row.step.scale[row.i];
    std::transform(row.from, row.from + row.step.width, row.to, [times](float y) { return y * times; });
}

void apply(const Row& row) {
    switch (row.step.kind) {
    case HeadRowStep::Kind::split:
        std::copy_n(row.from, row.step.width, row.to);
        return;
    case HeadRowStep::Kind::norm:
        return norm_by(row, mean_square(row.from, row.step.width), row.step.weight);
    case HeadRowStep::Kind::joint_norm:
        return norm_jointly(row);
    case HeadRowStep::Kind::rotation:
        return rotate(row);
    case HeadRowStep::Kind::scale:
        return scale(row);
    }
}

} // namespace

bool compute_head_rows(const HeadRowStep& step, run::HeadSet computed, Tensor& to) {
    const std::int64_t B = to.shape()[0], T = to.shape()[2];
    const bool is_copy = step.kind == HeadRowStep::Kind::split;
    bool finite = true;
    for (std::int64_t row = 0; row < B * T; ++row) {
        const std::int64_t b = row / T, i = row % T;
        double joint_mean = -1;
        for (std::int64_t h = 0; h < step.heads; ++h) {
            if ((computed & run::head_bit(h, step.heads)) == 0)
                continue;
            float* const out = to.data() + to.offset(b, h, i, 0);
            apply({step, b, h, i,
                   step.from.data + b * step.from.of_entry + h * step.from.of_head + i * step.from.of_row,
                   out, joint_mean});
            finite = finite && (is_copy ||
                                std::all_of(out, out + step.width, [](float y) { return std::isfinite(y); }));
        }
    }
    return finite;
}

} // namespace headscope::cpu
