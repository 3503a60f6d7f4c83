#include "core/base/random_access_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headscope {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
    fail_input(tr("random_access_file.cannot_read_check",
                  "cannot read {}: {}; check the path and its permissions", path, reason));
}

} // namespace

RandomAccessFile::RandomAccessFile(const std::string& path) : path_(path) {
    // O_NONBLOCK: without it, opening a pipe that has no writer would block.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0)
        fail(path, system_reason(errno));
    struct stat status {};
    const int got = ::fstat(descriptor_, &status);
    if (got == 0 && S_ISREG(status.st_mode)) {
        size_ = static_cast<std::uint64_t>(status.st_size);
        return;
    }
    const std::string reason = got != 0
                                   ? system_reason(errno)
                                   : tr("random_access_file.no_regular_file", "it is not a regular file");
    ::close(descriptor_);
    fail(path, reason);
}

RandomAccessFile::~RandomAccessFile() {
    ::close(descriptor_);
}

void RandomAccessFile::read(std::uint64_t begin, std::span<char> to) const {
    for (std::size_t done = 0; done < to.size();) {
        const ssize_t got =
            ::pread(descriptor_, to.data() + done, to.size() - done, static_cast<off_t>(begin + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(path_, system_reason(errno));
        if (got == 0)
            fail_input(tr("random_access_file.ends_byte_had_bytes",
                          "{} ends at byte {} but had {} bytes when it was opened; it was cut short, so get "
                          "it again and reopen it",
                          path_, begin + done, size_));
        done += static_cast<std::size_t>(got);
    }
}

} // namespace headscope
