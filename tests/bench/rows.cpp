#include "tests/bench/rows.h"
#include "tests/bench/clock.h"

#include "app/draw/kit/format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

TensorPtr filled(const Shape& shape, float scale) {
    Tensor tensor(shape);
    std::uint64_t state = 88172645463325252ULL;
    std::ranges::generate(tensor.values(), [&] {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return scale * (static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1.0F);
    });
    return std::make_shared<const Tensor>(std::move(tensor));
}

} // namespace

Spread spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {at(0.5), at(0.25), at(0.75)};
}

Spread time_of(const std::function<void()>& call) {
    call();
    const auto start = BenchClock::now();
    call();
    const double once = std::max(since(start), 1e-7);
    const int repeats = std::max(1, static_cast<int>(2e-3 / once));
    std::vector<double> samples;
    for (int sample = 0; sample < 31; ++sample) {
        const auto begin = BenchClock::now();
        for (int i = 0; i < repeats; ++i)
            call();
        samples.push_back(since(begin) / repeats);
    }
    return spread_of(std::move(samples));
}

BenchRow timed_row(const std::string& name, const Spread& time, const std::string& wanted) {
    return {name, app::time_text(time.median),
            "quartiles " + app::time_text(time.lower) + " to " + app::time_text(time.upper) +
                (wanted.empty() ? "" : "; wanted: " + wanted),
            nlohmann::json{{"name", name},
                           {"seconds", time.median},
                           {"lower_quartile", time.lower},
                           {"upper_quartile", time.upper}}
                .dump()};
}

Problem bench_problem(std::int64_t B, std::int64_t T, std::int64_t D, std::int64_t H) {
    const Dims d{B, T, T, D, D, H, H, D / H, D / H};
    const float scale = 1.0F / std::sqrt(static_cast<float>(D));
    Problem problem;
    problem.dims = d;
    problem.x = filled({B, T, D}, 1);
    problem.weights.W_Q = filled({D, D}, scale);
    problem.weights.W_K = filled({D, D}, scale);
    problem.weights.W_V = filled({D, D}, scale);
    problem.weights.W_O = filled({D, D}, scale);
    return problem;
}

} // namespace headscope::bench
