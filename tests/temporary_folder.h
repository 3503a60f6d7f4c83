#pragma once

#include "tests/catch.h"

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace headscope::test {

/// An empty folder that goes away with the object.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "headscope-test-XXXXXX").string()) {
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
    std::string path_;
};

} // namespace headscope::test
