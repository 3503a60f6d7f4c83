#pragma once

#include "tests/fuzz/target.h"

#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace headscope::fuzz {

/// A file in memory with these bytes and a path.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
        require(descriptor_ >= 0);
        require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(descriptor_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

} // namespace headscope::fuzz
