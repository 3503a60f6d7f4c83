#include "app/jobs/derived.h"
#include "core/base/error.h"
#include "tests/catch.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <thread>

using namespace headscope;
using namespace headscope::app;

namespace {

using Put = DerivedValues::Put<int>;

std::shared_ptr<const void> object() {
    return std::make_shared<const int>(0);
}

/// Work that blocks until it may continue, or until it is cancelled.
struct Gate {
    std::binary_semaphore began{0};
    std::atomic<bool> open = false;

    void pass(const Progress& progress) {
        began.release();
        while (!open) {
            progress.check();
            std::this_thread::yield();
        }
    }
};

} // namespace

TEST_CASE("a value is made once, by a worker, and kept for whoever asks again", "[derived]") {
    std::atomic<int> made = 0;
    std::binary_semaphore woken(0);
    std::once_flag once;
    DerivedValues values([&] { std::call_once(once, [&] { woken.release(); }); });
    const DerivedKey key{object(), "the answer"};
    const auto make = [&](Progress&, const Put&) { return ++made, 42; };
    const Derived<int> first = values.ask<int>(key, Priority::on_screen, make);
    values.wait();
    const Derived<int> second = values.ask<int>(key, Priority::on_screen, make);
    REQUIRE(second.value != nullptr);
    CHECK(*second.value == 42);
    CHECK(second.done);
    CHECK(second.error.empty());
    CHECK(made == 1);
    woken.acquire(); // perhaps a moment after the value is there
    CHECK((first.value == nullptr || *first.value == 42));
    CHECK_FALSE(values.busy());
    // Other parameters, another object and another type are other values.
    CHECK(values.peek<int>({key.of, "another"}).value == nullptr);
    CHECK(values.peek<int>({object(), key.parameters}).value == nullptr);
    CHECK(values.peek<float>(key).value == nullptr);
}

TEST_CASE("a coarse value is there before the fine one, with the share of the work that is done",
          "[derived]") {
    DerivedValues values({});
    Gate gate;
    const DerivedKey key{object(), "map"};
    values.ask<int>(key, Priority::on_screen, [&](Progress& progress, const Put& put) {
        put(1);
        progress.report(0.5F);
        gate.pass(progress);
        return 2;
    });
    gate.began.acquire();
    const Derived<int> coarse = values.peek<int>(key);
    REQUIRE(coarse.value != nullptr);
    CHECK(*coarse.value == 1);
    CHECK_FALSE(coarse.done);
    CHECK(coarse.fraction == 0.5F);
    CHECK(values.fraction() == 0.5F);
    CHECK(values.busy());
    gate.open = true;
    values.wait();
    CHECK(*values.peek<int>(key).value == 2);
    CHECK(values.peek<int>(key).done);
    CHECK(*coarse.value == 1); // a value that was handed out does not change
}

TEST_CASE("a value is pending until the frame after its end", "[derived]") {
    DerivedValues values({});
    const DerivedKey key{object(), "quick"};
    CHECK_FALSE(values.pending());
    values.ask<int>(key, Priority::on_screen, [](Progress&, const Put&) { return 1; });
    values.wait();
    CHECK_FALSE(values.busy());
    CHECK(values.pending());
    values.begin_frame();
    CHECK_FALSE(values.pending());
    values.ask<int>(key, Priority::on_screen, [](Progress&, const Put&) { return 1; });
    CHECK_FALSE(values.pending());
}

TEST_CASE("a short wait ends when its time is over, or when nothing is left to be made", "[derived]") {
    DerivedValues values({});
    Gate gate;
    values.ask<int>({object(), "slow"}, Priority::on_screen, [&](Progress& progress, const Put&) {
        gate.pass(progress);
        return 1;
    });
    CHECK_FALSE(values.wait_for(std::chrono::milliseconds(1)));
    gate.open = true;
    CHECK(values.wait_for(std::chrono::minutes(1)));
    CHECK_FALSE(values.busy());
}

TEST_CASE("an error is a value: it is told, and the work is not tried again", "[derived]") {
    DerivedValues values({});
    std::atomic<int> tried = 0;
    const DerivedKey key{object(), "broken"};
    const auto make = [&](Progress&, const Put& put) -> int {
        ++tried;
        put(7);
        fail_input("the file is gone; choose another");
    };
    values.ask<int>(key, Priority::on_screen, make);
    values.wait();
    const Derived<int> broken = values.ask<int>(key, Priority::on_screen, make);
    values.wait();
    CHECK(broken.done);
    CHECK(broken.error == "the file is gone; choose another");
    REQUIRE(broken.value != nullptr); // the previous value
    CHECK(*broken.value == 7);
    CHECK(tried == 1);
    const DerivedKey large{key.of, "large"};
    values.ask<int>(large, Priority::on_screen, [](Progress&, const Put&) -> int { throw std::bad_alloc(); });
    values.wait();
    CHECK(values.peek<int>(large).error.find("memory") != std::string::npos);
}

TEST_CASE("what follows from an object that is gone is cancelled and dropped", "[derived]") {
    DerivedValues values({});
    Gate gate, never;
    const auto old = object(), kept = object();
    values.ask<int>({kept, "first"}, Priority::on_screen, [](Progress&, const Put&) { return 1; });
    values.wait();
    std::atomic<bool> cancelled = false;
    values.ask<int>({old, "runs"}, Priority::on_screen, [&](Progress& progress, const Put& put) {
        gate.began.release();
        while (!progress.cancelled())
            std::this_thread::yield();
        cancelled = true;
        put(5);
        return 6; // too late
    });
    values.ask<int>({old, "waits"}, Priority::background, [&](Progress& progress, const Put&) {
        never.pass(progress);
        return 2;
    });
    gate.began.acquire();
    values.retain({kept});
    values.wait();
    CHECK(cancelled);
    CHECK_FALSE(never.began.try_acquire());
    CHECK(values.peek<int>({old, "runs"}).value == nullptr);
    CHECK(values.peek<int>({old, "waits"}).value == nullptr);
    CHECK(*values.peek<int>({kept, "first"}).value == 1);
}

TEST_CASE("what is on screen goes first, then the rest in the order of asking", "[derived]") {
    DerivedValues values({});
    Gate gate;
    const auto of = object();
    std::mutex mutex;
    std::vector<std::string> order;
    const auto note = [&](const std::string& name) {
        return [&, name](Progress&, const auto&) {
            const std::scoped_lock lock(mutex);
            order.push_back(name);
            return 0;
        };
    };
    values.ask<int>({of, "gate"}, Priority::on_screen, [&](Progress& progress, const Put&) {
        gate.pass(progress);
        return 0;
    });
    gate.began.acquire();
    for (const char* name : {"a", "b", "c", "d"})
        values.ask<int>({of, name}, Priority::background, note(name));
    values.begin_frame();
    values.ask<int>({of, "gate"}, Priority::on_screen, note("gate"));
    values.ask<int>({of, "seen"}, Priority::on_screen, note("seen"));
    values.ask<int>({of, "c"}, Priority::on_screen, note("c")); // was asked for already; now it is in sight
    gate.open = true;
    values.wait();
    CHECK(order == std::vector<std::string>{"seen", "c", "a", "b", "d"});
}

TEST_CASE("work in the background stops for what is on screen, and is done afterwards", "[derived]") {
    DerivedValues values({});
    Gate gate;
    const auto of = object();
    std::atomic<int> begun = 0;
    const auto slow = [&](Progress& progress, const Put&) {
        ++begun;
        gate.pass(progress);
        return 1;
    };
    values.ask<int>({of, "slow"}, Priority::background, slow);
    gate.began.acquire();
    std::binary_semaphore seen(0);
    values.ask<int>({of, "seen"}, Priority::on_screen, [&](Progress&, const Put&) {
        seen.release();
        return 2;
    });
    seen.acquire(); // although the slow work could continue forever
    gate.began.acquire();
    gate.open = true;
    values.wait();
    CHECK(begun == 2);
    CHECK(*values.peek<int>({of, "slow"}).value == 1);
    CHECK(*values.peek<int>({of, "seen"}).value == 2);
}

TEST_CASE("what scrolled away before it was begun is forgotten", "[derived]") {
    DerivedValues values({});
    Gate gate;
    const auto of = object();
    std::atomic<int> made = 0;
    const auto count = [&](Progress&, const Put&) { return ++made; };
    const auto hold = [&](Progress& progress, const Put&) {
        gate.pass(progress);
        return 0;
    };
    values.ask<int>({of, "hold"}, Priority::on_screen, hold);
    gate.began.acquire();
    values.ask<int>({of, "away"}, Priority::on_screen, count);
    for (int frame = 0; frame < 3; ++frame) {
        values.begin_frame();
        values.ask<int>({of, "hold"}, Priority::on_screen, hold);
        values.ask<int>({of, "stays"}, Priority::on_screen, count);
    }
    gate.open = true;
    values.wait();
    CHECK(made == 1);
    CHECK(values.peek<int>({of, "stays"}).done);
    CHECK_FALSE(values.peek<int>({of, "away"}).done);
}

TEST_CASE("values stay within the budget: the least recently asked go first, never what is on screen",
          "[derived]") {
    DerivedValues values({}, 300);
    const auto of = object();
    const auto make = [](Progress&, const Put&) { return 0; };
    const auto ask = [&](const std::string& name) {
        values.begin_frame();
        values.begin_frame(); // the values of the previous request are no longer on screen
        values.ask<int>({of, name}, Priority::on_screen, make, 100);
        values.wait();
    };
    for (const char* name : {"a", "b", "c"})
        ask(name);
    CHECK(values.bytes() == 300);
    ask("a"); // now b is the oldest
    ask("d");
    CHECK(values.bytes() == 300);
    CHECK(values.peek<int>({of, "a"}).done);
    CHECK_FALSE(values.peek<int>({of, "b"}).done);
    CHECK(values.peek<int>({of, "c"}).done);
    values.begin_frame();
    for (const char* name : {"v", "w", "x", "y"})
        values.ask<int>({of, name}, Priority::on_screen, make, 100);
    values.wait();
    for (const char* name : {"v", "w", "x", "y"})
        CHECK(values.peek<int>({of, name}).done);
    CHECK(values.bytes() >= 400);
}

TEST_CASE("values that end cancel the work under way", "[derived]") {
    Gate gate;
    {
        DerivedValues values({});
        values.ask<int>({object(), "endless"}, Priority::background, [&](Progress& progress, const Put&) {
            gate.pass(progress);
            return 0;
        });
        gate.began.acquire();
    }
    SUCCEED("the worker has ended");
}

TEST_CASE("whoever waits for the end finds that nothing is held for the work any more", "[derived]") {
    std::atomic<bool> gone = false;
    std::shared_ptr<const int> model(new int(1), [&](const int* given) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        delete given;
        gone = true;
    });
    DerivedValues values({});
    const DerivedKey key{object(), "of a model"};
    values.ask<int>(key, Priority::on_screen,
                    [held = std::move(model)](Progress&, const Put&) { return *held; });
    while (!values.peek<int>(key).done)
        std::this_thread::yield();
    values.wait();
    CHECK(gone);
    CHECK_FALSE(values.busy());
}

TEST_CASE("a value that is stopped keeps what it has put, and goes on from there", "[derived]") {
    DerivedValues values({});
    Gate gate;
    const DerivedKey key{object(), "runs"};
    const auto make = [&](Progress& progress, const Put& put, const std::shared_ptr<const int>& so_far) {
        const int from = so_far == nullptr ? 0 : *so_far;
        for (int n = from + 1; n <= 3; ++n) {
            if (n == 3)
                gate.pass(progress);
            put(n * (from == 0 ? 1 : 10));
        }
        return from + 100;
    };
    const Priority urgency = GENERATE(Priority::on_screen, Priority::background);
    values.ask<int>(key, urgency, make);
    gate.began.acquire();
    values.stop<int>(key, true);
    values.wait();
    // It stays so, also off the screen and asked again.
    for (int frame = 0; frame < 3; ++frame)
        values.begin_frame();
    const Derived<int> stopped = values.ask<int>(key, urgency, make);
    CHECK(stopped.stopped);
    CHECK_FALSE(stopped.done);
    REQUIRE(stopped.value != nullptr);
    CHECK(*stopped.value == 2);
    CHECK_FALSE(values.busy());
    gate.open = true;
    values.stop<int>(key, false);
    values.wait();
    const Derived<int> all = values.peek<int>(key);
    CHECK(*all.value == 102);
    CHECK(all.done);
    CHECK_FALSE(all.stopped);
}

TEST_CASE("a value that waits in the background can be stopped, and begins when it goes on", "[derived]") {
    DerivedValues values({});
    Gate gate;
    const DerivedKey first{object(), "first"}, second{object(), "second"};
    values.ask<int>(first, Priority::background, [&](Progress& progress, const Put&) {
        gate.pass(progress);
        return 1;
    });
    gate.began.acquire();
    values.ask<int>(second, Priority::background, [](Progress&, const Put&) { return 2; });
    values.stop<int>(second, true);
    gate.open = true;
    values.wait();
    CHECK(values.peek<int>(first).done);
    CHECK_FALSE(values.peek<int>(second).done);
    values.stop<int>(second, false);
    values.wait();
    CHECK(values.peek<int>(second).done);
}
