#include "core/analysis/heads/head_distance.h"
#include "tests/catch.h"
#include "tests/core/analysis/made_set.h"

#include <array>
#include <cmath>

namespace headscope::test {
namespace {

double between(const std::array<double, 2>& a, const std::array<double, 2>& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1]);
}

} // namespace

TEST_CASE("the distance of two heads is the divergence of their rows, as NumPy has it") {
    constexpr std::array<std::array<std::array<float, 4>, 4>, 3> heads{
        {{{{1, 0, 0, 0}, {0.5F, 0.5F, 0, 0}, {0.2F, 0.3F, 0.5F, 0}, {0.25F, 0.25F, 0.25F, 0.25F}}},
         {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}},
         {{{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}}}};
    const MadeSet set(1, 3, 4, {}, [&](std::int64_t, std::int64_t h, std::int64_t i, std::int64_t j) {
        return heads[static_cast<std::size_t>(h)][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    });
    Progress progress;
    const HeadDistances found = head_distances(set, progress);
    REQUIRE(found.heads == 3);
    CHECK(found.rows == 4);
    const auto at = [&](std::size_t a, std::size_t b) { return found.between[a * 3 + b]; };
    CHECK(at(0, 0) == 0.0);
    CHECK(at(0, 1) == Approx(0.8060487).margin(1e-5));
    CHECK(at(0, 2) == Approx(1.0127175).margin(1e-5));
    CHECK(at(1, 2) == Approx(2.0714318).margin(1e-5));
    CHECK(at(2, 1) == at(1, 2));
}

TEST_CASE("three places in a plane keep their distances") {
    const HeadDistances given{.heads = 3, .between = {0, 3, 4, 3, 0, 5, 4, 5, 0}};
    const auto places = scaled_to_plane(given);
    CHECK(between(places[0], places[1]) == Approx(3));
    CHECK(between(places[0], places[2]) == Approx(4));
    CHECK(between(places[1], places[2]) == Approx(5));
    CHECK(scaled_to_plane(given) == places);
}

TEST_CASE("of many heads evenly spaced rows are compared, and numbers that are not finite count as 0") {
    const MadeSet set(8, 32, 256, {}, [](std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j) {
        return l == 0 && h == 0 ? std::nanf("") : j == i ? 1.0F : 0.0F;
    });
    Progress progress;
    const HeadDistances found = head_distances(set, progress);
    CHECK(found.of == 256);
    CHECK(found.rows < 256);
    CHECK(found.between[1] == Approx(found.between[2]));
    CHECK(found.between[static_cast<std::size_t>(found.heads) + 2] == 0.0);
}

} // namespace headscope::test
