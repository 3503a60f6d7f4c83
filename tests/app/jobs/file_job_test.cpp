#include "app/jobs/file_job.h"

#include "tests/catch.h"

#include <atomic>
#include <chrono>
#include <string>

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a file job works elsewhere and ends where it is polled", "[files]") {
    std::atomic<int> woken = 0;
    std::string error;
    const FileJob::Failed failed = [&](const std::string& sentence) { error = sentence; };
    FileJob job([&] { ++woken; });
    const std::thread::id here = std::this_thread::get_id();

    SECTION("well") {
        std::thread::id worked{}, ended{};
        job.start(
            "Saving", false,
            [&](Progress&) -> FileJob::Done {
                worked = std::this_thread::get_id();
                return [&] { ended = std::this_thread::get_id(); };
            },
            failed);
        CHECK(job.busy());
        CHECK(job.label() == "Saving");
        job.wait();
        CHECK_FALSE(job.busy());
        CHECK(woken == 1);
        CHECK(worked != here);
        CHECK(ended == here);
        CHECK(error.empty());
        job.poll(); // nothing happens twice
        CHECK_FALSE(job.busy());
    }
    SECTION("with a sentence") {
        job.start(
            "Saving", false, [](Progress&) -> FileJob::Done { fail_input("the disk is full"); }, failed);
        job.wait();
        CHECK(error == "the disk is full");
        CHECK_FALSE(job.busy());
    }
    SECTION("cancelled, in silence") {
        bool done = false;
        job.start(
            "Opening", true,
            [&](Progress& progress) -> FileJob::Done {
                while (true) {
                    progress.check();
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                return [&] { done = true; };
            },
            failed);
        job.cancel();
        job.wait();
        CHECK_FALSE(done);
        CHECK(error.empty());
        CHECK_FALSE(job.busy());
    }
    SECTION("one after the other") {
        int ended = 0;
        job.start(
            "first", false,
            [&](Progress&) -> FileJob::Done {
                return [&] {
                    ++ended;
                    job.start(
                        "second", true, [&](Progress&) -> FileJob::Done { return [&] { ++ended; }; }, failed);
                };
            },
            failed);
        job.wait();
        CHECK(ended == 1);
        CHECK(job.label() == "second");
        job.wait();
        CHECK(ended == 2);
    }
    SECTION("given up with the program") {
        job.start(
            "long", false,
            [](Progress& progress) -> FileJob::Done {
                while (!progress.cancelled())
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                return {};
            },
            failed); // the destructor ends it
    }
}

} // namespace headscope::test
