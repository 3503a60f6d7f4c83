#include "core/checkpoint/run/forward.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;
using checkpoint::Stack;

namespace {

constexpr Stack all_stacks[] = {Stack::encoder, Stack::own, Stack::cross};

std::string folder_of(const std::string& name) {
    return test_data("/models/") + name;
}

/// A golden case: the first of its texts, and what Hugging Face says of it.
struct Golden {
    format::Safetensors file;
    std::vector<std::int64_t> source, target;

    explicit Golden(const std::string& name)
        : file(format::Safetensors::open(folder_of(name) + "/expected.safetensors")),
          source(row("input_ids")), target(row("decoder_input_ids")) {}

    std::vector<std::int64_t> row(const std::string& name) const {
        std::vector<std::int64_t> ids = file.integers(name);
        ids.resize(ids.size() / 2); // keeps the first of two texts
        return ids;
    }
    /// The weights of one head of a layer, (queries, keys).
    std::vector<float> head(Stack stack, std::int64_t layer, std::int64_t h, std::int64_t H) const {
        const char* const name = stack == Stack::encoder ? "expect.encoder_attentions"
                                 : stack == Stack::cross ? "expect.cross_attentions"
                                                         : "expect.decoder_attentions";
        const auto queries = stack == Stack::encoder ? source.size() : target.size();
        const auto keys = stack == Stack::own ? target.size() : source.size();
        std::vector<float> out(queries * keys);
        const auto place = static_cast<std::uint64_t>((layer * 2 * H) + h); // the first of two texts
        file.read_numbers(name, place * out.size(), out);
        return out;
    }
};

std::string text_of_ids(std::vector<std::int64_t> ids, bool start) {
    std::string text;
    for (std::size_t i = start ? 1 : 0; i < ids.size(); ++i)
        text += std::to_string(ids[i]) + " ";
    return text;
}

void open(Desk& desk, const std::string& name, const Golden& golden) {
    desk.open(folder_of(name), text_of_ids(golden.source, false), text_of_ids(golden.target, true));
    REQUIRE(desk.program.state().error.empty());
    REQUIRE(desk.program.state().document->is_checkpoint());
}

const ModelState& model_of(const Desk& desk) {
    return desk.program.state().model;
}

const RunSpec& opened_run(const Desk& desk) {
    return *desk.program.state().document->part();
}

void show(Desk& desk, Stack stack) {
    desk.act(ShowStack{stack});
    desk.settle();
}

void open_head(Desk& desk, std::int64_t layer, std::int64_t head) {
    desk.act(OpenHead{layer, head});
    desk.settle();
}

/// The whole model, by the function that the command line calls.
checkpoint::ForwardResult forward(const Desk& desk, const checkpoint::ModelEdits& edits) {
    cpu::CpuEngine engine;
    Progress progress;
    return checkpoint::run_model(
        *opened_run(desk).model->model, *opened_run(desk).inputs, {.stages = StageSet(), .edits = edits},
        [&](const Problem& problem, StageSet stages, Progress& cancel) {
            return static_cast<engine::Engine&>(engine).run(problem, stages, cancel);
        },
        progress);
}

/// The probability of a token after position i, in double precision.
double probability(const Tensor& logits, std::int64_t i, std::int64_t id) {
    const std::int64_t vocab = logits.shape().back(0);
    const float* row = logits.data() + i * vocab;
    const double largest = *std::max_element(row, row + vocab);
    double sum = 0;
    for (std::int64_t other = 0; other < vocab; ++other)
        sum += std::exp(static_cast<double>(row[other]) - largest);
    return std::exp(static_cast<double>(row[id]) - largest) / sum;
}

void check_predictions(const Desk& desk, const checkpoint::ModelEdits& edits) {
    const Predictions& found = *model_of(desk).predictions;
    const checkpoint::ForwardResult result = forward(desk, edits);
    for (const TokenProbability& odds : found.likeliest)
        CHECK(static_cast<double>(odds.after) ==
              Approx(probability(*result.logits, found.position, odds.id)).margin(1e-5));
}

} // namespace

// Fails with the grids of Stack::own and Stack::cross swapped in stack_names.cpp.
TEST_CASE("the three boards of an encoder-decoder show the numbers of Hugging Face", "[model][stacks]") {
    const std::string name = GENERATE("t5_tiny", "bart_tiny", "marian_tiny");
    INFO(name);
    const Golden golden(name);
    Desk desk;
    open(desk, name, golden);
    CHECK(opened_run(desk).inputs->ids == golden.target);
    CHECK(opened_run(desk).inputs->source.front().ids == golden.source);
    CHECK(desk.view().attention.stack == Stack::cross);
    for (const char* const label : {"Encoder", "Decoder self", "Cross"}) {
        INFO(label);
        desk.press(label);
        const Stack stack = desk.view().attention.stack;
        CHECK(screen_shows(stack == Stack::own       ? "Decoder self-attention"
                           : stack == Stack::encoder ? "Encoder attention"
                                                     : "Cross-attention"));
        for (std::int64_t layer = 0; layer < 2; ++layer) {
            open_head(desk, layer, 1);
            const Shown& shown = desk.shown();
            REQUIRE(shown.document->checkpoint()->place == checkpoint::AttentionPlace{stack, layer});
            CHECK(shown.problem().cross() == (stack == Stack::cross));
            const auto Tq = std::ssize(stack == Stack::encoder ? golden.source : golden.target);
            const auto Tk = std::ssize(stack == Stack::own ? golden.target : golden.source);
            REQUIRE(shown.dims().Tq == Tq);
            REQUIRE(shown.dims().Tk == Tk);
            for (std::int64_t h = 0; h < shown.dims().H; ++h) {
                const std::vector<float> expected = golden.head(stack, layer, h, shown.dims().H);
                const analysis::HeadMap& map =
                    desk.program.state().head_grid->row(layer)->heads[static_cast<std::size_t>(h)];
                REQUIRE(map.largest.size() == expected.size());
                double off = 0, off_grid = 0;
                for (std::int64_t i = 0; i < Tq; ++i)
                    for (std::int64_t j = 0; j < Tk; ++j) {
                        const auto n = static_cast<std::size_t>(i * Tk + j);
                        const auto of = static_cast<double>(expected[n]);
                        off = std::max(off, std::abs(static_cast<double>(
                                                         shown.value({TensorId::weights, {0, h, i, j}})) -
                                                     of));
                        off_grid = std::max(off_grid, std::abs(static_cast<double>(map.largest[n]) - of));
                    }
                CHECK(off < 1e-5);
                CHECK(off_grid < 1e-5);
            }
        }
    }
    check_predictions(desk, {});
    end_recording();
}

TEST_CASE("every stage of all three attentions prints the numbers that the engine computes",
          "[model][stacks]") {
    const std::string name = GENERATE("t5_tiny", "bart_tiny", "marian_tiny", "mbart_tiny");
    INFO(name);
    Desk desk("first-lesson", "", GENERATE(1600.0F, 1280.0F), 1000);
    begin_recording();
    desk.program.open_path(folder_of(name), {"3 1 4 1 5 9", "7 8 9"});
    desk.settle();
    desk.settle();
    for (const Stack stack : all_stacks) {
        show(desk, stack);
        open_head(desk, 0, 1);
        const Trace trace = computed(desk.problem());
        int printed = 0;
        for (const StageGroup step : attention_steps()) {
            for (const Projection projection : {Projection::q, Projection::k, Projection::v}) {
                desk.act(GoTo{step});
                desk.act(ShowProjection{projection});
                CHECK(desk.program.state().error.empty());
                printed += check_printed_numbers(desk.program.canvas(), trace, desk.problem());
            }
        }
        CHECK(printed > 100);
        desk.act(GoTo{StageGroup::weights});
        for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph})
            desk.act(ShowWeightsAs{as});
        desk.act(ShowWeightsAs{WeightsView::heatmap});
    }
    end_recording();
}

TEST_CASE("a cross-attention asks with the decoder's vectors and reads the encoder's", "[model][stacks]") {
    const Golden golden("t5_tiny");
    Desk desk;
    open(desk, "t5_tiny", golden);
    const TensorPtr output = golden.file.tensor("expect.encoder_output");
    for (std::int64_t layer = 0; layer < 2; ++layer) {
        open_head(desk, layer, 0);
        const Problem& problem = desk.problem();
        REQUIRE(problem.cross());
        double off = 0;
        for (std::int64_t at = 0; at < problem.x_kv->count(); ++at)
            off = std::max(off, std::abs(static_cast<double>(problem.x_kv->data()[at] - output->data()[at])));
        CHECK(off < 2e-5);
    }
    const std::vector<std::string>& source = model_of(desk).run->inputs().source.front().tokens;
    CHECK(desk.problem().kv_tokens == source);
    CHECK(desk.problem().tokens == model_of(desk).run->inputs().tokens);
    desk.act(GoTo{StageGroup::x});
    CHECK(screen_shows("X_kv"));
    // Neither side is anybody's to edit.
    for (const TensorId id : {TensorId::x, TensorId::x_kv}) {
        desk.act(EditCell{{id, {0, 1, 2, 0}}, 1.0F});
        CHECK(desk.program.state().error.find("edit W or b") != std::string::npos);
        CHECK(opened_run(desk).edits.empty());
    }
    end_recording();
}

TEST_CASE("edits of all three attentions are followed and undone across the boards", "[model][stacks]") {
    const Golden golden("bart_tiny");
    Desk desk;
    open(desk, "bart_tiny", golden);
    const checkpoint::Architecture& architecture = opened_run(desk).architecture();
    const auto number = [&](Stack stack, std::int64_t layer) {
        return attention_number(architecture, {stack, layer});
    };
    open_head(desk, 1, 2);
    const float was = desk.problem().weights.W_Q->at(3, 17);
    desk.act(EditCell{{TensorId::W_Q, {3, 17, 0, 0}}, 2.5F});
    REQUIRE(opened_run(desk).edits.contains(number(Stack::cross, 1)));
    check_predictions(desk, opened_run(desk).edits);
    const Predictions with_one = *model_of(desk).predictions;
    CHECK(with_one.kl > 0);
    CHECK(model_of(desk).recomputed.find("cross-attention of layer 1") != std::string::npos);

    show(desk, Stack::encoder);
    open_head(desk, 0, 3);
    desk.act(SetGain{3, 0});
    REQUIRE(opened_run(desk).edits.contains(number(Stack::encoder, 0)));
    check_predictions(desk, opened_run(desk).edits);
    CHECK(model_of(desk).predictions->kl != with_one.kl);
    // The legend of the grid; the message about the edit stays on screen for longer.
    const auto legend_has = [](std::string_view entry) {
        return std::ranges::any_of(screen_texts(),
                                   [&](const ScreenText& text) { return text.text == entry; });
    };
    CHECK(legend_has("ablated"));
    CHECK(std::ranges::any_of(screen_texts(), [](const ScreenText& text) {
        return text.text == "encoder L0, cross L1"; // below the fold
    }));
    CHECK(desk.program.state().history.back().label.find("encoder L0") != std::string::npos);
    // The grid of another stack has other marks.
    show(desk, Stack::own);
    CHECK_FALSE(legend_has("ablated"));
    CHECK_FALSE(screen_shows("weights edited"));
    show(desk, Stack::cross);
    CHECK_FALSE(legend_has("ablated"));
    CHECK(screen_shows("weights edited"));

    // Undo goes to the grid whose edit it takes back.
    desk.act(MoveInHistory{-1});
    CHECK(desk.view().attention.stack == Stack::encoder);
    CHECK(desk.view().attention.layer == 0);
    CHECK_FALSE(opened_run(desk).edits.contains(number(Stack::encoder, 0)));
    CHECK(model_of(desk).predictions->kl == Approx(with_one.kl).epsilon(1e-6));
    desk.act(MoveInHistory{-1});
    CHECK(desk.view().attention.stack == Stack::cross);
    CHECK(desk.view().attention.layer == 1);
    CHECK(opened_run(desk).edits.empty());
    CHECK(desk.problem().weights.W_Q->at(3, 17) == was);
    check_predictions(desk, {});
    desk.act(MoveInHistory{2});
    CHECK(opened_run(desk).edits.size() == 2);
    check_predictions(desk, opened_run(desk).edits);
    desk.act(ResetEdits{});
    CHECK(opened_run(desk).edits.empty());
    CHECK(desk.program.state().error.empty());
    end_recording();
}

TEST_CASE("A and B of a cross-attention are compared", "[model][stacks]") {
    const Golden golden("marian_tiny");
    Desk desk;
    open(desk, "marian_tiny", golden);
    desk.act(MarkBaseline{});
    desk.act(EditCell{{TensorId::W_K, {1, 2, 0, 0}}, 1.5F});
    desk.act(SetCompare{Compare::difference});
    CHECK(desk.program.state().error.empty());
    CHECK(desk.program.state().compare.marked());
    CHECK(desk.program.state().compare.obstacle().empty());
    const analysis::TensorDifference* const moved = desk.program.state().compare.of(TensorId::weights);
    REQUIRE(moved != nullptr);
    CHECK(moved->changed > 0);
    // A follows to the decoder's own heads, which read before the edited ones of the same layer.
    show(desk, Stack::own);
    const Comparison& compare = desk.program.state().compare;
    REQUIRE(compare.marked());
    CHECK(compare.baseline().document->checkpoint()->place == desk.shown().document->checkpoint()->place);
    CHECK(compare.obstacle().empty());
    const analysis::TensorDifference* const same = compare.of(TensorId::weights);
    REQUIRE(same != nullptr);
    CHECK(same->changed == 0);
    end_recording();
}

TEST_CASE("boards of different sizes follow each other", "[model][stacks]") {
    // Two layers of two heads in the encoder, one layer of four in the decoder.
    Desk desk;
    begin_recording();
    desk.program.open_path(folder_of("mbart_tiny"), {"3 1 4 1 5 9", "7 8 9"});
    desk.settle();
    desk.settle();
    open_head(desk, 0, 3);
    for (const std::int64_t heads : {2, 3}) { // the second time with means and a filter
        desk.program.act(ShowStack{Stack::encoder});
        desk.driver.wait(1);
        desk.settle();
        CHECK(desk.view().head < heads);
        open_head(desk, 1, 1);
        CHECK(desk.shown().document->checkpoint()->place == checkpoint::AttentionPlace{Stack::encoder, 1});
        desk.program.act(ShowStack{Stack::cross});
        desk.driver.wait(1);
        desk.settle();
        CHECK(desk.shown().document->checkpoint()->place == checkpoint::AttentionPlace{Stack::cross, 0});
        open_head(desk, 0, 3);
        CHECK(desk.view().head == 3);
        INFO(desk.program.state().error);
        CHECK(desk.program.state().error.empty());
        desk.act(SetReadingOptions{{.hide_first_token = true, .means = true}});
        CHECK(desk.program.state().head_grid->info().H == 5);
        CHECK(desk.shown().document->shows_weights());
    }
    CHECK(desk.program.state().error.empty());
    end_recording();
}

TEST_CASE("both texts are typed, and a text that cannot be read is told of and kept", "[model][stacks]") {
    const Golden golden("t5_tiny");
    Desk desk;
    open(desk, "t5_tiny", golden);
    const auto type = [&](const char* field, const std::string& text) {
        REQUIRE(desk.driver.click_item(field));
        desk.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        text.empty() ? desk.driver.key(GLFW_KEY_BACKSPACE) : desk.driver.type(text);
        desk.driver.key(GLFW_KEY_ENTER);
        desk.settle();
        desk.settle();
    };
    type("##target", "7 8");
    CHECK(opened_run(desk).inputs->ids == std::vector<std::int64_t>{0, 7, 8});
    CHECK(opened_run(desk).inputs->source.front().ids == golden.source);
    // The encoder's part was taken over.
    CHECK(model_of(desk).run->computed_from() == 2);
    CHECK(desk.shown().dims().Tq == 3);
    type("##prompt", "5 6 1");
    CHECK(opened_run(desk).inputs->source.front().ids == std::vector<std::int64_t>{5, 6, 1});
    CHECK(opened_run(desk).inputs->ids == std::vector<std::int64_t>{0, 7, 8});
    CHECK(desk.shown().dims().Tk == 3);
    check_predictions(desk, {});
    type("##target", "");
    CHECK(opened_run(desk).inputs->ids == std::vector<std::int64_t>{0});
    CHECK(screen_shows("The start token alone"));

    for (const auto& [field, text] : {std::pair("##target", "7 9999"), std::pair("##target", "seven"),
                                      std::pair("##prompt", "9999"), std::pair("##prompt", "")}) {
        INFO(field << " " << text);
        const RunSpecPtr before = desk.program.state().document->part();
        const bool target = std::string(field) == "##target";
        desk.act(target ? ModelAction(TypeTarget{text}) : ModelAction(TypePrompt{text}));
        desk.settle();
        CHECK_FALSE(model_of(desk).error.empty());
        CHECK(desk.program.state().document->part() == before);
        CHECK((target ? model_of(desk).target : model_of(desk).prompt) == text);
        type("##target", "");
        type("##prompt", "5 6 1");
        CHECK(model_of(desk).error.empty());
    }
    desk.act(MoveInHistory{-1});
    CHECK(desk.program.state().error.empty());
    CHECK(model_of(desk).target == opened_run(desk).target);
    end_recording();
}

TEST_CASE("a target is written on and taken back", "[model][stacks][writing]") {
    const Golden golden("t5_tiny");
    Desk desk;
    open(desk, "t5_tiny", golden);
    const std::vector<std::int64_t> typed = opened_run(desk).inputs->ids;
    desk.press("Step");
    REQUIRE(opened_run(desk).inputs->ids.size() == typed.size() + 1);
    CHECK(opened_run(desk).written == 1);
    CHECK(opened_run(desk).inputs->source.front().ids == golden.source);
    CHECK(desk.view().row == std::ssize(typed));
    CHECK(model_of(desk).target == opened_run(desk).target);
    CHECK(model_of(desk).prompt == opened_run(desk).prompt);
    const std::int64_t second = model_of(desk).next_distribution->candidates[1].id;
    desk.press("take token " + std::to_string(second));
    CHECK(opened_run(desk).inputs->ids.back() == second);
    check_predictions(desk, {});
    desk.press("Take back");
    desk.press("Take back");
    CHECK(opened_run(desk).inputs->ids == typed);
    CHECK(opened_run(desk).prompt == text_of_ids(golden.source, false));
    desk.act(MoveInHistory{-1});
    CHECK(opened_run(desk).inputs->ids.size() == typed.size() + 1);

    // The token that ends a text ends the writing.
    desk.act(TypeTarget{"7"});
    desk.settle();
    const std::int64_t end = opened_run(desk).model->end_ids.front();
    desk.program.act(SetGenerating{true});
    desk.program.act(GenerateToken{end});
    desk.settle();
    CHECK(opened_run(desk).inputs->ids.back() == end);
    CHECK(desk.program.state().error.empty());
    end_recording();
}

TEST_CASE("the three kinds of attention are listed, and keys and clicks switch them", "[model][stacks]") {
    const Golden golden("marian_tiny");
    Desk desk;
    open(desk, "marian_tiny", golden);
    CHECK(screen_shows("Three kinds of attention"));
    desk.press("heads of Decoder self");
    CHECK(desk.view().attention.stack == Stack::own);
    desk.driver.key(GLFW_KEY_E, GLFW_MOD_ALT);
    desk.settle();
    CHECK(desk.view().attention.stack == Stack::encoder);
    CHECK(desk.shown().document->stack() == Stack::encoder);
    desk.driver.key(GLFW_KEY_X, GLFW_MOD_ALT);
    desk.settle();
    CHECK(desk.view().attention.stack == Stack::cross);
    desk.driver.key(GLFW_KEY_D, GLFW_MOD_ALT);
    desk.settle();
    CHECK(desk.view().attention.stack == Stack::own);
    CHECK(desk.view().heads_view == HeadsView::each);
    // Another checkpoint has none of them.
    desk.open(folder_of("gpt2_tiny"), "3 1 4");
    CHECK(desk.view().attention.stack == Stack::own);
    CHECK_FALSE(desk.click("Decoder self"));
    end_recording();
}

TEST_CASE("the split of a cross-attention has a row of keys and values for each token of the encoder",
          "[gui][stacks]") {
    begin_recording();
    Desk desk;
    desk.program.open_path(folder_of("t5_tiny"), {"3 7", "3 7 5 9 2"});
    desk.settle();
    desk.settle();
    desk.driver.key(GLFW_KEY_X, GLFW_MOD_ALT);
    desk.settle();
    desk.act(GoTo{StageGroup::split});
    desk.act(ShowOneHead{true});
    desk.settle();
    const Dims& dims = desk.shown().dims();
    REQUIRE(dims.Tq > dims.Tk);
    int keys = 0;
    for (const MatrixGrid& grid : desk.program.canvas().grids) {
        const bool of_query = grid.tensor == TensorId::q || grid.tensor == TensorId::q_heads;
        CHECK(grid.rows == (of_query ? dims.Tq : dims.Tk));
        keys += grid.tensor == TensorId::k_heads;
    }
    CHECK(keys == 1);
    end_recording();
}
