#include "app/jobs/file_lock.h"

#include "core/base/error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace headscope::app {

std::optional<FileLock> FileLock::create(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && errno == EEXIST)
        return std::nullopt;
    if (descriptor < 0)
        fail_input("cannot write " + path.string() + ": " + std::generic_category().message(errno) +
                   "; make its folder one that can be written to");
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        // Somebody who looks for files of dead programs was faster, and removes this one.
        ::close(descriptor);
        return std::nullopt;
    }
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || status.st_nlink == 0) {
        ::close(descriptor);
        return std::nullopt;
    }
    return FileLock(path, descriptor);
}

FileLock::~FileLock() {
    if (descriptor_ < 0)
        return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
}

bool is_locked(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return errno != ENOENT;
    // Shared, so that programs that look at the same time do not take each other for the owner.
    const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    ::close(descriptor);
    return locked;
}

void remove_unlocked(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(descriptor);
}

} // namespace headscope::app
