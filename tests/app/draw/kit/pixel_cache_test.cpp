#include "app/draw/kit/pixel_cache.h"

#include "tests/catch.h"

using namespace headscope;
using namespace headscope::app;

TEST_CASE("pixels of numbers are made anew when the numbers are gone or others") {
    PixelCache cache;
    int made = 0;
    const auto make = [&] { return std::vector<figure::Color>{static_cast<figure::Color>(++made)}; };
    auto owner = std::make_shared<int>(1);
    const auto first = cache.find_owned(owner, 7, make);
    CHECK(made == 1);
    const auto again = cache.find_owned(owner, 7, make);
    CHECK(made == 1);
    CHECK(again.pixels == first.pixels);
    CHECK(again.name == first.name);
    CHECK(first.name == name_of(*first.pixels));

    // Another owner, at whatever address.
    owner = std::make_shared<int>(2);
    const auto other = cache.find_owned(owner, 7, make);
    CHECK(made == 2);
    CHECK(other.name != first.name);
    CHECK(cache.bytes() == sizeof(figure::Color));
    owner.reset();
    cache.find_owned(std::make_shared<int>(3), 7, make);
    CHECK(made == 3);
}

TEST_CASE("pixels of numbers that are gone are not kept") {
    PixelCache cache;
    const auto make = [] { return std::vector<figure::Color>(100, 5); };
    const auto here = std::make_shared<int>(1);
    for (int n = 0; n < 20; ++n)
        cache.find_owned(std::make_shared<int>(n), key_of({static_cast<std::uint64_t>(n)}), make);
    cache.find_owned(here, 1, make);
    CHECK(cache.bytes() == 100 * sizeof(figure::Color));
    cache.find(2, make); // of nobody
    cache.find_owned(std::make_shared<int>(3), 3, make);
    cache.find_owned(here, 4, make);
    CHECK(cache.bytes() == 300 * sizeof(figure::Color));
}

TEST_CASE("pixels that are alone over the budget are still handed out") {
    PixelCache cache(4);
    const auto owner = std::make_shared<int>(1);
    const auto make = [] { return std::vector<figure::Color>(100, 5); };
    CHECK(cache.find_owned(owner, 1, make).pixels->size() == 100);
    CHECK(cache.find_owned(owner, 2, make).pixels->size() == 100);
}

TEST_CASE("what no frame asks for is let go, and what every frame asks for stays") {
    PixelCache cache;
    int made = 0, looked = 0;
    const auto make = [&] { return std::vector<figure::Color>(100, static_cast<figure::Color>(++made)); };
    const std::function<int()> compute = [&] { return ++looked; };
    const auto owner = std::make_shared<int>(1);
    cache.find(1, make);
    cache.find_owned(owner, 2, make);
    cache.cached_result<int>(owner, 3, compute);
    for (std::int64_t frame = 0; frame <= FrameCounter::kept_frames; ++frame) {
        cache.find(4, make);
        cache.find_owned(owner, 5, make);
        cache.cached_result<int>(owner, 6, compute);
        CHECK(cache.bytes() == 400 * sizeof(figure::Color));
        cache.end_frame();
    }
    CHECK(made == 4);
    CHECK(looked == 2);
    CHECK(cache.bytes() == 200 * sizeof(figure::Color));
    cache.find(1, make);
    cache.find_owned(owner, 2, make);
    cache.cached_result<int>(owner, 3, compute);
    CHECK(made == 6);
    CHECK(looked == 3);
}

TEST_CASE("pixels of numbers that are gone go with the frame") {
    PixelCache cache;
    auto owner = std::make_shared<int>(1);
    cache.find_owned(owner, 1, [] { return std::vector<figure::Color>(100, 5); });
    cache.end_frame();
    CHECK(cache.bytes() == 100 * sizeof(figure::Color));
    owner.reset();
    cache.end_frame();
    CHECK(cache.bytes() == 0);
}
