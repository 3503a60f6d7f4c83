#include "app/session/workspace.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>

namespace headscope::test {

using namespace headscope::app;
namespace {

using checkpoint::AttentionPlace;
using checkpoint::Stack;

/// An encoder-decoder that is open, without a window.
struct OpenPair {
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    explicit OpenPair(const std::string& name, const ModelTexts& texts) {
        Progress progress;
        workspace.open(open_model(test_data("/models/") + name, texts, 0, progress));
        settle();
    }
    void settle() {
        workspace.settle();
        workspace.take_results();
    }
    void change_view(const AttentionChange& change) {
        workspace.change_view(ViewChange(change));
        settle();
    }
    void act(const ModelAction& action) {
        workspace.session().act(action);
        settle();
    }
    const RunSpec& part() const { return *state.document->part(); }
};

bool same(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
}

} // namespace

TEST_CASE("what the view looks at and the number of an attention are the same thing") {
    // Two layers in the encoder, one in the decoder, with other numbers of heads.
    OpenPair open("mbart_tiny", {"3 1 4 1 5", "7 8"});
    const checkpoint::ModelConfig& config = open.part().config();
    std::int64_t seen = 0;
    for (const Stack stack : stacks_of(config))
        for (std::int64_t layer = 0; layer < in_stack(config, stack).layers; ++layer, ++seen) {
            open.change_view(ShowStack{stack});
            open.change_view(OpenHead{layer, 0});
            const Document& document = *open.state.document;
            CHECK(document.checkpoint()->place == AttentionPlace{stack, layer});
            const std::int64_t n = open_attention(document);
            CHECK(attention_place(config, n) == AttentionPlace{stack, layer});
            const Problem problem = open.state.model.run->problem(n);
            CHECK(same(*document.problem.x, *problem.x));
            CHECK(document.problem.weights.W_Q == problem.weights.W_Q);
            CHECK(document.problem.cross() == (stack == Stack::cross));
            CHECK(same(*open.state.shown.tensor(TensorId::weights), *open.state.model.run->weights(n)));
            CHECK(open.state.head_grid->info().H == in_stack(config, stack).H);
            CHECK(attention_name(open.part(), {stack, layer}) ==
                  std::string(stack == Stack::encoder ? "encoder"
                              : stack == Stack::cross ? "cross"
                                                      : "decoder") +
                      " L" + std::to_string(layer));
            CHECK(open_layer_name(document) == attention_name(open.part(), {stack, layer}));
            CHECK(open_head_name(document, 1) == "L" + std::to_string(layer) + " H1");
        }
    CHECK(seen == attention_count(config));
    // A layer that the stack has not is its last one.
    open.change_view(ShowStack{Stack::encoder});
    open.change_view(OpenHead{1, 0});
    open.change_view(ShowStack{Stack::cross});
    CHECK(open.state.document->checkpoint()->place == AttentionPlace{Stack::cross, 0});
}

TEST_CASE("a model of one stack has the names and numbers that it always had") {
    OpenPair open("gpt2_tiny", {"3 1 4"});
    open.change_view(OpenHead{1, 0});
    CHECK(open_attention(*open.state.document) == 1);
    CHECK(open_layer_name(*open.state.document) == "L1");
    CHECK(open.state.view.step_strip.whole_block());
    CHECK_FALSE(open.part().two_texts());
    CHECK(open.part().target.empty());
    Progress progress;
    CHECK_THROWS_WITH(open_model(test_data("/models/gpt2_tiny"), {"3 1", "4"}, 0, progress),
                      Catch::Contains("not have both an encoder and a decoder"));
}

TEST_CASE("a target that changes leaves the encoder's part, a source changes all") {
    OpenPair open("t5_tiny", {"3 1 4 1 5", "7 8"});
    const checkpoint::ModelRunPtr before = open.state.model.run;
    const std::int64_t encoder = open.part().config().encoder->layers;
    open.act(TypeTarget{"7 8 9"});
    CHECK(open.state.model.run->computed_from() == encoder);
    CHECK(open.state.model.run->weights(0) == before->weights(0));
    CHECK(open.part().inputs->ids == std::vector<std::int64_t>{0, 7, 8, 9});
    CHECK(open.workspace.history().states().back().label == "type a target");
    open.act(TypePrompt{"2 2"});
    CHECK(open.state.model.run->computed_from() == 0);
    CHECK(open.part().target == "7 8 9");
    CHECK(open.part().prompt == "2 2");
    open.workspace.move_in_history(-1);
    open.settle();
    CHECK(open.state.model.target == open.part().target);
    CHECK(open.state.model.prompt == open.part().prompt);
}

} // namespace headscope::test
