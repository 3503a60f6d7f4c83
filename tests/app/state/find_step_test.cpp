#include "app/state/find_step.h"

#include "tests/catch.h"

using namespace headscope;
using app::find_step;

TEST_CASE("a stop is found by its label and by every stage that trace writes there") {
    using G = StageGroup;
    app::StepStrip strip;
    CHECK(find_step(strip, "split") == G::split);
    CHECK(find_step(strip, "q_heads") == G::split);
    CHECK(find_step(strip, "weights_mean") == G::weights);
    CHECK_FALSE(find_step(strip, "attn_out")); // a problem contains only attention
    CHECK_FALSE(find_step(strip, "resid_mid"));
    CHECK_FALSE(find_step(strip, "wings"));

    // A layer with norms before its branches.
    strip.before = {G::embedding};
    strip.layer.insert(strip.layer.begin(), {G::resid_in, G::norm1});
    strip.layer.insert(strip.layer.end(), {G::resid_mid, G::norm2, G::mlp_pre, G::mlp_out, G::resid_out});
    CHECK(find_step(strip, "attn_out") == G::output);
    CHECK(find_step(strip, "resid_mid") == G::resid_mid);

    // With a norm after the attention, the output of that norm is added.
    strip.layer.push_back(G::attn_out);
    CHECK(find_step(strip, "attn_out") == G::attn_out);
}
