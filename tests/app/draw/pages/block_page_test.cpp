#include "app/draw/pages/pages.h"
#include "app/session/workspace.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/test_data.h"

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a page around attention waits while the block on screen is another page's") {
    SessionState state;
    Workspace workspace(state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}});
    const auto settle = [&] {
        workspace.settle();
        workspace.take_results();
    };
    Progress progress;
    workspace.open(open_model(test_data("/models/gpt2_tiny"), {"1 2 3", {}}, 0, progress));
    settle();
    workspace.change_view(GoTo{StageGroup::embedding});
    settle();
    // The ends of the model hold the last layer's output too, but not the terms that it is the sum of.
    REQUIRE(state.shown.block->layer == -1);
    REQUIRE(state.shown.tensor(TensorId::resid_out) != nullptr);
    REQUIRE(state.shown.tensor(TensorId::resid_mid) == nullptr);
    const figure::TextMeasure measure = approximate_measure();
    ViewState view = state.view;
    view.group = StageGroup::resid_out;
    CHECK(draw_canvas({state.shown, view, theme(false), measure, 960, 848}).grids.empty());
    workspace.change_view(GoTo{StageGroup::resid_out});
    settle();
    CHECK(draw_canvas({state.shown, state.view, theme(false), measure, 960, 848}).grids.size() == 3);
}

} // namespace headscope::test
