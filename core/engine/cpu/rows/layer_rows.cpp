#include "core/engine/cpu/rows/layer_rows.h"

#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace headscope::cpu {

namespace {

std::int64_t width_of(const Tensor& x) {
    return x.shape().back(0);
}

std::int64_t rows_of(const Tensor& x) {
    return x.count() / width_of(x);
}

ConstRow row(const Tensor& x, std::int64_t i) {
    return {x.data() + i * width_of(x), width_of(x)};
}

float sigmoid(float v) {
    return 1.0F / (1.0F + std::exp(-v));
}

/// In double, so that the bits do not depend on the vectors that sum it up.
void norm_row(const Tensor& x, std::int64_t i, bool centered, const float* weight, const float* bias,
              double eps, Tensor& y) {
    const std::int64_t width = width_of(y);
    Eigen::RowVectorXd values = row(x, i).cast<double>();
    if (centered)
        values.array() -= values.mean();
    const double scale = 1.0 / std::sqrt(values.squaredNorm() / static_cast<double>(values.size()) + eps);
    MutableRow out(y.data() + i * width, width);
    out = (values * scale).cast<float>();
    if (weight != nullptr)
        out.array() *= ConstRow(weight, width).array();
    if (bias != nullptr)
        out += ConstRow(bias, width);
}

} // namespace

void norm_rows(CpuDense& cpu, const Tensor& x, bool centered, const float* weight, const float* bias,
               double eps, Tensor& y) {
    cpu.for_rows(rows_of(x), 20 * width_of(x), [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i)
            norm_row(x, i, centered, weight, bias, eps, y);
    });
}

void match_magnitudes(CpuDense& cpu, const Tensor& x, const Tensor& like, double least, Tensor& y) {
    const auto mean_square = [](const Tensor& tensor, std::int64_t i) {
        return row(tensor, i).cast<double>().squaredNorm() / static_cast<double>(width_of(tensor));
    };
    cpu.for_rows(rows_of(x), 20 * width_of(x), [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) {
            const double scale = std::sqrt(mean_square(like, i) / std::max(mean_square(x, i), least));
            MutableRow(y.data() + i * width_of(y), width_of(y)) =
                (row(x, i).cast<double>() * scale).cast<float>();
        }
    });
}

void add_scaled_rows(const Tensor& coefficients, std::int64_t column, float offset, const Tensor& x,
                     Tensor& y) {
    for (std::int64_t i = 0; i < rows_of(x); ++i)
        MutableRow(y.data() + i * width_of(y), width_of(y)) +=
            (offset + row(coefficients, i)[column]) * row(x, i);
}

void keep_gaussian_top(CpuDense& cpu, const Tensor& x, double deviations, Tensor& y) {
    cpu.for_rows(rows_of(x), 20 * width_of(x), [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) {
            const Eigen::ArrayXd numbers = row(x, i).cast<double>().array();
            const double mean = numbers.mean(), spread = std::sqrt((numbers - mean).square().mean());
            MutableRow(y.data() + i * width_of(y), width_of(y)) =
                (numbers - (mean + deviations * spread)).max(0.0).matrix().cast<float>();
        }
    });
}

void activate(CpuDense& cpu, std::span<float> x, graph::Function function, const Progress& cancel) {
    MutableNumbers numbers(x.data(), std::ssize(x));
    switch (function) {
    case graph::Function::gelu:
        return cpu.apply(CpuDense::Function::gelu, x, cancel);
    case graph::Function::gelu_tanh:
        return cpu.apply(CpuDense::Function::gelu_tanh, x, cancel);
    case graph::Function::silu:
        return cpu.apply(CpuDense::Function::silu, x, cancel);
    case graph::Function::gelu_quick:
        numbers *= (gelu_quick_slope * numbers).unaryExpr(&sigmoid);
        return;
    case graph::Function::relu:
        numbers = numbers.max(0.0F);
        return;
    case graph::Function::relu6:
        numbers = numbers.max(0.0F).min(6.0F);
        return;
    case graph::Function::relu_square:
        numbers = numbers.max(0.0F).square();
        return;
    case graph::Function::leaky_relu:
        numbers = numbers.max(0.01F * numbers);
        return;
    case graph::Function::mish:
        numbers *= numbers.unaryExpr([](float v) { return std::tanh(std::log1p(std::exp(v))); });
        return;
    case graph::Function::tanh:
        numbers = numbers.unaryExpr([](float v) { return std::tanh(v); });
        return;
    case graph::Function::sigmoid:
        numbers = numbers.unaryExpr(&sigmoid);
        return;
    case graph::Function::identity:
        return;
    }
}

void add(std::span<const float> a, std::span<const float> b, std::span<float> y) {
    MutableNumbers(y.data(), std::ssize(y)) = view_of(a) + view_of(b);
}

void multiply_by(std::span<float> y, std::span<const float> x) {
    MutableNumbers(y.data(), std::ssize(y)) *= view_of(x);
}

void softmax_rows(const Tensor& x, Tensor& y) {
    for (std::int64_t i = 0; i < rows_of(x); ++i) {
        const Eigen::ArrayXd powers = (row(x, i).array() - row(x, i).maxCoeff()).cast<double>().exp();
        MutableRow(y.data() + i * width_of(x), width_of(x)) = (powers / powers.sum()).cast<float>().matrix();
    }
}

namespace {

/// The scores of a row: a softmax over the places `from` on of `order`, or sigmoids.
void score_row(std::span<float> row, const std::vector<std::int64_t>& order, std::int64_t count,
               graph::Route::Score score) {
    const float largest = row[static_cast<std::size_t>(order.front())];
    double sum = 0;
    for (std::size_t place = 0; place < order.size(); ++place) {
        float& number = row[static_cast<std::size_t>(order[place])];
        if (score == graph::Route::Score::sigmoid)
            number = static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(number))));
        else
            number = std::cmp_less(place, count) ? std::exp(number - largest) : 0.0F;
        sum += static_cast<double>(number);
    }
    if (score != graph::Route::Score::sigmoid)
        for (float& number : row)
            number = static_cast<float>(static_cast<double>(number) / sum);
}

/// The largest first; of equal numbers the first.
void order_by_choice(std::vector<std::int64_t>& order, const std::vector<float>& numbers) {
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::int64_t e) { return numbers[static_cast<std::size_t>(e)]; });
}

/// Returns the numbers that experts are chosen by: the scores plus the bias, and 0 outside the groups used.
std::vector<float> choice_numbers(std::span<const float> scores, const graph::Route& route,
                                  const float* bias) {
    std::vector<float> numbers(scores.begin(), scores.end());
    if (bias != nullptr)
        std::transform(numbers.begin(), numbers.end(), bias, numbers.begin(), std::plus<>());
    const auto groups = static_cast<std::size_t>(route.groups), size = numbers.size() / groups,
               best = static_cast<std::size_t>(route.best_of_group);
    std::vector<float> of_group;
    for (std::size_t group = 0; group < groups; ++group) {
        std::vector<float> members(numbers.begin() + static_cast<std::ptrdiff_t>(group * size),
                                   numbers.begin() + static_cast<std::ptrdiff_t>((group + 1) * size));
        std::ranges::partial_sort(members, members.begin() + static_cast<std::ptrdiff_t>(best),
                                  std::greater<>());
        of_group.push_back(
            std::accumulate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(best), 0.0F));
    }
    std::vector<std::int64_t> order(groups);
    order_by_choice(order, of_group);
    for (std::size_t place = static_cast<std::size_t>(route.used_groups); place < groups; ++place)
        std::fill_n(numbers.begin() + order[place] * static_cast<std::ptrdiff_t>(size), size, 0.0F);
    return numbers;
}

} // namespace

void route_rows(std::span<float> numbers, std::int64_t count, const graph::Route& route,
                const float* choice_bias) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    for (std::size_t first = 0; first < numbers.size(); first += order.size()) {
        const std::span<float> row = numbers.subspan(first, order.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::int64_t e) { return row[static_cast<std::size_t>(e)]; });
        score_row(row, order, route.score == graph::Route::Score::softmax_of_chosen ? route.used : count,
                  route.score);
        if (route.groups > 1 || choice_bias != nullptr)
            order_by_choice(order, choice_numbers(row, route, choice_bias));
        double chosen = 0;
        for (std::int64_t place = 0; place < count; ++place) {
            float& number = row[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])];
            if (place >= route.used)
                number = 0.0F;
            chosen += static_cast<double>(number);
        }
        const double factor = route.factor / (route.sum_to_one ? chosen : 1.0);
        if (factor != 1.0)
            for (float& number : row)
                number = static_cast<float>(static_cast<double>(number) * factor);
    }
}

bool has_gate_kernel(const graph::Gate& gate) {
    const bool is_plain = gate.limit == 0 && gate.offset == 0;
    return is_plain || (gate.limit > 0 && gate.offset == 1 && gate.function == graph::Function::gelu_quick);
}

void open_gates(CpuDense& cpu, std::span<float> in, std::span<float> gates, const graph::Gate& gate,
                const Progress& cancel) {
    if (gate.limit == 0) {
        activate(cpu, gates, gate.function, cancel);
        return multiply_by(in, gates);
    }
    const auto limit = static_cast<float>(gate.limit);
    const float* from = gates.data();
    for (float& number : in) {
        const float opened = std::min(*from++, limit);
        number = (std::clamp(number, -limit, limit) + 1.0F) * opened /
                 (1.0F + std::exp(-gelu_quick_slope * opened));
    }
}

} // namespace headscope::cpu
