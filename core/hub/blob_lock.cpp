#include "core/hub/blob_lock.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace headscope::hub {

BlobLock::BlobLock(const std::filesystem::path& path, const std::function<void()>& wait)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
        fail_input(tr("blob_lock.cannot_write",
                      "cannot write {}: {}; choose another folder with HF_HOME or --cache", path.string(),
                      system_reason(errno)));
    try {
        // A file system without locks answers with another error: then there is no lock.
        while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR))
            wait();
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

BlobLock::~BlobLock() {
    ::close(descriptor_);
}

} // namespace headscope::hub
