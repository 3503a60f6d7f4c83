#include "core/checkpoint/run/forward.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
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

void open(User& user, const std::string& name, const Golden& golden) {
    user.open(folder_of(name), text_of_ids(golden.source, false), text_of_ids(golden.target, true));
    REQUIRE(user.program.state().error.empty());
    REQUIRE(user.program.state().document->is_checkpoint());
}

const ModelState& model_of(const User& user) {
    return user.program.state().model;
}

const RunSpec& opened_run(const User& user) {
    return *user.program.state().document->part();
}

void show(User& user, Stack stack) {
    user.act(ShowStack{stack});
    user.settle();
}

void open_head(User& user, std::int64_t layer, std::int64_t head) {
    user.act(OpenHead{layer, head});
    user.settle();
}

/// The whole model, by the function that the command line calls.
checkpoint::ForwardResult forward(const User& user, const checkpoint::ModelEdits& edits) {
    Progress progress;
    return checkpoint::run_model(*opened_run(user).model->model, *opened_run(user).inputs,
                                 {.stages = StageSet(), .edits = edits}, nullptr, progress);
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

void check_predictions(const User& user, const checkpoint::ModelEdits& edits) {
    const Predictions& found = *model_of(user).predictions;
    const checkpoint::ForwardResult result = forward(user, edits);
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
    User user;
    open(user, name, golden);
    CHECK(opened_run(user).inputs->ids == golden.target);
    CHECK(opened_run(user).inputs->source.front().ids == golden.source);
    CHECK(user.view().attention.stack == Stack::cross);
    for (const char* const label : {"Encoder", "Decoder self", "Cross"}) {
        INFO(label);
        user.press(label);
        const Stack stack = user.view().attention.stack;
        CHECK(screen_shows(stack == Stack::own       ? "Decoder self-attention"
                           : stack == Stack::encoder ? "Encoder attention"
                                                     : "Cross-attention"));
        for (std::int64_t layer = 0; layer < 2; ++layer) {
            open_head(user, layer, 1);
            const Shown& shown = user.shown();
            REQUIRE(shown.document->checkpoint()->place == checkpoint::AttentionPlace{stack, layer});
            CHECK(shown.problem().cross() == (stack == Stack::cross));
            const auto Tq = std::ssize(stack == Stack::encoder ? golden.source : golden.target);
            const auto Tk = std::ssize(stack == Stack::own ? golden.target : golden.source);
            REQUIRE(shown.dims().Tq == Tq);
            REQUIRE(shown.dims().Tk == Tk);
            for (std::int64_t h = 0; h < shown.dims().H; ++h) {
                const std::vector<float> expected = golden.head(stack, layer, h, shown.dims().H);
                const analysis::HeadMap& map =
                    user.program.state().head_grid->row(layer)->heads[static_cast<std::size_t>(h)];
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
    check_predictions(user, {});
    end_recording();
}

TEST_CASE("every stage of all three attentions prints the numbers that the engine computes",
          "[model][stacks]") {
    const std::string name = GENERATE("t5_tiny", "bart_tiny", "marian_tiny", "mbart_tiny");
    INFO(name);
    User user("first-lesson", "", GENERATE(1600.0F, 1280.0F), 1000);
    begin_recording();
    user.program.open_path(folder_of(name), {"3 1 4 1 5 9", "7 8 9"});
    user.settle();
    user.settle();
    for (const Stack stack : all_stacks) {
        show(user, stack);
        open_head(user, 0, 1);
        const Trace trace = computed(user.problem());
        int printed = 0;
        for (const StageGroup step : attention_steps()) {
            for (const Projection projection : {Projection::q, Projection::k, Projection::v}) {
                user.act(GoTo{step});
                user.act(ShowProjection{projection});
                CHECK(user.program.state().error.empty());
                printed += check_printed_numbers(user.program.canvas(), trace, user.problem());
            }
        }
        CHECK(printed > 100);
        user.act(GoTo{StageGroup::weights});
        for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph})
            user.act(ShowWeightsAs{as});
        user.act(ShowWeightsAs{WeightsView::heatmap});
    }
    end_recording();
}

TEST_CASE("a cross-attention asks with the decoder's vectors and reads the encoder's", "[model][stacks]") {
    const Golden golden("t5_tiny");
    User user;
    open(user, "t5_tiny", golden);
    const TensorPtr output = golden.file.tensor("expect.encoder_output");
    for (std::int64_t layer = 0; layer < 2; ++layer) {
        open_head(user, layer, 0);
        const Problem& problem = user.problem();
        REQUIRE(problem.cross());
        double off = 0;
        for (std::int64_t at = 0; at < problem.x_kv->count(); ++at)
            off = std::max(off, std::abs(static_cast<double>(problem.x_kv->data()[at] - output->data()[at])));
        CHECK(off < 2e-5);
    }
    const std::vector<std::string>& source = model_of(user).run->inputs().source.front().tokens;
    CHECK(user.problem().kv_tokens == source);
    CHECK(user.problem().tokens == model_of(user).run->inputs().tokens);
    user.act(GoTo{StageGroup::x});
    CHECK(screen_shows("X_kv"));
    // Neither side is anybody's to edit.
    for (const TensorId id : {TensorId::x, TensorId::x_kv}) {
        user.act(EditCell{{id, {0, 1, 2, 0}}, 1.0F});
        CHECK(user.program.state().error.find("edit W or b") != std::string::npos);
        CHECK(opened_run(user).edits.empty());
    }
    end_recording();
}

TEST_CASE("edits of all three attentions are followed and undone across the boards", "[model][stacks]") {
    const Golden golden("bart_tiny");
    User user;
    open(user, "bart_tiny", golden);
    const checkpoint::ModelConfig& config = opened_run(user).config();
    const auto number = [&](Stack stack, std::int64_t layer) {
        return attention_number(config, {stack, layer});
    };
    open_head(user, 1, 2);
    const float was = user.problem().weights.W_Q->at(3, 17);
    user.act(EditCell{{TensorId::W_Q, {3, 17, 0, 0}}, 2.5F});
    REQUIRE(opened_run(user).edits.contains(number(Stack::cross, 1)));
    check_predictions(user, opened_run(user).edits);
    const Predictions with_one = *model_of(user).predictions;
    CHECK(with_one.kl > 0);
    CHECK(model_of(user).recomputed.find("cross-attention of layer 1") != std::string::npos);

    show(user, Stack::encoder);
    open_head(user, 0, 3);
    user.act(SetGain{3, 0});
    REQUIRE(opened_run(user).edits.contains(number(Stack::encoder, 0)));
    check_predictions(user, opened_run(user).edits);
    CHECK(model_of(user).predictions->kl != with_one.kl);
    // The legend of the grid; the message about the edit stays on screen for longer.
    const auto legend_has = [](std::string_view entry) {
        return std::ranges::any_of(screen_texts(),
                                   [&](const ScreenText& text) { return text.text == entry; });
    };
    CHECK(legend_has("ablated"));
    CHECK(std::ranges::any_of(screen_texts(), [](const ScreenText& text) {
        return text.text == "encoder L0, cross L1"; // below the fold
    }));
    CHECK(user.program.state().history.back().label.find("encoder L0") != std::string::npos);
    // The grid of another stack has other marks.
    show(user, Stack::own);
    CHECK_FALSE(legend_has("ablated"));
    CHECK_FALSE(screen_shows("weights edited"));
    show(user, Stack::cross);
    CHECK_FALSE(legend_has("ablated"));
    CHECK(screen_shows("weights edited"));

    // Undo goes to the grid whose edit it takes back.
    user.act(MoveInHistory{-1});
    CHECK(user.view().attention.stack == Stack::encoder);
    CHECK(user.view().attention.layer == 0);
    CHECK_FALSE(opened_run(user).edits.contains(number(Stack::encoder, 0)));
    CHECK(model_of(user).predictions->kl == Approx(with_one.kl).epsilon(1e-6));
    user.act(MoveInHistory{-1});
    CHECK(user.view().attention.stack == Stack::cross);
    CHECK(user.view().attention.layer == 1);
    CHECK(opened_run(user).edits.empty());
    CHECK(user.problem().weights.W_Q->at(3, 17) == was);
    check_predictions(user, {});
    user.act(MoveInHistory{2});
    CHECK(opened_run(user).edits.size() == 2);
    check_predictions(user, opened_run(user).edits);
    user.act(ResetEdits{});
    CHECK(opened_run(user).edits.empty());
    CHECK(user.program.state().error.empty());
    end_recording();
}

TEST_CASE("A and B of a cross-attention are compared", "[model][stacks]") {
    const Golden golden("marian_tiny");
    User user;
    open(user, "marian_tiny", golden);
    user.act(MarkBaseline{});
    user.act(EditCell{{TensorId::W_K, {1, 2, 0, 0}}, 1.5F});
    user.act(SetCompare{Compare::difference});
    CHECK(user.program.state().error.empty());
    CHECK(user.program.state().compare.marked());
    CHECK(user.program.state().compare.obstacle().empty());
    const analysis::TensorDifference* const moved = user.program.state().compare.of(TensorId::weights);
    REQUIRE(moved != nullptr);
    CHECK(moved->changed > 0);
    // A follows to the decoder's own heads, which read before the edited ones of the same layer.
    show(user, Stack::own);
    const Comparison& compare = user.program.state().compare;
    REQUIRE(compare.marked());
    CHECK(compare.baseline().document->checkpoint()->place == user.shown().document->checkpoint()->place);
    CHECK(compare.obstacle().empty());
    const analysis::TensorDifference* const same = compare.of(TensorId::weights);
    REQUIRE(same != nullptr);
    CHECK(same->changed == 0);
    end_recording();
}

TEST_CASE("boards of different sizes follow each other", "[model][stacks]") {
    // Two layers of two heads in the encoder, one layer of four in the decoder.
    User user;
    begin_recording();
    user.program.open_path(folder_of("mbart_tiny"), {"3 1 4 1 5 9", "7 8 9"});
    user.settle();
    user.settle();
    open_head(user, 0, 3);
    for (const std::int64_t heads : {2, 3}) { // the second time with means and a filter
        user.program.act(ShowStack{Stack::encoder});
        user.driver.wait(1);
        user.settle();
        CHECK(user.view().head < heads);
        open_head(user, 1, 1);
        CHECK(user.shown().document->checkpoint()->place == checkpoint::AttentionPlace{Stack::encoder, 1});
        user.program.act(ShowStack{Stack::cross});
        user.driver.wait(1);
        user.settle();
        CHECK(user.shown().document->checkpoint()->place == checkpoint::AttentionPlace{Stack::cross, 0});
        open_head(user, 0, 3);
        CHECK(user.view().head == 3);
        INFO(user.program.state().error);
        CHECK(user.program.state().error.empty());
        user.act(SetReadingOptions{{.hide_first_token = true, .means = true}});
        CHECK(user.program.state().head_grid->info().H == 5);
        CHECK(user.shown().document->shows_weights());
    }
    CHECK(user.program.state().error.empty());
    end_recording();
}

TEST_CASE("both texts are typed, and a text that cannot be read is told of and kept", "[model][stacks]") {
    const Golden golden("t5_tiny");
    User user;
    open(user, "t5_tiny", golden);
    const auto type = [&](const char* field, const std::string& text) {
        REQUIRE(user.driver.click_item(field));
        user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
        text.empty() ? user.driver.key(GLFW_KEY_BACKSPACE) : user.driver.type(text);
        user.driver.key(GLFW_KEY_ENTER);
        user.settle();
        user.settle();
    };
    type("##target", "7 8");
    CHECK(opened_run(user).inputs->ids == std::vector<std::int64_t>{0, 7, 8});
    CHECK(opened_run(user).inputs->source.front().ids == golden.source);
    // The encoder's part was taken over.
    CHECK(model_of(user).run->computed_from() == 2);
    CHECK(user.shown().dims().Tq == 3);
    type("##prompt", "5 6 1");
    CHECK(opened_run(user).inputs->source.front().ids == std::vector<std::int64_t>{5, 6, 1});
    CHECK(opened_run(user).inputs->ids == std::vector<std::int64_t>{0, 7, 8});
    CHECK(user.shown().dims().Tk == 3);
    check_predictions(user, {});
    type("##target", "");
    CHECK(opened_run(user).inputs->ids == std::vector<std::int64_t>{0});
    CHECK(screen_shows("The start token alone"));

    for (const auto& [field, text] : {std::pair("##target", "7 9999"), std::pair("##target", "seven"),
                                      std::pair("##prompt", "9999"), std::pair("##prompt", "")}) {
        INFO(field << " " << text);
        const RunSpecPtr before = user.program.state().document->part();
        const bool target = std::string(field) == "##target";
        user.act(target ? ModelAction(TypeTarget{text}) : ModelAction(TypePrompt{text}));
        user.settle();
        CHECK_FALSE(model_of(user).error.empty());
        CHECK(user.program.state().document->part() == before);
        CHECK((target ? model_of(user).target : model_of(user).prompt) == text);
        type("##target", "");
        type("##prompt", "5 6 1");
        CHECK(model_of(user).error.empty());
    }
    user.act(MoveInHistory{-1});
    CHECK(user.program.state().error.empty());
    CHECK(model_of(user).target == opened_run(user).target);
    end_recording();
}

TEST_CASE("a target is written on and taken back", "[model][stacks][writing]") {
    const Golden golden("t5_tiny");
    User user;
    open(user, "t5_tiny", golden);
    const std::vector<std::int64_t> typed = opened_run(user).inputs->ids;
    user.press("Step");
    REQUIRE(opened_run(user).inputs->ids.size() == typed.size() + 1);
    CHECK(opened_run(user).written == 1);
    CHECK(opened_run(user).inputs->source.front().ids == golden.source);
    CHECK(user.view().row == std::ssize(typed));
    CHECK(model_of(user).target == opened_run(user).target);
    CHECK(model_of(user).prompt == opened_run(user).prompt);
    const std::int64_t second = model_of(user).next_distribution->candidates[1].id;
    user.press("take token " + std::to_string(second));
    CHECK(opened_run(user).inputs->ids.back() == second);
    check_predictions(user, {});
    user.press("Take back");
    user.press("Take back");
    CHECK(opened_run(user).inputs->ids == typed);
    CHECK(opened_run(user).prompt == text_of_ids(golden.source, false));
    user.act(MoveInHistory{-1});
    CHECK(opened_run(user).inputs->ids.size() == typed.size() + 1);

    // The token that ends a text ends the writing.
    user.act(TypeTarget{"7"});
    user.settle();
    const std::int64_t end = opened_run(user).model->end_ids.front();
    user.program.act(SetGenerating{true});
    user.program.act(GenerateToken{end});
    user.settle();
    CHECK(opened_run(user).inputs->ids.back() == end);
    CHECK(user.program.state().error.empty());
    end_recording();
}

TEST_CASE("the three kinds of attention are listed, and keys and clicks switch them", "[model][stacks]") {
    const Golden golden("marian_tiny");
    User user;
    open(user, "marian_tiny", golden);
    CHECK(screen_shows("Three kinds of attention"));
    user.press("heads of Decoder self");
    CHECK(user.view().attention.stack == Stack::own);
    user.driver.key(GLFW_KEY_E, GLFW_MOD_ALT);
    user.settle();
    CHECK(user.view().attention.stack == Stack::encoder);
    CHECK(user.shown().document->stack() == Stack::encoder);
    user.driver.key(GLFW_KEY_X, GLFW_MOD_ALT);
    user.settle();
    CHECK(user.view().attention.stack == Stack::cross);
    user.driver.key(GLFW_KEY_D, GLFW_MOD_ALT);
    user.settle();
    CHECK(user.view().attention.stack == Stack::own);
    CHECK(user.view().heads_view == HeadsView::each);
    // Another checkpoint has none of them.
    user.open(folder_of("gpt2_tiny"), "3 1 4");
    CHECK(user.view().attention.stack == Stack::own);
    CHECK_FALSE(user.click("Decoder self"));
    end_recording();
}

TEST_CASE("the split of a cross-attention has a row of keys and values for each token of the encoder",
          "[gui][stacks]") {
    begin_recording();
    User user;
    user.program.open_path(folder_of("t5_tiny"), {"3 7", "3 7 5 9 2"});
    user.settle();
    user.settle();
    user.driver.key(GLFW_KEY_X, GLFW_MOD_ALT);
    user.settle();
    user.act(GoTo{StageGroup::split});
    user.act(ShowOneHead{true});
    user.settle();
    const Dims& dims = user.shown().dims();
    REQUIRE(dims.Tq > dims.Tk);
    int keys = 0;
    for (const MatrixGrid& grid : user.program.canvas().grids) {
        const bool of_query = grid.tensor == TensorId::q || grid.tensor == TensorId::q_heads;
        CHECK(grid.rows == (of_query ? dims.Tq : dims.Tk));
        keys += grid.tensor == TensorId::k_heads;
    }
    CHECK(keys == 1);
    end_recording();
}
