#include "app/draw/matrix/comparison.h"
#include "app/shell/files/exports.h"
#include "core/base/file.h"
#include "core/checkpoint/run/model_run.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/screen.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

// Norms, sums and MLPs around the attentions of an encoder-decoder.

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;
using checkpoint::Stack;
using checkpoint::WeightId;

namespace {

/// Source 3 7 9 5, target (start) 12 5 30.
void open_head_grid(Desk& desk, const std::string& name, Stack stack) {
    desk.open(test_data("/models/") + name, "3 7 9 5", "12 5 30");
    REQUIRE(desk.program.state().document->is_checkpoint());
    desk.act(ShowStack{stack});
    desk.settle();
}

const RunSpec& part_on_screen(const Desk& desk) {
    return *desk.program.state().document->part();
}

TensorPtr logits_on_screen(const Desk& desk) {
    return desk.program.state().model.run->logits();
}

/// A pass of its own.
checkpoint::ModelRunPtr pass_with(const Desk& desk, const checkpoint::ModelEdits& edits) {
    const RunSpec& part = part_on_screen(desk);
    Progress progress;
    return checkpoint::ModelRun::compute(part.model->model, *part.inputs, edits, nullptr, {}, progress);
}

bool equal_numbers(const TensorPtr& a, const TensorPtr& b) {
    return std::ranges::equal(a->values(), b->values());
}

struct EditedAround {
    const char* folder;
    Stack stack;
    std::int64_t layer;
    StageGroup page;
    CellAddress cell;
    WeightId weight;
    std::int64_t n; ///< attention whose edits hold it
};

} // namespace

// Fails when block() takes the number of a layer: the norm of another attention is on the page.
TEST_CASE("weights of norms and MLPs are edited on all three boards, followed, and undone",
          "[model][stacks]") {
    for (const EditedAround& c : {EditedAround{"t5_tiny",
                                               Stack::encoder,
                                               1,
                                               StageGroup::norm2,
                                               {TensorId::norm2_weight, {3, 0, 0, 0}},
                                               WeightId::norm2_weight,
                                               1},
                                  {"t5_tiny",
                                   Stack::own,
                                   1,
                                   StageGroup::norm1,
                                   {TensorId::norm1_weight, {3, 0, 0, 0}},
                                   WeightId::norm1_weight,
                                   4},
                                  {"t5_tiny",
                                   Stack::cross,
                                   1,
                                   StageGroup::norm1,
                                   {TensorId::norm1_weight, {3, 0, 0, 0}},
                                   WeightId::norm1_weight,
                                   5},
                                  {"marian_tiny",
                                   Stack::cross,
                                   0,
                                   StageGroup::norm2,
                                   {TensorId::norm2_bias, {5, 0, 0, 0}},
                                   WeightId::norm2_bias,
                                   3},
                                  {"bart_tiny",
                                   Stack::cross,
                                   1,
                                   StageGroup::mlp_out,
                                   {TensorId::b_out, {5, 0, 0, 0}},
                                   WeightId::mlp_out_bias,
                                   5},
                                  {"mbart_tiny",
                                   Stack::encoder,
                                   0,
                                   StageGroup::mlp_act,
                                   {TensorId::W_in, {5, 11, 0, 0}},
                                   WeightId::mlp_in,
                                   0},
                                  {"mbart_tiny",
                                   Stack::cross,
                                   0,
                                   StageGroup::mlp_act,
                                   {TensorId::W_out, {11, 5, 0, 0}},
                                   WeightId::mlp_out,
                                   3}}) {
        INFO(c.folder << " " << tensor_info(c.cell.tensor).name << " of " << static_cast<int>(c.stack));
        Desk desk;
        open_head_grid(desk, c.folder, c.stack);
        desk.act(GoTo{c.page, 2, c.layer});
        desk.settle();
        REQUIRE(desk.view().group == c.page);
        REQUIRE(desk.shown().tensor(c.cell.tensor) != nullptr);
        const TensorPtr before = logits_on_screen(desk);
        const checkpoint::Model& model = *part_on_screen(desk).model->model;
        const TensorPtr own = checkpoint::editable_weights(model, c.n)[c.weight];
        REQUIRE(desk.shown().value(c.cell) == own->data()[own->shape().offset(c.cell.at)]);
        desk.act(Select{c.cell});
        desk.act(EditCell{c.cell, 1.75F});
        desk.settle();
        INFO(desk.program.state().error);
        REQUIRE(desk.program.state().error.empty());
        auto edited = std::make_shared<Tensor>(own->shape(), own->values());
        edited->data()[own->shape().offset(c.cell.at)] = 1.75F;
        CHECK(desk.shown().value(c.cell) == 1.75F);
        checkpoint::ModelEdits edits;
        edits[c.n].tensors[c.weight] = edited;
        CHECK(equal_numbers(logits_on_screen(desk), pass_with(desk, edits)->logits()));
        CHECK_FALSE(equal_numbers(logits_on_screen(desk), before));
        CHECK(part_on_screen(desk).marks.at(c.n).others == std::vector{c.cell.tensor});
        // B − A on this screen and the next ones.
        desk.act(MarkBaseline{true});
        desk.act(SetCompare{Compare::difference});
        desk.settle();
        const TensorId main = group_info(c.page).main;
        const Comparison& compare = desk.program.state().compare;
        if (c.cell.tensor != TensorId::W_out) { // W_out is after mlp_act
            REQUIRE(compare.of(main) != nullptr);
            CHECK(compare.of(main)->changed > 0);
        }
        desk.act(SetCompare{Compare::now});
        desk.act(ShowStack{Stack::encoder});
        desk.settle();
        desk.act(MoveInHistory{-1});
        desk.settle();
        // Undo goes to the grid whose edit it takes back.
        CHECK(desk.view().attention.stack == c.stack);
        CHECK(desk.view().attention.layer == c.layer);
        CHECK(equal_numbers(logits_on_screen(desk), before));
        CHECK(part_on_screen(desk).edits.empty());
        end_recording();
    }
}

TEST_CASE("a number inside the MLP of either stack is set, what comes after follows, and it is given back",
          "[model][stacks]") {
    for (const auto& [name, stack, n] : {std::tuple{"t5_tiny", Stack::encoder, 0},
                                         {"t5_tiny", Stack::cross, 3},
                                         {"marian_tiny", Stack::cross, 3},
                                         {"mbart_tiny", Stack::encoder, 0}}) {
        INFO(name << " " << static_cast<int>(stack));
        Desk desk;
        open_head_grid(desk, name, stack);
        const CellAddress act{TensorId::mlp_act, {0, 2, 11, 0}};
        desk.act(GoTo{StageGroup::mlp_act, 2, 0});
        desk.act(Select{act});
        desk.settle();
        const TensorPtr before = logits_on_screen(desk);
        const float computed = desk.shown().value(act);
        desk.act(EditCell{act, 1.5F});
        desk.settle();
        REQUIRE(desk.program.state().error.empty());
        CHECK(desk.shown().value(act) == 1.5F);
        CHECK(desk.shown().block->is_set(TensorId::mlp_act, act.at));
        CHECK(screen_shows("the layer computes"));
        checkpoint::ModelEdits edits;
        edits[n].patched = {{.at = TensorId::mlp_act,
                             .first = 2,
                             .rows = std::make_shared<const Tensor>(Shape{1, 1}, 1.5F),
                             .column = 11}};
        CHECK(equal_numbers(logits_on_screen(desk), pass_with(desk, edits)->logits()));
        CHECK_FALSE(equal_numbers(logits_on_screen(desk), before));
        desk.act(ResetActivation{act});
        desk.settle();
        CHECK(desk.shown().value(act) == computed);
        CHECK(equal_numbers(logits_on_screen(desk), before));
        CHECK(part_on_screen(desk).edits.empty());
        end_recording();
    }
}

TEST_CASE("the MLP of a decoder's layer is on the board of its cross-attention", "[model][stacks]") {
    Desk desk;
    open_head_grid(desk, "t5_tiny", Stack::cross);
    desk.act(GoTo{StageGroup::mlp_act, 2, 1});
    desk.settle();
    CHECK(screen_shows("cross L1"));
    CHECK(screen_shows("cross.mlp_act[1]["));
    CHECK(desk.shown().unit_words != nullptr);
    // The decoder's own attention has none, and nothing is set there.
    desk.act(ShowStack{Stack::own});
    desk.settle();
    CHECK(desk.view().group == StageGroup::resid_in);
    CHECK(desk.shown().block->place == checkpoint::AttentionPlace{Stack::own, 1});
    desk.act(EditCell{{TensorId::mlp_act, {0, 2, 11, 0}}, 1.5F});
    CHECK(desk.program.state().error.find("there is no mlp_act here") != std::string::npos);
    CHECK(part_on_screen(desk).edits.empty());
    // The inputs of a cross-attention, and their sources.
    desk.act(ShowStack{Stack::cross});
    desk.act(GoTo{StageGroup::resid_in, 2, 0});
    desk.act(Select{CellAddress{TensorId::resid_in, {0, 2, 5, 0}}});
    desk.settle();
    CHECK(screen_shows("output of the self-attention"));
    CHECK(screen_shows("It is the output of the self-attention."));
    Progress progress;
    const checkpoint::BlockTracePtr own = pass_with(desk, {})->block(2, progress);
    CHECK(equal_numbers(desk.shown().block->find(TensorId::resid_in), own->find(TensorId::resid_mid)));
    end_recording();
}

TEST_CASE("a table and a script of a stop around an attention say which attention it is", "[model][stacks]") {
    const TemporaryFolder folder;
    Desk desk;
    open_head_grid(desk, "bart_tiny", Stack::cross);
    desk.act(GoTo{StageGroup::mlp_act, 2, 1});
    desk.settle();
    const std::string table = folder.file("act.safetensors"), script = folder.file("layer.py");
    write_numbers({desk.shown(), desk.view()}, table);
    write_script({desk.shown(), desk.view()}, script);
    const format::Safetensors file = format::Safetensors::open(table);
    CHECK(file.metadata().at("layer") == "1");
    CHECK(file.metadata().at("stack") == "cross");
    CHECK(equal_numbers(file.tensor("mlp_act"), desk.shown().block->find(TensorId::mlp_act)));
    CHECK(read_file(script).find("expected_norm2") != std::string::npos);
    end_recording();
}
