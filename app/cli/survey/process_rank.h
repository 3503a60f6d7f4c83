#pragma once

#include <cstdint>

namespace headscope::cli {

/// Which of several processes this one is, that a launcher such as mpirun or srun started with the same
/// arguments. The launcher says so in the environment; nothing of MPI is called.
struct ProcessRank {
    std::int64_t rank = 0;  ///< from 0
    std::int64_t count = 1; ///< of all processes
    std::int64_t local = 1; ///< of those on this machine

    /// What Open MPI's mpirun, MPICH's mpiexec (PMI) or Slurm's srun set; one process where none did. Throws
    /// Error(input) for numbers that contradict each other.
    static ProcessRank from_environment();
    /// How many threads this process should use, so that those on a machine together use every core that they
    /// may.
    int threads() const;
};

} // namespace headscope::cli
