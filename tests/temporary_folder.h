#pragma once

#include "tests/catch.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace headscope::test {

/// An empty folder that goes away with the object.
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

    /// A path in the folder; the folder itself for "".
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// How many entries it has.
    std::ptrdiff_t entries() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

private:
    /// Memory, where there is plenty: what the program saves need not reach a disk.
    static std::filesystem::path parent() {
        std::error_code none;
        const auto space = std::filesystem::space("/dev/shm", none);
        return !none && space.available > std::uintmax_t{4} << 30 ? "/dev/shm"
                                                                  : std::filesystem::temp_directory_path();
    }

    std::string path_;
};

} // namespace headscope::test
