#include "core/tensor/free_buffers.h"
#include "core/tensor/tensor.h"
#include "tests/catch.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>

using namespace headscope;

namespace {

constexpr std::int64_t large = 1 << 18;

bool is_aligned(const Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.data()) % 64 == 0;
}

} // namespace

TEST_CASE("numbers are aligned to 64 bytes, whatever their count") {
    const auto store = std::make_shared<BufferStore>();
    for (const std::int64_t count : {0, 1, 15, 16, 17, 1000, 100'000, 1'000'000}) {
        CHECK(is_aligned(Tensor(Shape{count})));
        CHECK(is_aligned(Tensor(Shape{count}, store)));
    }
}

TEST_CASE("a store gives the memory of a large tensor to the next, and to no two at once") {
    const auto store = std::make_shared<BufferStore>();
    const float* first = nullptr;
    {
        const Tensor one(Shape{large}, store), two(Shape{large}, store);
        first = one.data();
        CHECK(first != two.data());
    }
    const Tensor again(Shape{large}, store), more(Shape{large}, store);
    CHECK((again.data() == first || more.data() == first));
    CHECK(again.data() != more.data());
}

TEST_CASE("a store that is released keeps what somebody holds") {
    const auto store = std::make_shared<BufferStore>();
    Tensor held(Shape{large}, store);
    held.at(large - 1) = 3;
    { const Tensor left(Shape{large}, store); }
    store->release();
    CHECK(held.at(large - 1) == 3);
    const Tensor next(Shape{large}, store);
    CHECK(next.data() != held.data());
}

#ifndef FREED_MEMORY_IS_KEPT
TEST_CASE("the free memory of every store goes back to the system when the program rests") {
    const auto resident = [] { // pages of this process
        std::ifstream counts("/proc/self/statm");
        std::int64_t size = 0, pages = 0;
        counts >> size >> pages;
        return pages;
    };
    constexpr std::int64_t numbers = 32 << 20; // 128 MiB
    const auto store = std::make_shared<BufferStore>();
    Tensor held(Shape{large}, store);
    held.at(large - 1) = 3;
    {
        Tensor left(Shape{numbers}, store);
        std::ranges::fill(left.values(), 1.0F);
    }
    const std::int64_t before = resident();
    release_free_buffers();
    CHECK(before - resident() > (100 << 20) / 4096);
    CHECK(held.at(large - 1) == 3);
}
#endif

TEST_CASE("a tensor outlives whoever holds its store") {
    auto store = std::make_shared<BufferStore>();
    Tensor tensor(Shape{large}, store);
    store.reset();
    tensor.at(large - 1) = 3;
    const Tensor moved = std::move(tensor);
    CHECK(moved.at(large - 1) == 3);
}

TEST_CASE("a tensor knows whether all its numbers are finite") {
    Tensor tensor(Shape{40}, 1.0F);
    CHECK(tensor.all_finite());
    for (const float wild : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()}) {
        Tensor bad(Shape{40}, std::numeric_limits<float>::max());
        bad.at(39) = wild;
        CHECK_FALSE(bad.all_finite());
        const Tensor moved = std::move(bad);
        CHECK_FALSE(moved.all_finite());
    }
}
