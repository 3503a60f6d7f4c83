#include "tests/bench/machine.h"

#include "tests/bench/clock.h"

#include "core/engine/cpu/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace headscope::bench {

namespace {

/// Returns the best of several repeats of a task that all threads run at the same time.
template<class Task>
double best_seconds(int threads, const Task& task) {
    double best = 1e9;
    for (int repeat = 0; repeat < 9; ++repeat) {
        const auto start = BenchClock::now();
        std::vector<std::thread> others;
        for (int thread = 1; thread < threads; ++thread)
            others.emplace_back([&task, thread] { task(thread); });
        task(0);
        for (std::thread& other : others)
            other.join();
        best = std::min(best, std::chrono::duration<double>(BenchClock::now() - start).count());
    }
    return best;
}

std::int64_t status_bytes(const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key + ":"))
            return std::stoll(line.substr(key.size() + 1)) * 1024;
    return 0;
}

} // namespace

double MachineLimit::seconds(double work_flops, double work_bytes) const {
    return std::max(work_flops / flops, work_bytes / bytes);
}

MachineLimit measure_machine() {
    MachineLimit limit;
    limit.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    constexpr std::int64_t rounds = 2'000'000;
    std::vector<double> done(static_cast<std::size_t>(limit.threads));
    const double seconds = best_seconds(limit.threads, [&](int thread) {
        done[static_cast<std::size_t>(thread)] = cpu::best_kernels().multiply_adds(rounds);
    });
    for (const double flops : done)
        limit.flops += flops / seconds;
    constexpr std::size_t numbers = std::size_t{24} << 20; // 96 MB in each of three arrays
    std::vector<float> a(numbers), b(numbers, 1.0F), c(numbers, 2.0F);
    const std::size_t share = numbers / static_cast<std::size_t>(limit.threads);
    const double triad = best_seconds(limit.threads, [&](int thread) {
        const std::size_t first = share * static_cast<std::size_t>(thread);
        for (std::size_t i = first; i < first + share; ++i)
            a[i] = b[i] + 0.5F * c[i];
    });
    std::vector<float> sums(static_cast<std::size_t>(limit.threads));
    const double reading = best_seconds(limit.threads, [&](int thread) {
        constexpr std::size_t chains = 64; // independent sums, so that additions do not wait for each other
        const std::size_t first = share * static_cast<std::size_t>(thread);
        std::array<float, chains> of_chain{};
        for (std::size_t i = first; i + chains <= first + share; i += chains)
            for (std::size_t n = 0; n < chains; ++n)
                of_chain[n] += b[i + n];
        sums[static_cast<std::size_t>(thread)] = std::accumulate(of_chain.begin(), of_chain.end(), 0.0F);
    });
    // Reading the sums makes the compiler keep the loop.
    if (std::ranges::all_of(sums, [](float sum) { return sum > 0; }))
        limit.reads = sizeof(float) * static_cast<double>(share) * limit.threads / reading;
    limit.bytes = 3.0 * sizeof(float) * static_cast<double>(share) * limit.threads / triad;
    return limit;
}

std::int64_t peak_memory() {
    return status_bytes("VmHWM");
}

std::int64_t resident_memory() {
    return status_bytes("VmRSS");
}

void reset_peak_memory() {
    std::ofstream("/proc/self/clear_refs") << 5;
}

} // namespace headscope::bench
