#include "core/base/memory.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <filesystem>
#include <limits>

using namespace headscope;
using Catch::Contains;
using headscope::test::TemporaryFolder;

namespace {

/// A folder that stands for the root of a system.
class System {
public:
    void put(const std::string& name, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
        write_file_atomically(folder_.file(name), text);
    }
    std::uint64_t available() const { return detail::available_memory_below(folder_.file("")); }

private:
    TemporaryFolder folder_;
};

constexpr const char* meminfo = "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1000 kB\n";

} // namespace

TEST_CASE("free memory is what the system calls available") {
    System system;
    CHECK(system.available() == std::numeric_limits<std::uint64_t>::max());
    system.put("proc/meminfo", meminfo);
    CHECK(system.available() == 1'024'000);
    CHECK(available_memory() < std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("control groups of version 2 limit it, the outer ones too") {
    System system;
    system.put("proc/meminfo", meminfo);
    system.put("proc/self/cgroup", "0::/outer/inner\n");
    system.put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
    system.put("sys/fs/cgroup/outer/inner/memory.current", "5000\n");
    CHECK(system.available() == 1'024'000);
    system.put("sys/fs/cgroup/outer/memory.max", "90000\n");
    system.put("sys/fs/cgroup/outer/memory.current", "50000\n");
    CHECK(system.available() == 40'000);
    system.put("sys/fs/cgroup/outer/memory.stat", "anon 30000\ninactive_file 20000\n");
    CHECK(system.available() == 60'000);
    system.put("sys/fs/cgroup/outer/inner/memory.max", "4000\n");
    CHECK(system.available() == 0);
}

TEST_CASE("control groups of version 1 limit it, in a container without their folder too") {
    System system;
    system.put("proc/meminfo", meminfo);
    system.put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/of/the/host\n");
    system.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    system.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "7000\n");
    CHECK(system.available() == 1'024'000);
    system.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "10000\n");
    system.put("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\n");
    CHECK(system.available() == 5'000);
}

TEST_CASE("work that needs more memory than there is says both") {
    CHECK_NOTHROW(require_memory(1 << 20, "this", "that"));
    try {
        require_memory(std::uint64_t{1} << 60U, "this run", "take less");
        FAIL("nothing was thrown");
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::machine);
        CHECK_THAT(fault.what(), Contains("this run needs 1152921504.6 GB of memory, and this machine can "
                                          "spare ") &&
                                     Contains("; take less"));
    }
}

TEST_CASE("a file that does not fit into memory blames the machine and not the file") {
    const TemporaryFolder folder;
    write_file_atomically(folder.file("numbers"), std::string(100, 'x'));
    CHECK(read_file_into_memory(folder.file("numbers"), 100).size() == 100);
    try {
        read_file_into_memory(folder.file("numbers"), 99);
        FAIL("nothing was thrown");
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::machine);
        CHECK_THAT(fault.what(), Contains("is too large for the memory that is free"));
        CHECK(is_memory_shortage_message("layer 3: " + std::string(fault.what())));
    }
    CHECK_FALSE(is_memory_shortage_message("layer 3: another fault"));
}

TEST_CASE("sizes have the unit that a reader would choose") {
    CHECK(size_text(0) == "0 MB");
    CHECK(size_text(1) == "1 KB");
    CHECK(size_text(1'000) == "1 KB");
    CHECK(size_text(24'100) == "25 KB");
    CHECK(size_text(999'499) == "1000 KB");
    CHECK(size_text(999'500) == "1 MB");
    CHECK(size_text(77'000'000) == "77 MB");
    CHECK(size_text(1'500'000'000) == "1.5 GB");
}
