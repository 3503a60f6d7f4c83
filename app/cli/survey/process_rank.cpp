#include "app/cli/survey/process_rank.h"

#include "app/cli/usage.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <thread>

namespace headscope::cli {

namespace {

/// Returns the number at the start of the variable: Slurm writes "2(x3)" for two processes on each of three
/// machines.
std::optional<std::int64_t> number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    std::int64_t number = 0;
    if (text == nullptr)
        return std::nullopt;
    const std::string_view all = text;
    const auto [end, fault] = std::from_chars(all.data(), all.data() + all.size(), number);
    return fault == std::errc() ? std::optional(number) : std::nullopt;
}

struct Launcher {
    const char *rank, *count, *local;
};

// SLURM_NTASKS is also set in a batch script, which is one process; the count of the job step is not.
constexpr std::array<Launcher, 3> launchers{
    {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}}};

} // namespace

ProcessRank ProcessRank::from_environment() {
    for (const Launcher& launcher : launchers) {
        const auto rank = number_in(launcher.rank), count = number_in(launcher.count);
        if (!rank || !count)
            continue;
        if (*count < 1 || *rank < 0 || *rank >= *count)
            fail_input(std::string(launcher.rank) + " is " + std::to_string(*rank) + " and " +
                       launcher.count + " is " + std::to_string(*count) +
                       "; a rank is less than the number of processes, so start them with mpirun or srun");
        return {*rank, *count, std::clamp<std::int64_t>(number_in(launcher.local).value_or(1), 1, *count)};
    }
    return {};
}

int ProcessRank::threads() const {
    const auto cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    cpu_set_t allowed;
    const std::int64_t bound =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : cores;
    return static_cast<int>(std::clamp<std::int64_t>(cores / local, 1, std::max<std::int64_t>(1, bound)));
}

} // namespace headscope::cli
