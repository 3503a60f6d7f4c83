#include "app/draw/pages/attention_pages.h"
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
    REQUIRE(state.shown.block->place.layer == -1);
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

TEST_CASE("the list of a head's largest weights waits while the board is of another text") {
    const auto opened = [](SessionState& state, const char* text) {
        auto workspace = std::make_unique<Workspace>(
            state, project::Recipe(),
            Workspace::Setup{.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}});
        Progress progress;
        workspace->open(open_model(test_data("/models/gpt2_tiny"), {text, {}}, 0, progress));
        workspace->settle();
        workspace->take_results();
        return workspace;
    };
    SessionState now, next;
    const auto workspace = opened(now, "1 2 3"), longer = opened(next, "1 2 3 4 5 6 7 8");
    REQUIRE(next.head_grid->row(0) != nullptr);
    const figure::TextMeasure measure = approximate_measure();
    DrawContext context{now.shown, now.view, theme(false), measure, 960, 848};
    context.head_grid = now.head_grid;
    REQUIRE(now.head_grid->row(0) != nullptr);
    const std::size_t both = draw_strongest_page(context, "why").scene.items.size();
    context.head_grid = next.head_grid;
    const std::size_t one = draw_strongest_page(context, "why").scene.items.size();
    CHECK(one < both);
    CHECK(one > 0);
}

} // namespace headscope::test
