#pragma once

#include <cstdint>

namespace headscope::cli {

/// What this machine can do at most, measured with all its threads: the limit that figures are compared with.
struct MachineLimit {
    int threads = 1;
    double flops = 0; ///< multiply-adds of the widest kernels, counted as two, per second
    double bytes = 0; ///< read and written by a[i] = b[i] + s c[i] past the caches, per second

    /// The least seconds that so much work takes.
    double seconds(double work_flops, double work_bytes) const;
};
MachineLimit measure_machine();

/// Peak memory of this process since the last reset_peak_memory, and what it holds now, in bytes; 0 where the
/// system does not tell.
std::int64_t peak_memory();
std::int64_t resident_memory();
void reset_peak_memory();

} // namespace headscope::cli
