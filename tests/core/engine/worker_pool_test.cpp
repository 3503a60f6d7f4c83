#include "core/engine/cpu/worker_pool.h"
#include "tests/catch.h"

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace headscope;

TEST_CASE("a pool calls every index once, with workers it told of") {
    for (const int threads : {1, 2, 5}) {
        cpu::WorkerPool pool(threads);
        for (const std::int64_t count : {0, 1, 3, 1000}) {
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
            std::atomic<bool> worker_in_range{true};
            pool.run(count, [&](std::int64_t index, int worker) {
                ++calls[static_cast<std::size_t>(index)];
                if (worker < 0 || worker >= threads)
                    worker_in_range = false;
            });
            bool once = true;
            for (const auto& n : calls)
                once = once && n == 1;
            CHECK(once);
            CHECK(worker_in_range);
        }
    }
}

TEST_CASE("workers of one number never run at the same time") {
    cpu::WorkerPool pool(4);
    std::vector<std::atomic<int>> inside(4);
    std::atomic<bool> clash{false};
    for (int round = 0; round < 50; ++round)
        pool.run(64, [&](std::int64_t, int worker) {
            auto& mine = inside[static_cast<std::size_t>(worker)];
            if (++mine != 1)
                clash = true;
            --mine;
        });
    CHECK_FALSE(clash);
}

TEST_CASE("a pool rethrows the first exception after all workers have stopped, and works again") {
    cpu::WorkerPool pool(3);
    for (int round = 0; round < 100; ++round) {
        std::atomic<int> running{0};
        CHECK_THROWS_AS(pool.run(100,
                                 [&](std::int64_t index, int) {
                                     ++running;
                                     if (index % 10 == 7) {
                                         --running;
                                         throw std::runtime_error("task");
                                     }
                                     --running;
                                 }),
                        std::runtime_error);
        CHECK(running == 0);
        std::atomic<std::int64_t> sum{0};
        pool.run(100, [&](std::int64_t index, int) { sum += index; });
        CHECK(sum == 4950);
    }
}

TEST_CASE("no task begins after one has thrown on a pool of one thread") {
    cpu::WorkerPool pool(1);
    int calls = 0;
    CHECK_THROWS_AS(pool.run(10,
                             [&](std::int64_t index, int) {
                                 ++calls;
                                 if (index == 3)
                                     throw std::runtime_error("task");
                             }),
                    std::runtime_error);
    CHECK(calls == 4);
}
