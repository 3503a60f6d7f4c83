#include "core/format/npz.h"
#include "core/format/zip/zip_archive.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace headscope;

namespace {

/// Reads all arrays as a file of attention weights does.
void read_arrays(const format::NpzFile& file) {
    constexpr std::size_t most = 1 << 16;
    for (const format::NpzEntry& entry : file.entries()) {
        fuzz::accepted([&] { file.texts(entry); });
        fuzz::accepted([&] { file.integers(entry); });
        fuzz::accepted([&] {
            file.require_floats(entry);
            std::size_t count = 1;
            for (const std::int64_t extent : entry.extents)
                count *= static_cast<std::size_t>(extent); // fits, as the array does
            std::vector<float> numbers(std::min(count, most));
            file.read_numbers(entry, count - numbers.size(), numbers);
        });
    }
}

/// Sets the checksums of stored files to those of their bytes, so that changes in arrays are not all refused.
void repair_checksums(std::string& input) {
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        std::memcpy(&value, input.data() + at, sizeof(value));
        return value;
    };
    for (std::size_t row = input.find("PK\x01\x02"); row != std::string::npos && row + 46 <= input.size();
         row = input.find("PK\x01\x02", row + 4)) {
        const std::uint64_t size = number(row + 24), header = number(row + 42);
        if (input[row + 10] != 0 || header + 30 > input.size())
            continue;
        const std::uint64_t begin =
            header + 30 + (number(header + 26) & 0xFFFFU) + (number(header + 26) >> 16U);
        if (begin > input.size() || size > input.size() - begin)
            continue;
        const auto crc = static_cast<std::uint32_t>(
            crc32_z(0, reinterpret_cast<const Bytef*>(input.data() + begin), static_cast<z_size_t>(size)));
        std::memcpy(input.data() + row + 16, &crc, sizeof(crc));
    }
}

const fuzz::Registered npz_target({.name = "npz",
                                   .read =
                                       [](std::string_view bytes) {
                                           const fuzz::MemoryFile file(bytes);
                                           fuzz::accepted(
                                               [&] { read_arrays(format::NpzFile::open(file.path())); });
                                       },
                                   .repair = repair_checksums});

} // namespace
