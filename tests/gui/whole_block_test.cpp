#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/panels/panels.h"
#include "core/checkpoint/run/forward.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/screen.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr const char* ids_typed = "3 1 4 1 5 9 2 6";

/// The whole model, by the function that the command line calls.
checkpoint::ForwardResult whole_pass(const std::string& folder, const checkpoint::ModelEdits& edits = {}) {
    checkpoint::ModelInputs inputs;
    inputs.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    inputs.T = 8;
    checkpoint::ForwardOptions options{.stages = StageSet::all(), .edits = edits};
    for (const TensorInfo& row : block_table())
        options.stages = options.stages.with(row.id);
    cpu::CpuEngine engine;
    Progress progress;
    return checkpoint::run_model(
        checkpoint::Model::open(folder), inputs, options,
        [&](const Problem& problem, StageSet stages, Progress& cancel) {
            return static_cast<engine::Engine&>(engine).run(problem, stages, cancel);
        },
        progress);
}

/// Attention and what lies around it in one layer, with the weights there, and what there is once.
Trace trace_of(const checkpoint::ForwardResult& result, const checkpoint::Model& model, std::int64_t layer) {
    Trace trace = result.layers[static_cast<std::size_t>(layer)].trace;
    for (const checkpoint::BlockRun& block : result.blocks)
        if (block.place.layer == layer || block.place.layer < 0)
            trace.slot(block.id) = block.tensor;
    trace.slot(TensorId::logits) = result.logits;
    for (const TensorInfo& row : block_weight_table()) {
        const checkpoint::WeightId weight = *checkpoint::weight_of(row.id);
        const std::int64_t with = checkpoint::edited_with(model.architecture(), layer, weight);
        trace.slot(row.id) =
            is_table(row.id) ? model.weight(weight) : checkpoint::editable_weights(model, with)[weight];
    }
    return trace;
}

/// The stops that `key` leads through, each with its layer, until it leads nowhere.
std::vector<std::string> walked(Desk& desk, int key) {
    std::vector<std::string> stops;
    while (true) {
        const ViewState& view = desk.view();
        const bool in_layer = &view.walk.part_with(view.group) == &view.walk.layer;
        const std::string stop = (in_layer ? std::to_string(view.attention.layer) + " " : "") +
                                 std::string(group_info(view.group).label);
        if (!stops.empty() && stops.back() == stop)
            return stops;
        stops.push_back(stop);
        desk.driver.key(key);
        desk.settle();
    }
}

std::vector<std::string> layer_of(std::int64_t l, const std::vector<std::string>& names) {
    std::vector<std::string> stops;
    for (const std::string& name : names) {
        if (name != "attention") {
            stops.push_back(std::to_string(l) + " " + name);
            continue;
        }
        for (int stop = 0; stop < group_count; ++stop)
            stops.push_back(std::to_string(l) + " " +
                            std::string(group_info(static_cast<StageGroup>(stop)).label));
    }
    return stops;
}

struct Family {
    std::string folder;
    std::vector<std::string> before, layer, after;
};

std::vector<Family> families() {
    const std::vector<std::string> prediction{"final_norm", "logits", "probabilities"};
    return {
        {"gpt2_tiny",
         {"embedding", "position"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_act", "mlp_out",
          "resid_out"},
         prediction},
        {"llama_tiny_untied",
         {"embedding"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_gate", "mlp_act", "mlp_out",
          "resid_out"},
         prediction},
        {"bert_tiny",
         {"embedding", "position"},
         {"resid_in", "attention", "resid_mid", "norm1", "mlp_pre", "mlp_act", "mlp_out", "resid_out",
          "norm2"},
         {"logits", "probabilities"}},
        {"gpt_neox_tiny",
         {"embedding"},
         {"resid_in", "norm1", "attention", "norm2", "mlp_pre", "mlp_act", "mlp_out", "resid_out"},
         prediction},
        {"gemma2_tiny",
         {"embedding"},
         {"resid_in", "norm1", "attention", "attn_out", "resid_mid", "norm2", "mlp_pre", "mlp_gate",
          "mlp_act", "mlp_raw", "mlp_out", "resid_out"},
         prediction},
    };
}

} // namespace

TEST_CASE("the arrow keys walk a checkpoint from the embedding to the probabilities and back", "[model]") {
    for (const Family& family : families()) {
        INFO(family.folder);
        Desk desk;
        desk.open(test_data("/models/") + family.folder, ids_typed);
        const std::int64_t L = desk.view().walk.layers;
        std::vector<std::string> expected = family.before;
        for (std::int64_t l = 0; l < L; ++l)
            std::ranges::copy(layer_of(l, family.layer), std::back_inserter(expected));
        std::ranges::copy(family.after, std::back_inserter(expected));
        desk.driver.key(GLFW_KEY_HOME);
        desk.settle();
        CHECK(walked(desk, GLFW_KEY_RIGHT) == expected);
        std::ranges::reverse(expected);
        CHECK(walked(desk, GLFW_KEY_LEFT) == expected);
        CHECK(desk.program.state().error.empty());
    }
}

TEST_CASE("the pages around attention show the numbers that trace writes", "[model]") {
    for (const Family& family : families()) {
        const std::string folder = test_data("/models/") + family.folder;
        const checkpoint::ForwardResult expected = whole_pass(folder);
        const auto model = checkpoint::Model::open(folder);
        Desk desk;
        desk.open(folder, ids_typed);
        int compared = 0;
        for (std::int64_t l = 0; l < desk.view().walk.layers; ++l)
            for (int stop = group_count; stop < stop_count; ++stop) {
                const auto group = static_cast<StageGroup>(stop);
                if (!desk.view().walk.has(group))
                    continue;
                desk.act(ViewChange(GoTo{group, 5, l}));
                INFO(family.folder << " layer " << l << " " << group_info(group).label);
                REQUIRE(desk.program.state().error.empty());
                REQUIRE_FALSE(desk.program.canvas().grids.empty());
                const Trace trace = trace_of(expected, model, l);
                const TensorId id = group_info(group).main;
                if (tensor_info(id).axes[2] != Axis::vocab)
                    compared += check_printed_numbers(desk.program.canvas(), trace, desk.problem());
                // The inspector's number, of the cell that is spoken of.
                const auto cell = spoken_of(desk.shown(), desk.view());
                REQUIRE(cell);
                CHECK(cell->tensor == id);
                CHECK(cell->at[1] == 5);
                const Tensor& tensor = *trace.stage(id);
                CHECK(desk.shown().value(*cell) ==
                      Approx(tensor.data()[tensor.shape().offset(cell->at)]).margin(1e-5));
            }
        CHECK(compared > 100);
    }
}

TEST_CASE("the stream that the final norm reads is explained beside the norm", "[model]") {
    for (const Family& family : families()) {
        INFO(family.folder);
        if (family.after.front() != "final_norm")
            continue;
        begin_recording();
        Desk desk;
        desk.open(test_data("/models/") + family.folder, ids_typed);
        desk.act(ViewChange(GoTo{StageGroup::final_norm, 5}));
        desk.act(ViewChange(Select{CellAddress{TensorId::resid_out, {0, 5, 3, 0}}}));
        CHECK(screen_shows("The last layer gives it"));
        end_recording();
    }
}

TEST_CASE("a click on the strip and on the map goes where it says", "[model]") {
    begin_recording();
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), ids_typed);
    CHECK(desk.view().group == StageGroup::weights);
    desk.act(
        ViewChange(GoTo{StageGroup::norm2})); // with attention open, the MLP stands behind a chip of dots
    desk.settle();
    desk.press("group MLP");
    CHECK(desk.view().group == StageGroup::mlp_pre);
    CHECK(screen_shows("mlp_pre[0]["));
    desk.press("stage mlp_act");
    CHECK(desk.view().group == StageGroup::mlp_act);
    desk.press("group L1");
    CHECK(desk.view().group == StageGroup::mlp_act);
    CHECK(desk.view().attention.layer == 1);
    CHECK(desk.shown().block->layer == 1);
    CHECK(screen_shows("mlp_act[1]["));
    desk.press("group predict");
    CHECK(desk.view().group == StageGroup::final_norm);
    REQUIRE(desk.click("Guide"));
    desk.settle();
    desk.press("map Logits");
    CHECK(desk.view().group == StageGroup::logits);
    desk.press("map L0");
    CHECK((desk.view().group == StageGroup::resid_in && desk.view().attention.layer == 0));
    desk.press("map attention");
    CHECK(desk.view().group == StageGroup::x);
    end_recording();
}

TEST_CASE("what lies behind an ablated head follows, and B − A tells by how much", "[model]") {
    const std::string folder = test_data("/models/gpt2_tiny");
    const checkpoint::ForwardResult before = whole_pass(folder);
    const checkpoint::ForwardResult after = whole_pass(folder, {{1, {.tensors = {}, .gains = {0, 1, 1, 1}}}});
    Desk desk;
    desk.open(folder, ids_typed);
    desk.act(ViewChange(AttentionChange(OpenHead{1, 0})));
    desk.act(Command(SetGain{0, 0}));
    desk.act(ViewChange(GoTo{StageGroup::mlp_out}));
    const auto model = checkpoint::Model::open(folder);
    const Trace was = trace_of(before, model, 1), is = trace_of(after, model, 1);
    const Tensor &a = *was.stage(TensorId::mlp_out), &b = *is.stage(TensorId::mlp_out);
    const auto largest_gap = [](const Tensor& x, const auto& want) {
        float largest = 0;
        for (std::int64_t i = 0; i < x.count(); ++i)
            largest = std::max(largest, std::abs(x.data()[i] - want(i)));
        return largest;
    };
    CHECK(largest_gap(a, [&](std::int64_t i) { return b.data()[i]; }) > 1e-3F);
    CHECK(largest_gap(*desk.shown().tensor(TensorId::mlp_out), [&](std::int64_t i) { return b.data()[i]; }) <
          1e-5F);
    desk.act(ViewChange(SetCompare{Compare::difference}));
    desk.settle();
    const analysis::TensorDifference* const change = desk.program.state().compare.of(TensorId::mlp_out);
    REQUIRE(change != nullptr);
    CHECK(largest_gap(*change->cells, [&](std::int64_t i) { return b.data()[i] - a.data()[i]; }) < 1e-5F);
    CHECK(desk.program.canvas().grids.front().map == "diverging");
}

TEST_CASE("an inspector beside B − A waits for a layer whose numbers around attention are not known",
          "[model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), ids_typed);
    desk.act(Command(SetGain{0, 0}));
    desk.act(ViewChange(GoTo{StageGroup::resid_out}));
    desk.act(ViewChange(SetCompare{Compare::difference}));
    desk.act(ViewChange(Select{CellAddress{TensorId::resid_in, {0, 0, 0, 0}}}));
    desk.settle();
    const Comparison& compare = desk.program.state().compare;
    REQUIRE(compare.difference(StageGroup::resid_out).holds(*desk.view().selected));
    Shown coming = desk.shown();
    coming.block = nullptr;
    const figure::TextMeasure measure = [](std::string_view text, figure::Font, float size) {
        return static_cast<float>(text.size()) * size / 2;
    };
    DrawContext context{coming, desk.view(), theme(false), measure, 400, 600};
    context.compare = &compare;
    CHECK(spoken_on_canvas(context) == std::nullopt);
    CHECK(draw_inspector(context).scene.height > 0);
}

TEST_CASE("a problem that follows a checkpoint has the stops of attention alone", "[model]") {
    Desk desk;
    desk.open(test_data("/models/gpt2_tiny"), ids_typed);
    desk.act(ViewChange(GoTo{StageGroup::mlp_act}));
    REQUIRE(desk.view().group == StageGroup::mlp_act);
    desk.act(FileCommand(NewProject{}));
    CHECK(desk.view().walk == Walk{});
    CHECK_FALSE(is_around(desk.view().group));
    CHECK(desk.shown().block == nullptr);
    desk.driver.key(GLFW_KEY_END);
    desk.settle();
    CHECK(desk.view().group == StageGroup::output);
}
