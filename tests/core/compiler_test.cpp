#include "tests/catch.h"

#include <array>
#include <cstdint>
#include <vector>

namespace {

[[gnu::noinline]] std::array<std::int64_t, 4> index_with_zeros() {
    return {7, 7, 0, 0};
}

[[gnu::noinline]] std::vector<float> floats_with_zeros() {
    return std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0};
}

} // namespace

TEST_CASE("the compiler copies constants whose upper half is zero as they are") {
    CHECK(index_with_zeros() == std::array<std::int64_t, 4>{7, 7, 0, 0});
    const std::vector<float> floats = floats_with_zeros();
    CHECK(floats[0] == 1);
    CHECK(floats[4] == 0);
    CHECK(floats[6] == 0);
}
