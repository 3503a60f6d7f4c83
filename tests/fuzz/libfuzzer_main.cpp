#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace headscope;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

const fuzz::Target& target() {
    static const fuzz::Target& found = fuzz::find_target(HEADSCOPE_FUZZ_TARGET);
    return found;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    target().read({reinterpret_cast<const char*>(data), size});
    return 0;
}

/// Mutates the input with libFuzzer's mutator, and repairs half of the mutations.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 2 == 0) {
        std::string input(reinterpret_cast<const char*>(data), size);
        target().repair(input);
        std::ranges::copy(input, data);
    }
    return size;
}
