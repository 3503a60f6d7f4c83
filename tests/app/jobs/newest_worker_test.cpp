#include "app/jobs/newest_worker.h"
#include "tests/catch.h"

#include <atomic>
#include <semaphore>

using namespace headscope;
using namespace headscope::app;

TEST_CASE("a worker hands out every answer of the newest task, and none of those before") {
    std::atomic<int> woken = 0;
    NewestWorker<int> worker([&] { ++woken; });
    std::binary_semaphore began(0);
    std::atomic<bool> stopped = false;
    worker.want([&](Progress& progress, const auto& put) {
        put(1);
        began.release();
        while (!progress.cancelled())
            std::this_thread::yield();
        stopped = true;
        put(2);
    });
    began.acquire();
    CHECK(worker.busy());
    worker.want([&](Progress& progress, const auto& put) {
        progress.report(0.5F);
        put(3);
        put(4);
    });
    worker.wait();
    CHECK(stopped);
    CHECK_FALSE(worker.busy());
    CHECK(worker.poll() == std::vector<int>{3, 4});
    CHECK(worker.poll().empty());
    CHECK(worker.fraction() == 0.0F);
    CHECK(woken >= 3);
}

TEST_CASE("what a worker is told to drop is cancelled, and so is what it does when it goes") {
    const auto until_cancelled = [](std::binary_semaphore& began) {
        return [&began](Progress& progress, const auto& put) {
            began.release();
            while (!progress.cancelled())
                std::this_thread::yield();
            put(1);
        };
    };
    std::binary_semaphore began(0);
    NewestWorker<int> worker({});
    worker.want(until_cancelled(began));
    began.acquire();
    worker.drop();
    worker.wait();
    CHECK_FALSE(worker.busy());
    CHECK(worker.poll().empty());
    {
        NewestWorker<int> ending({});
        ending.want(until_cancelled(began));
        began.acquire();
    }
    SUCCEED("the destructor came back");
}
