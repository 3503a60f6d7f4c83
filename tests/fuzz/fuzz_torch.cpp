#include "core/base/error.h"
#include "core/format/torch/torch_file.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace headscope;

namespace {

void use_file(const format::TorchFile& file) {
    fuzz::require(!file.entries().empty() && !file.header_sha256().empty());
    for (const format::TorchEntry& entry : file.entries()) {
        fuzz::require(file.find(entry.name) == &entry && entry.extents.size() == entry.strides.size());
        TensorPtr tensor;
        if (!fuzz::accepted([&] { tensor = file.tensor(entry.name); }) || !entry.contiguous)
            continue;
        std::vector<float> numbers(static_cast<std::size_t>(tensor->count()));
        file.read_numbers(entry.name, 0, numbers);
        fuzz::require(numbers.empty() ||
                      std::memcmp(numbers.data(), tensor->data(), numbers.size() * sizeof(float)) == 0);
    }
}

void put(std::string& input, std::size_t at, std::uint64_t number) {
    if (at + 4 > input.size())
        return;
    const auto low = static_cast<std::uint32_t>(number);
    std::memcpy(input.data() + at, &low, sizeof(low));
}

/// Makes the offsets of an archive fit again: of the directory, and of each part in it.
void repair_offsets(std::string& input) {
    const std::size_t directory = input.find("PK\x01\x02"), end = input.rfind("PK\x05\x06");
    if (directory == std::string::npos || end == std::string::npos || end < directory)
        return;
    put(input, end + 12, end - directory);
    put(input, end + 16, directory);
    std::size_t part = 0;
    for (std::size_t entry = directory; entry != std::string::npos && part != std::string::npos;
         entry = input.find("PK\x01\x02", entry + 4), part = input.find("PK\x03\x04", part + 4))
        put(input, entry + 42, part);
}

const fuzz::Registered torch_target({.name = "torch",
                                     .read =
                                         [](std::string_view bytes) {
                                             std::optional<format::TorchFile> file;
                                             if (fuzz::accepted([&] {
                                                     file = format::TorchFile::from_bytes(std::string(bytes),
                                                                                          "input");
                                                 }))
                                                 use_file(*file);
                                         },
                                     .repair = repair_offsets});

} // namespace
