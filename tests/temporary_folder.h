#pragma once

#include "tests/catch.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace headscope::test {

/// An empty folder that is removed with the object.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((parent() / "headscope-test-XXXXXX").string()) {
        REQUIRE(::mkdtemp(path_.data()) != nullptr);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    /// Returns a path in the folder; the folder itself for "".
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// Returns the number of entries in the folder.
    std::ptrdiff_t entries() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

private:
    /// Returns a folder in memory, if there is plenty: files of tests do not need to reach a disk.
    static std::filesystem::path parent() {
        std::error_code none;
        const auto space = std::filesystem::space("/dev/shm", none);
        return !none && space.available > std::uintmax_t{4} << 30 ? "/dev/shm"
                                                                  : std::filesystem::temp_directory_path();
    }

    std::string path_;
};

} // namespace headscope::test
