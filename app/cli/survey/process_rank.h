#pragma once

#include <cstdint>

namespace headscope::cli {

/// The rank of this process among those that a launcher such as mpirun or srun started with the same
/// arguments. Read from the environment, without any call to MPI.
struct ProcessRank {
    std::int64_t rank = 0;  ///< from 0
    std::int64_t count = 1; ///< number of processes
    std::int64_t local = 1; ///< number of processes on this machine

    /// Reads the variables of Open MPI's mpirun, MPICH's mpiexec (PMI) or Slurm's srun; a single process if
    /// none is set. Throws Error(input) for numbers that contradict each other.
    static ProcessRank from_environment();
    /// Returns the number of threads for this process, so that the processes on a machine together use every
    /// core that they may.
    int threads() const;
};

} // namespace headscope::cli
