#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/panels/panels.h"
#include "core/checkpoint/run/forward.h"
#include "tests/catch.h"
#include "tests/gui/support/screen.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <optional>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;
using checkpoint::Stack;

namespace {

constexpr const char* ids_typed = "3 1 4 1 5 9 2 6";

/// The whole model, by the function that the command line calls.
checkpoint::ForwardResult whole_pass(const checkpoint::Model& model, const checkpoint::ModelInputs& inputs,
                                     const checkpoint::ModelEdits& edits = {}) {
    checkpoint::ForwardOptions options{.stages = StageSet::all(), .edits = edits};
    for (const TensorInfo& row : block_table())
        options.stages = options.stages.with(row.id);
    Progress progress;
    return checkpoint::run_model(model, inputs, options, nullptr, progress);
}

checkpoint::ForwardResult whole_pass(const std::string& folder, const checkpoint::ModelEdits& edits = {}) {
    checkpoint::ModelInputs inputs;
    inputs.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    inputs.T = 8;
    return whole_pass(checkpoint::Model::open(folder), inputs, edits);
}

/// Returns a trace of an attention and the stages around it, with their parameters and the stages that its
/// stack has once.
Trace trace_of(const checkpoint::ForwardResult& result, const checkpoint::Model& model,
               checkpoint::AttentionPlace place) {
    const std::int64_t layer = attention_number(model.config(), place);
    const bool of_encoder = place.stack == Stack::encoder;
    Trace trace = result.layers[static_cast<std::size_t>(layer)].trace;
    const checkpoint::AttentionPlace last{Stack::cross, model.config().layers - 1};
    for (const checkpoint::BlockRun& block : result.blocks)
        if (block.place == place ||
            (block.place.layer < 0 && (block.place.stack == Stack::encoder) == of_encoder) ||
            // the input of the decoder's final norm is shown on both grids
            (block.place == last && place.stack == Stack::own && block.id == TensorId::resid_out))
            trace.slot(block.id) = block.tensor;
    trace.slot(TensorId::logits) = result.logits;
    const checkpoint::Model& stack = checkpoint::stack_at(model, layer);
    for (const TensorInfo& row : block_weight_table()) {
        const TensorId weight = row.id;
        const std::int64_t with = checkpoint::edited_with(model.config(), layer, weight);
        trace.slot(row.id) =
            is_table(row.id) ? stack.weight(weight) : checkpoint::editable_weights(model, with)[weight];
    }
    return trace;
}

/// Returns the steps that `key` leads through, each with its layer, until the key has no effect.
std::vector<std::string> steps_visited(User& user, int key) {
    std::vector<std::string> steps;
    while (true) {
        const ViewState& view = user.view();
        const bool in_layer = &view.step_strip.section_with(view.group) == &view.step_strip.layer;
        const std::string step = (in_layer ? std::to_string(view.attention.layer) + " " : "") +
                                 std::string(group_info(view.group).label);
        if (!steps.empty() && steps.back() == step)
            return steps;
        steps.push_back(step);
        user.driver.key(key);
        user.settle();
    }
}

std::vector<std::string> layer_of(std::int64_t l, const std::vector<std::string>& names) {
    std::vector<std::string> steps;
    for (const std::string& name : names) {
        if (name != "attention") {
            steps.push_back(std::to_string(l) + " " + name);
            continue;
        }
        for (int step = 0; step < group_count; ++step)
            steps.push_back(std::to_string(l) + " " +
                            std::string(group_info(static_cast<StageGroup>(step)).label));
    }
    return steps;
}

struct Family {
    std::string folder;
    std::vector<std::string> before, layer, after;
    std::optional<Stack> grid_stack = {}; ///< the grid of an encoder-decoder
};

void open(User& user, const Family& family) {
    if (!family.grid_stack)
        return user.open(test_data("/models/") + family.folder, ids_typed);
    user.open(test_data("/models/") + family.folder, ids_typed, "7 2 9 4 8 3 5");
    user.act(ShowStack{*family.grid_stack});
    user.settle();
    REQUIRE(user.program.state().document->is_checkpoint());
}

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
        // Norms before the branches, and after the sums.
        {"t5_tiny",
         {"embedding"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_act", "mlp_out",
          "resid_out"},
         {"final_norm"},
         Stack::encoder},
        {"t5_tiny", {"embedding"}, {"resid_in", "norm1", "attention", "resid_mid"}, prediction, Stack::own},
        {"t5_tiny",
         {"embedding"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_act", "mlp_out",
          "resid_out"},
         prediction,
         Stack::cross},
        {"bart_tiny",
         {"embedding", "position"},
         {"resid_in", "attention", "resid_mid", "norm1", "mlp_pre", "mlp_act", "mlp_out", "resid_out",
          "norm2"},
         {},
         Stack::encoder},
        {"bart_tiny",
         {"embedding", "position"},
         {"resid_in", "attention", "resid_mid", "norm1"},
         {"logits", "probabilities"},
         Stack::own},
        {"bart_tiny",
         {"embedding", "position"},
         {"resid_in", "attention", "resid_mid", "norm1", "mlp_pre", "mlp_act", "mlp_out", "resid_out",
          "norm2"},
         {"logits", "probabilities"},
         Stack::cross},
        // Sizes of its own in each stack.
        {"mbart_tiny",
         {"embedding", "position"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_act", "mlp_out",
          "resid_out"},
         {"final_norm"},
         Stack::encoder},
        {"mbart_tiny",
         {"embedding", "position"},
         {"resid_in", "norm1", "attention", "resid_mid"},
         prediction,
         Stack::own},
        {"mbart_tiny",
         {"embedding", "position"},
         {"resid_in", "norm1", "attention", "resid_mid", "norm2", "mlp_pre", "mlp_act", "mlp_out",
          "resid_out"},
         prediction,
         Stack::cross},
    };
}

} // namespace

TEST_CASE("the arrow keys walk a checkpoint from the embedding to the probabilities and back", "[model]") {
    for (const Family& family : families()) {
        INFO(family.folder << " " << static_cast<int>(family.grid_stack.value_or(Stack::own)));
        User user;
        open(user, family);
        const std::int64_t L = user.view().step_strip.layers;
        std::vector<std::string> expected = family.before;
        for (std::int64_t l = 0; l < L; ++l)
            std::ranges::copy(layer_of(l, family.layer), std::back_inserter(expected));
        std::ranges::copy(family.after, std::back_inserter(expected));
        user.driver.key(GLFW_KEY_HOME);
        user.settle();
        CHECK(steps_visited(user, GLFW_KEY_RIGHT) == expected);
        std::ranges::reverse(expected);
        CHECK(steps_visited(user, GLFW_KEY_LEFT) == expected);
        CHECK(user.program.state().error.empty());
    }
}

TEST_CASE("the pages around attention show the numbers that trace writes", "[model]") {
    for (const Family& family : families()) {
        User user;
        open(user, family);
        const RunSpec& part = *user.program.state().document->part();
        const checkpoint::Model& model = *part.model->model;
        const checkpoint::ForwardResult expected = whole_pass(model, *part.inputs);
        const Stack stack = user.view().attention.stack;
        int compared = 0;
        for (std::int64_t l = 0; l < user.view().step_strip.layers; ++l)
            for (int step = group_count; step < stop_count; ++step) {
                const auto group = static_cast<StageGroup>(step);
                if (!user.view().step_strip.has(group))
                    continue;
                user.act(GoTo{group, 5, l});
                INFO(family.folder << " " << static_cast<int>(stack) << " layer " << l << " "
                                   << group_info(group).label);
                REQUIRE(user.program.state().error.empty());
                REQUIRE_FALSE(user.program.canvas().grids.empty());
                // The sum of the embeddings is what enters the first layer of the stack.
                const bool begins = group == StageGroup::embedding || group == StageGroup::position;
                const Trace trace =
                    begins ? trace_of(expected, model, {stack == Stack::cross ? Stack::own : stack, 0})
                           : trace_of(expected, model, {stack, l});
                const TensorId id = group_info(group).main;
                if (tensor_info(id).axes[2] != Axis::vocab)
                    compared += check_printed_numbers(user.program.canvas(), trace, user.problem());
                if (tensor_info(id).axes[2] != Axis::vocab) {
                    float off = 0;
                    for (std::int64_t i = 0; i < trace.stage(id)->count(); ++i)
                        off = std::max(
                            off, std::abs(user.shown().tensor(id)->data()[i] - trace.stage(id)->data()[i]));
                    CHECK(off < 1e-5F);
                }
                // The inspector's number belongs to the current cell.
                const auto cell = current_cell(user.shown(), user.view());
                REQUIRE(cell);
                CHECK(cell->tensor == id);
                CHECK(cell->at[1] == 5);
                const Tensor& tensor = *trace.stage(id);
                CHECK(user.shown().value(*cell) ==
                      Approx(tensor.data()[tensor.shape().offset(cell->at)]).margin(1e-5));
            }
        // A decoder's own part of a layer has no table with printed numbers, where its rows are long.
        CHECK((compared > 100 || family.grid_stack == Stack::own));
    }
}

TEST_CASE("the stream that the final norm reads is explained beside the norm", "[model]") {
    for (const Family& family : families()) {
        INFO(family.folder);
        if (family.after.empty() || family.after.front() != "final_norm")
            continue;
        begin_recording();
        User user;
        open(user, family);
        user.act(GoTo{StageGroup::final_norm, 5});
        user.act(Select{CellAddress{TensorId::resid_out, {0, 5, 3, 0}}});
        // In a decoder it is on the other grid.
        const std::string last = !family.grid_stack                     ? "L"
                                 : *family.grid_stack == Stack::encoder ? "encoder L"
                                                                        : "cross L";
        std::string said; // of wrapped lines
        for (const ScreenText& text : screen_texts())
            said += text.text + " ";
        CHECK(said.find("It is the output of the last layer: resid_out of " + last) != std::string::npos);
        end_recording();
    }
}

TEST_CASE("a click on the strip and on the map goes where it says", "[model]") {
    begin_recording();
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    CHECK(user.view().group == StageGroup::weights);
    user.act(GoTo{StageGroup::norm2}); // with attention open, the MLP is hidden in a chip of dots
    user.settle();
    user.press("group MLP");
    CHECK(user.view().group == StageGroup::mlp_pre);
    CHECK(screen_shows("mlp_pre[0]["));
    user.press("stage mlp_act");
    CHECK(user.view().group == StageGroup::mlp_act);
    user.press("group L1");
    CHECK(user.view().group == StageGroup::mlp_act);
    CHECK(user.view().attention.layer == 1);
    CHECK(user.shown().block->place.layer == 1);
    CHECK(screen_shows("mlp_act[1]["));
    user.press("group predict");
    CHECK(user.view().group == StageGroup::final_norm);
    REQUIRE(user.click("Guide"));
    user.settle();
    user.press("map Logits");
    CHECK(user.view().group == StageGroup::logits);
    user.press("map L0");
    CHECK((user.view().group == StageGroup::resid_in && user.view().attention.layer == 0));
    user.press("map attention");
    CHECK(user.view().group == StageGroup::x);
    end_recording();
}

TEST_CASE("what lies behind an ablated head follows, and B − A tells by how much", "[model]") {
    const std::string folder = test_data("/models/gpt2_tiny");
    const checkpoint::ForwardResult before = whole_pass(folder);
    const checkpoint::ForwardResult after = whole_pass(folder, {{1, {.tensors = {}, .gains = {0, 1, 1, 1}}}});
    User user;
    user.open(folder, ids_typed);
    user.act(OpenHead{1, 0});
    user.act(SetGain{0, 0});
    user.act(GoTo{StageGroup::mlp_out});
    const auto model = checkpoint::Model::open(folder);
    const Trace was = trace_of(before, model, {Stack::own, 1}), is = trace_of(after, model, {Stack::own, 1});
    const Tensor &a = *was.stage(TensorId::mlp_out), &b = *is.stage(TensorId::mlp_out);
    const auto largest_gap = [](const Tensor& x, const auto& want) {
        float largest = 0;
        for (std::int64_t i = 0; i < x.count(); ++i)
            largest = std::max(largest, std::abs(x.data()[i] - want(i)));
        return largest;
    };
    CHECK(largest_gap(a, [&](std::int64_t i) { return b.data()[i]; }) > 1e-3F);
    CHECK(largest_gap(*user.shown().tensor(TensorId::mlp_out), [&](std::int64_t i) { return b.data()[i]; }) <
          1e-5F);
    user.act(SetCompare{Compare::difference});
    user.settle();
    const analysis::TensorDifference* const change = user.program.state().compare.of(TensorId::mlp_out);
    REQUIRE(change != nullptr);
    CHECK(largest_gap(*change->cells, [&](std::int64_t i) { return b.data()[i] - a.data()[i]; }) < 1e-5F);
    CHECK(user.program.canvas().grids.front().map == "diverging");
}

TEST_CASE("an inspector beside B − A waits for a layer whose numbers around attention are not known",
          "[model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    user.act(SetGain{0, 0});
    user.act(GoTo{StageGroup::resid_out});
    user.act(SetCompare{Compare::difference});
    user.act(Select{CellAddress{TensorId::resid_in, {0, 0, 0, 0}}});
    user.settle();
    const Comparison& compare = user.program.state().compare;
    REQUIRE(compare.difference(StageGroup::resid_out).is_known(*user.view().selected));
    Shown coming = user.shown();
    coming.block = nullptr;
    const figure::TextMeasure measure = [](std::string_view text, figure::Font, float size) {
        return static_cast<float>(text.size()) * size / 2;
    };
    DrawContext context{coming, user.view(), theme(false), measure, 400, 600};
    context.compare = &compare;
    CHECK(current_cell_on_canvas(context) == std::nullopt);
    CHECK(draw_inspector(context).scene.height > 0);
}

TEST_CASE("a problem that follows a checkpoint has the stops of attention alone", "[model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    user.act(GoTo{StageGroup::mlp_act});
    REQUIRE(user.view().group == StageGroup::mlp_act);
    user.act(NewProject{});
    CHECK(user.view().step_strip == StepStrip{});
    CHECK_FALSE(is_around(user.view().group));
    CHECK(user.shown().block == nullptr);
    user.driver.key(GLFW_KEY_END);
    user.settle();
    CHECK(user.view().group == StageGroup::output);
}

TEST_CASE("a row or a cell beyond the tokens on screen is not looked up", "[gui][block]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    user.act(GoTo{StageGroup::resid_out});
    REQUIRE(user.shown().dims().Tq == 8);
    ViewState& view = user.program.state().view;
    view.row = 8;
    CHECK(current_cell(user.shown(), view)->at[1] == 7);
    view.selected = CellAddress{TensorId::resid_out, {0, 8, 0, 0}};
    CHECK_FALSE(user.shown().is_known(*view.selected));
    CHECK(current_cell(user.shown(), view)->at[1] == 7);
    user.driver.wait();
    view.selected->at[1] = 7;
    CHECK(user.shown().is_known(*view.selected));
}
