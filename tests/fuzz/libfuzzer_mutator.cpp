#include "tests/fuzz/target.h"

#include <algorithm>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// libFuzzer's own changes, half of the time repaired.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 2 == 0) {
        std::string input(reinterpret_cast<const char*>(data), size);
        repair(input);
        std::ranges::copy(input, data);
    }
    return size;
}
