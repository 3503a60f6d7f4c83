#include "core/base/error.h"
#include "core/format/safetensors.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <cstring>
#include <optional>

using namespace headscope;

namespace {

void require(bool promise) {
    if (!promise)
        std::abort();
}

/// Runs `use` and says whether it was refused with an input error. Anything else it throws ends the program.
template<class Use>
bool accepted(Use use) {
    try {
        use();
        return true;
    } catch (const Error& error) {
        require(error.kind() == ErrorKind::input && std::strlen(error.what()) > 0);
        return false;
    }
}

bool same_bytes(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(float)) == 0;
}

/// What was read is written and read again: it must be the same.
void check_round_trip(const format::Safetensors& file) {
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : file.entries()) {
        TensorPtr tensor;
        BoolTensorPtr bools;
        if (accepted([&] { tensor = file.tensor(entry.name); }))
            writer.add(entry.name, tensor);
        else if (accepted([&] { bools = file.bools(entry.name); }))
            writer.add(entry.name, bools);
        accepted([&] { static_cast<void>(file.integers(entry.name)); });
    }
    for (const auto& [key, text] : file.metadata())
        writer.set_metadata(key, text);
    const format::Safetensors again = format::Safetensors::from_bytes(writer.bytes(), "the written file");
    require(again.metadata() == file.metadata());
    for (const format::SafetensorsEntry& entry : again.entries())
        if (entry.dtype == "F32")
            require(same_bytes(*again.tensor(entry.name), *file.tensor(entry.name)));
        else
            require(again.bools(entry.name)->values == file.bools(entry.name)->values);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    std::optional<format::Safetensors> file;
    if (accepted([&] { file = format::Safetensors::from_bytes(bytes, "input"); }))
        check_round_trip(*file);
    return 0;
}

void repair(std::string& input) {
    const auto end = input.rfind('}');
    if (end == std::string::npos || end < sizeof(std::uint64_t))
        return;
    const std::uint64_t length = end + 1 - sizeof(std::uint64_t);
    std::memcpy(input.data(), &length, sizeof(length));
}
