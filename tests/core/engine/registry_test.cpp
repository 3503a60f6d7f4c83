#include "core/engine/engine.h"
#include "tests/catch.h"
#include "tests/support.h"

using namespace headscope;

TEST_CASE("every device that is listed can be made by its id, and auto too") {
    const auto all = devices();
    REQUIRE_FALSE(all.empty());
    for (const Device& device : all) {
        CHECK(make_engine(device.id)->name() == device.id);
        CHECK_FALSE(device.name.empty());
        CHECK_FALSE(device.detail.empty());
    }
    CHECK(make_engine("auto")->name() == all.front().id);
}

TEST_CASE("an unknown device is refused with what there is") {
    CHECK(error_kind([] { make_engine("abacus"); }) == ErrorKind::machine);
    CHECK_THROWS_WITH(make_engine("abacus"), Catch::Contains("abacus") && Catch::Contains("cpu"));
}
