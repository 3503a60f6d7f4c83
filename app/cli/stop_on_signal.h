#pragma once

#include "core/base/progress.h"

namespace headscope::cli {

/// During its lifetime, SIGINT and SIGTERM ask this process to stop at the next check of its work. A second
/// signal ends the process at once.
class StopOnSignal {
public:
    StopOnSignal();
    ~StopOnSignal();
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

    /// Cancelled by a signal.
    static Progress& progress();
};

} // namespace headscope::cli
