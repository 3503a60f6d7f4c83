#include "app/session/workspace.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/long_checkpoint.h"
#include "tests/temporary_folder.h"

namespace headscope::test {

using namespace headscope::app;

namespace {

/// A checkpoint that is open with a text whose stages are large, without a window.
struct LongText {
    TemporaryFolder folder;
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    LongText() {
        Progress progress;
        workspace.open(open_model(long_checkpoint(folder), {long_prompt()}, 0, progress));
        settle();
    }
    void settle() {
        workspace.settle();
        workspace.take_results();
    }
    void open_layer(std::int64_t l) { workspace.change_view(OpenHead{l, 0}); }
};

} // namespace

TEST_CASE("of a long text the stages of one layer are let go before those of another are computed") {
    LongText open;
    const Shown& shown = open.state.shown;
    REQUIRE(shown.trace != nullptr);
    open.open_layer(1);
    open.workspace.session().settle();
    CHECK(shown.is_pending()); // the run of layer 1 is out
    CHECK(shown.document->layer() == 0);
    open.settle();
    REQUIRE(shown.trace != nullptr);
    CHECK(shown.document->layer() == 1);
    CHECK(bitwise_difference(*shown.trace, cpu::CpuEngine(1).run(shown.problem())) == "");
    // The stages around the attention are computed when a screen first shows them.
    CHECK(shown.block == nullptr);
    open.workspace.change_view(GoTo{StageGroup::resid_in});
    open.settle();
    CHECK(shown.block != nullptr);
    open.workspace.change_view(GoTo{StageGroup::weights});
    CHECK(shown.block == nullptr);
    // Within a layer an edit keeps what it cannot reach.
    open.workspace.run(SetGain{0, 0.5F});
    CHECK(shown.trace != nullptr);
}

TEST_CASE("a layer of a long text that cannot be computed leaves the layer before on screen") {
    LongText open;
    const Shown& shown = open.state.shown;
    open.open_layer(1);
    open.settle();
    open.workspace.run(EditCell{{TensorId::W_Q, {0, 0, 0, 0}}, 1e38F});
    open.settle();
    open.open_layer(0);
    open.settle();
    REQUIRE(shown.trace != nullptr);
    CHECK(shown.document->layer() == 0);
    open.open_layer(1);
    open.settle();
    CHECK(open.state.error.find("leaves float32's range") != std::string::npos);
    CHECK(shown.is_pending());
    open.settle();
    REQUIRE(shown.trace != nullptr);
    CHECK(shown.document->layer() == 0);
    CHECK(open.state.error.find("leaves float32's range") != std::string::npos);
}

} // namespace headscope::test
