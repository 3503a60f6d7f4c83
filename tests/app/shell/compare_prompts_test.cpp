#include "app/draw/matrix/comparison.h"
#include "app/shell/program.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;
namespace {

constexpr const char* text_a = "When Mary and John went to the shop, John gave a book to";
constexpr const char* text_b = "When Mary and John went to the shop, Mary gave a book to";

struct TwoPrompts {
    Program program{{.recipe = {}, .device = "cpu"}};

    TwoPrompts() {
        Progress progress;
        program.open_checkpoint(open_model(checkpoint::model_folder("pocket"), {text_a}, 1, progress));
        program.settle();
        program.act(ShowScreen{Screen::patching});
    }
    const AppState& state() const { return program.state(); }
    void act(const Action& action) {
        program.act(action);
        program.settle();
        program.settle();
    }
    void compare(const std::string& second) {
        act(AskPatching{.corrupted = second});
        act(ComparePrompts{});
    }
};

checkpoint::ModelRunPtr run_of(const checkpoint::TextModel& model, const std::string& text) {
    Progress progress;
    return checkpoint::ModelRun::compute(model.model, checkpoint::prompt_inputs(model, text), {}, nullptr, {},
                                         progress);
}

void check_difference(const Tensor& change, const Tensor& a, const Tensor& b) {
    REQUIRE(change.count() == b.count());
    float largest = 0;
    for (std::size_t i = 0; i < change.values().size(); ++i) {
        largest = std::max(largest, std::abs(change.values()[i]));
        REQUIRE(change.values()[i] == Approx(b.values()[i] - a.values()[i]).margin(1e-5));
    }
    CHECK(largest > 0);
}

} // namespace

TEST_CASE("the stages of the second prompt less those of the first are shown layer by layer", "[compare]") {
    TwoPrompts prompts;
    prompts.compare(text_b);
    REQUIRE(prompts.state().error.empty());
    const checkpoint::TextModel& model = *prompts.state().document->part()->model;
    const auto a = run_of(model, text_a), b = run_of(model, text_b);
    CHECK(prompts.state().document->part()->prompt == text_b);
    CHECK(prompts.state().model.patching.corrupted == text_a);
    CHECK(prompts.state().view.attention.screen == Screen::stages);
    CHECK(prompts.state().view.compare == Compare::difference);
    CHECK(prompts.state().compare.name() == "the clean prompt");
    const auto change = [&](TensorId id) { return prompts.state().compare.of(id); };
    for (const std::int64_t layer : {1, 3, 0}) {
        CAPTURE(layer);
        prompts.act(GoTo{StageGroup::weights, -1, layer});
        REQUIRE(prompts.state().compare.comparable());
        REQUIRE(change(TensorId::weights) != nullptr);
        check_difference(*change(TensorId::weights)->cells, *a->layer(layer), *b->layer(layer));
        prompts.act(GoTo{StageGroup::resid_in, -1, layer});
        REQUIRE(change(TensorId::resid_in) != nullptr);
        check_difference(*change(TensorId::resid_in)->cells, *a->stream(layer), *b->stream(layer));
        prompts.act(GoTo{StageGroup::mlp_out, -1, layer});
        Progress progress;
        REQUIRE(change(TensorId::mlp_out) != nullptr);
        check_difference(*change(TensorId::mlp_out)->cells,
                         *a->around(layer, progress)->find(TensorId::mlp_out),
                         *b->around(layer, progress)->find(TensorId::mlp_out));
    }
    // After a return to the patches, the prompts are unchanged.
    prompts.act(ShowScreen{Screen::patching});
    CHECK(prompts.state().document->part()->prompt == text_a);
    CHECK(prompts.state().model.patching.corrupted == text_b);
    prompts.act(ShowScreen{Screen::stages});
    prompts.act(ShowScreen{Screen::patching});
    CHECK(prompts.state().document->part()->prompt == text_a);
    prompts.act(ShowScreen{Screen::stages});
    prompts.act(SetCompare{Compare::now});
    CHECK(side_to_show(prompts.state().compare, prompts.state().view.compare) == Compare::now);
    prompts.act(DropBaseline{});
    CHECK_FALSE(prompts.state().compare.marked());
}

TEST_CASE("prompts of other lengths are not compared, and a sentence says where they part", "[compare]") {
    TwoPrompts prompts;
    prompts.compare("When Mary and John went");
    CAPTURE(prompts.state().error);
    CHECK(prompts.state().error.find(
              "the clean prompt has 15 tokens and the corrupted prompt 6; they differ from token 6 on") !=
          std::string::npos);
    CHECK(prompts.state().document->part()->prompt == text_a);
    CHECK_FALSE(prompts.state().compare.marked());
}

TEST_CASE("A of a checkpoint follows to the layer on screen", "[compare]") {
    TwoPrompts prompts;
    const checkpoint::TextModel& model = *prompts.state().document->part()->model;
    prompts.act(GoTo{StageGroup::weights, -1, 1});
    prompts.act(MarkBaseline{});
    prompts.act(SetGain{2, 0.0F});
    prompts.act(GoTo{StageGroup::weights, -1, 3});
    REQUIRE(prompts.state().compare.comparable());
    checkpoint::ModelEdits edits;
    edits[1].gains.assign(8, 1.0F);
    edits[1].gains[2] = 0;
    Progress progress;
    const auto own = run_of(model, text_a),
               edited =
                   checkpoint::ModelRun::compute(model.model, own->inputs(), edits, nullptr, {}, progress);
    check_difference(*prompts.state().compare.of(TensorId::weights)->cells, *own->layer(3),
                     *edited->layer(3));
}

} // namespace headscope::test
