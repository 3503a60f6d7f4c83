#include "core/engine/engine.h"
#include "tests/catch.h"
#include "tests/support.h"

using namespace headscope;
using namespace headscope::engine;

TEST_CASE("the CPU is listed first, and every device that is listed says what it is") {
    const DeviceList found = devices();
    REQUIRE_FALSE(found.devices.empty());
    CHECK(found.devices.front().id == "cpu");
    CHECK(make_engine("cpu")->name() == "cpu");
    CHECK((found.devices.size() == 1) == !found.missing.empty());
    for (const Device& device : found.devices) {
        CHECK_FALSE(device.name.empty());
        CHECK_FALSE(device.detail.empty());
    }
}

TEST_CASE("an unknown device is refused with what there is") {
    CHECK(error_kind([] { make_engine("abacus"); }) == ErrorKind::machine);
    CHECK_THROWS_WITH(make_engine("abacus"), Catch::Contains("abacus") && Catch::Contains("cpu"));
}
