#include "tests/catch.h"
#include "tests/gui/support/screen.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

// Mixtures of experts and latent attention on the screen.

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

TEST_CASE("a mixture is walked: the router, an expert, the tokens that use it, one of its units", "[model]") {
    User user("first-lesson", "", 1600, 1900); // the pages are high
    user.open(test_data("/models/mixtral_tiny"), "3 1 4 1 5 9 2 6");
    user.act(GoTo{StageGroup::norm2, -1, 1});
    constexpr std::int64_t last = 7;
    user.press_key(GLFW_KEY_RIGHT);
    REQUIRE(user.view().group == StageGroup::routing);
    const auto fraction = [&](std::int64_t token, std::int64_t expert) {
        return user.shown().value({TensorId::routing, {0, token, expert, 0}});
    };
    std::int64_t used = 0, unused = 0;
    for (std::int64_t e = 0; e < 4; ++e)
        (fraction(last, e) > 0 ? used : unused) = e;
    user.press("score of expert " + std::to_string(unused));
    CHECK(user.view().selected == CellAddress{TensorId::routing, {0, last, unused, 0}});
    CHECK(screen_shows("The token uses the 2"));
    user.press("score of expert " + std::to_string(used));
    CHECK_FALSE(screen_shows("The token uses the 2"));

    user.press_key(GLFW_KEY_RIGHT);
    REQUIRE(user.view().group == StageGroup::mlp_out);
    REQUIRE(user.shown().expert != nullptr);
    const checkpoint::ExpertRun first = *user.shown().expert;
    CHECK(first.expert == used);
    CHECK(first.token == last);
    CHECK(screen_shows("Expert " + std::to_string(used) + " at its tokens"));
    CHECK(std::ranges::all_of(first.tokens, [&](std::int64_t token) { return fraction(token, used) > 0; }));
    REQUIRE(first.tokens.size() > 1);
    const std::int64_t other = first.tokens.front() == last ? first.tokens.back() : first.tokens.front();
    user.press("expert row " + std::to_string(other));
    REQUIRE(user.shown().expert != nullptr);
    CHECK(user.shown().expert->token == other);
    CHECK(user.shown().expert->expert == used);
    const auto& adds = user.shown().expert->adds;
    const std::int64_t unit = std::ranges::max_element(adds) - adds.begin();
    user.press("act " + std::to_string(other) + " " + std::to_string(unit));
    CHECK(user.view().selected == CellAddress{TensorId::expert_W_out, {used, unit, 0, 0}});
    CHECK(user.shown().expert->token == other);
}

TEST_CASE("a layer with latent attention says what it caches, beside other ways", "[model]") {
    User user;
    user.open(test_data("/models/deepseek_v2_tiny"), "1 2 3 4 5");
    user.act(GoTo{StageGroup::x, 4, 1});
    // 12 latent numbers and a key of 4 that is rotated; four heads with keys of 10 and values of 5.
    for (const char* text : {"MLA, r + dr = 16", "16 numbers", "64 B", "MHA, Hkv = 4", "60 numbers", "240 B",
                             "GQA, Hkv = 2", "MQA, Hkv = 1", "15 numbers"}) {
        INFO(text);
        CHECK(screen_shows(text));
    }
    User plain;
    plain.open(test_data("/models/mixtral_tiny"), "1 2 3 4 5");
    plain.act(GoTo{StageGroup::x, 4, 1});
    CHECK_FALSE(screen_shows("Cached of each token"));
}
