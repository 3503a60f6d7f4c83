#include "core/analysis/stage_difference.h"
#include "tests/catch.h"

#include <limits>

using namespace headscope;
using namespace headscope::analysis;

TEST_CASE("the largest difference of two traces is found stage by stage") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    Trace a, b;
    a.slot(TensorId::q) = make_tensor({1, 2, 2}, std::vector<float>{1, 2, -8, 4});
    b.slot(TensorId::q) = make_tensor({1, 2, 2}, std::vector<float>{1, 2.5F, -8, 4.25F});
    a.slot(TensorId::masked) = make_tensor({1, 1, 1, 2}, std::vector<float>{-infinity, 3});
    b.slot(TensorId::masked) = make_tensor({1, 1, 1, 2}, std::vector<float>{-infinity, 3});
    a.slot(TensorId::k) = a.slot(TensorId::q); // the other lacks it
    const auto found = stage_differences(a, b);
    REQUIRE(found.size() == 2);
    CHECK(found[0].stage == TensorId::q);
    CHECK(found[0].largest == 0.5);
    CHECK(found[0].at == Index{0, 0, 1, 0});
    CHECK(found[0].magnitude == 8);
    CHECK(found[1].largest == 0);
    CHECK(found[1].magnitude == 3);
    b.slot(TensorId::masked) = make_tensor({1, 1, 1, 2}, std::vector<float>{0, 3});
    CHECK(stage_differences(a, b)[1].largest == infinity);
}
