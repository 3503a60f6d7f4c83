#include "core/analysis/heads/head_map.h"
#include "core/base/error.h"
#include "core/format/attention_file.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace headscope;

namespace {

void require(bool promise) {
    if (!promise)
        std::abort();
}

/// The bytes as a file that has a path.
class MemoryFile {
public:
    explicit MemoryFile(const std::string& bytes) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
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

/// Everything that the window asks of a file.
void look_at(const AttentionSet& set) {
    const AttentionInfo& info = set.info();
    require(info.L > 0 && info.H > 0 && info.Tq > 0 && info.Tk > 0);
    require(info.numbers.size() == static_cast<std::size_t>(info.L));
    for (const std::int64_t l : {std::int64_t{0}, info.L - 1}) {
        const auto queries = set.query_tokens(l).size(), keys = set.key_tokens(l).size();
        require(queries == 0 || queries == static_cast<std::size_t>(info.Tq));
        require(keys == 0 || keys == static_cast<std::size_t>(info.Tk));
        Progress progress;
        const Trace trace = analysis::attention_trace(set, l, progress);
        const auto maps = analysis::head_maps(set, l, 8, progress);
        require(maps.size() == static_cast<std::size_t>(info.H));
        for (const analysis::HeadMap& map : maps)
            require(map.facts.rows_off + map.facts.empty_rows <= info.Tq);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const MemoryFile file(std::string(reinterpret_cast<const char*>(data), size));
    try {
        look_at(*format::open_attention_file(file.path()));
    } catch (const Error& error) {
        require(error.kind() == ErrorKind::input && std::strlen(error.what()) > 0);
    }
    return 0;
}

void repair(std::string& input) {
    if (input.starts_with("\x93NUMPY"))
        return;
    const auto end = input.rfind('}');
    if (end == std::string::npos || end < sizeof(std::uint64_t))
        return;
    const std::uint64_t length = end + 1 - sizeof(std::uint64_t);
    std::memcpy(input.data(), &length, sizeof(length));
}
