#include "core/base/error.h"
#include "core/format/safetensors.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <cstring>
#include <optional>

using namespace headscope;

namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(float)) == 0;
}

/// Writes a file that was read and reads it again: it must be the same.
void check_round_trip(const format::Safetensors& file) {
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries()) {
        TensorPtr tensor;
        BoolTensorPtr bools;
        if (fuzz::accepted([&] { tensor = file.tensor(entry.name); }))
            writer.add(entry.name, tensor);
        else if (fuzz::accepted([&] { bools = file.bools(entry.name); }))
            writer.add(entry.name, bools);
        fuzz::accepted([&] { static_cast<void>(file.integers(entry.name)); });
    }
    for (const auto& [key, text] : file.metadata())
        writer.set_metadata(key, text);
    const format::Safetensors again = format::Safetensors::from_bytes(writer.bytes(), "the written file");
    fuzz::require(again.metadata() == file.metadata());
    for (const format::SafetensorsEntry& entry : again.entries())
        if (entry.dtype == "F32")
            fuzz::require(same_bytes(*again.tensor(entry.name), *file.tensor(entry.name)));
        else
            fuzz::require(again.bools(entry.name)->values == file.bools(entry.name)->values);
}

const fuzz::Registered safetensors_target(
    {.name = "safetensors",
     .read =
         [](std::string_view bytes) {
             std::optional<format::Safetensors> file;
             if (fuzz::accepted([&] { file = format::Safetensors::from_bytes(std::string(bytes), "input"); }))
                 check_round_trip(*file);
         },
     .repair = fuzz::repair_header_length});

} // namespace
