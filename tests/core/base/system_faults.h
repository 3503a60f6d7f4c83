#pragma once

#include <functional>

namespace headscope::test {

/// Causes a fault or an event, while the object exists, at the n-th call (from 0) by which the program opens,
/// inspects, reads, writes, syncs, closes, names, renames or locks a file, on any thread. The linker
/// redirects these calls (--wrap). Only one object may exist at a time.
class SystemFault {
public:
    /// Makes the call fail with this errno. A file is closed even if its close fails.
    SystemFault(int at, int error);
    /// Runs `event` before the call.
    SystemFault(int at, std::function<void()> event);
    SystemFault(const SystemFault&) = delete;
    SystemFault& operator=(const SystemFault&) = delete;
    ~SystemFault();

    /// Returns true if the call was reached.
    bool struck() const;
};

} // namespace headscope::test
