#pragma once

#include <functional>

namespace headscope::test {

/// While one lives, something happens at the n-th call, from 0, by which the program opens, looks at, reads,
/// writes, syncs, closes, names, renames or locks a file, on any thread. The linker puts it between the two
/// (--wrap). One at a time.
class SystemFault {
public:
    /// The call fails with this errno. A file that should be closed is closed.
    SystemFault(int at, int error);
    /// This is done before the call.
    SystemFault(int at, std::function<void()> event);
    SystemFault(const SystemFault&) = delete;
    SystemFault& operator=(const SystemFault&) = delete;
    ~SystemFault();

    /// Whether there were that many calls.
    bool struck() const;
};

} // namespace headscope::test
