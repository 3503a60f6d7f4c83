#pragma once

#include <cstdint>

namespace headscope::bench {

/// The highest speed of this machine, measured with all its threads: the limit for other measurements.
struct MachineLimit {
    int threads = 1;
    double flops = 0; ///< multiply-adds of the widest kernels, counted as two, per second
    double bytes = 0; ///< bytes per second read and written by a[i] = b[i] + s c[i], past the caches
    double reads = 0; ///< bytes per second that all threads read together, past the caches

    /// Returns the shortest time for this much work, in seconds.
    double seconds(double work_flops, double work_bytes) const;
};
MachineLimit measure_machine();

/// Return the peak memory of this process since the last reset_peak_memory, and its current memory, in bytes;
/// 0 if the system does not report it.
std::int64_t peak_memory();
std::int64_t resident_memory();
void reset_peak_memory();

} // namespace headscope::bench
