#include "tests/core/base/system_faults.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace {

std::atomic<int> calls_left = -1; // -1: no event is left
std::atomic<int> error_of_call = 0;
std::function<void()> event_before_call;

/// Returns the errno with which this call fails; 0: the call is made.
int fault() {
    if (calls_left.load() < 0 || calls_left.fetch_sub(1) != 0)
        return 0;
    if (event_before_call)
        event_before_call();
    return error_of_call;
}

/// Returns the call's result, or -1 with an errno.
template<class Call>
auto made(const Call& call) -> decltype(call()) {
    if (const int error = fault(); error != 0) {
        errno = error;
        return -1;
    }
    return call();
}

} // namespace

namespace headscope::test {

SystemFault::SystemFault(int at, int error) {
    error_of_call = error;
    calls_left = at;
}

SystemFault::SystemFault(int at, std::function<void()> event) {
    event_before_call = std::move(event);
    calls_left = at;
}

SystemFault::~SystemFault() {
    calls_left = -1;
    error_of_call = 0;
    event_before_call = {};
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): it is about this object
bool SystemFault::struck() const {
    return calls_left < 0;
}

} // namespace headscope::test

// NOLINTBEGIN(bugprone-reserved-identifier): these names are what --wrap makes of the system's
extern "C" {

int __real_open(const char* path, int flags, ...);
ssize_t __real_read(int file, void* to, size_t size);
ssize_t __real_pread(int file, void* to, size_t size, off_t at);
ssize_t __real_write(int file, const void* from, size_t size);
int __real_fstat(int file, struct stat* status);
int __real_fsync(int file);
int __real_close(int file);
int __real_fchmod(int file, mode_t mode);
int __real_linkat(int from_folder, const char* from, int to_folder, const char* to, int flags);
int __real_rename(const char* from, const char* to);
int __real_flock(int file, int operation);

int __wrap_open(const char* path, int flags, ...) {
    std::va_list more;
    va_start(more, flags);
    const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mode = makes ? va_arg(more, mode_t) : 0;
    va_end(more);
    return made([&] { return __real_open(path, flags, mode); });
}
ssize_t __wrap_read(int file, void* to, size_t size) {
    return made([&] { return __real_read(file, to, size); });
}
ssize_t __wrap_pread(int file, void* to, size_t size, off_t at) {
    return made([&] { return __real_pread(file, to, size, at); });
}
ssize_t __wrap_write(int file, const void* from, size_t size) {
    return made([&] { return __real_write(file, from, size); });
}
int __wrap_fstat(int file, struct stat* status) {
    return made([&] { return __real_fstat(file, status); });
}
int __wrap_fsync(int file) {
    return made([&] { return __real_fsync(file); });
}
int __wrap_close(int file) {
    const int error = fault(), closed = __real_close(file);
    if (error == 0)
        return closed;
    errno = error;
    return -1;
}
int __wrap_fchmod(int file, mode_t mode) {
    return made([&] { return __real_fchmod(file, mode); });
}
int __wrap_linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    return made([&] { return __real_linkat(from_folder, from, to_folder, to, flags); });
}
int __wrap_rename(const char* from, const char* to) {
    return made([&] { return __real_rename(from, to); });
}
int __wrap_flock(int file, int operation) {
    return made([&] { return __real_flock(file, operation); });
}
}
// NOLINTEND(bugprone-reserved-identifier)
