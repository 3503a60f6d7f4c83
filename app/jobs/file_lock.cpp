#include "app/jobs/file_lock.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <chrono>
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
        fail_input(tr("file_lock.cannot_write_make_folder", "cannot write {}: {}; make its folder writable",
                      path.string(), system_reason(errno)));
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        // A search for files of dead processes was faster and is removing this file.
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
    // Shared, so that concurrent checks do not mistake each other for the owner.
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

KeptFile KeptFile::create(const std::filesystem::path& folder, const std::string& prefix,
                          const std::string& suffix) {
    // The user's edits are private.
    std::error_code fault;
    if (std::filesystem::create_directories(folder, fault))
        std::filesystem::permissions(folder, std::filesystem::perms::owner_all, fault);
    else if (fault)
        fail_input(tr("file_lock.cannot_make_folder_make",
                      "cannot create the folder {}: {}; make it writable", folder.string(),
                      system_reason(fault.value())));
    while (true) {
        const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
        std::filesystem::path path =
            folder / (prefix + std::to_string(::getpid()) + "-" + std::to_string(now.count()) + suffix);
        if (auto lock = FileLock::create(lock_of(path)))
            return {std::move(path), std::move(*lock)};
    }
}

std::filesystem::path lock_of(const std::filesystem::path& file) {
    return std::filesystem::path(file).replace_extension(".lock");
}

} // namespace headscope::app
