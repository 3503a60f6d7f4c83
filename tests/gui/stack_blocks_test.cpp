#include "app/draw/matrix/comparison.h"
#include "app/shell/files/exports.h"
#include "core/base/file.h"
#include "core/checkpoint/run/model_run.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/screen.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

// Norms, sums and MLPs around the attentions of an encoder-decoder.

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;
using checkpoint::Stack;

namespace {

/// Source 3 7 9 5, target (start) 12 5 30.
void open_head_grid(User& user, const std::string& name, Stack stack) {
    user.open(test_data("/models/") + name, "3 7 9 5", "12 5 30");
    REQUIRE(user.program.state().document->is_checkpoint());
    user.act(ShowStack{stack});
    user.settle();
}

const RunSpec& part_on_screen(const User& user) {
    return *user.program.state().document->part();
}

TensorPtr logits_on_screen(const User& user) {
    return user.program.state().model.run->logits();
}

/// A pass of its own.
checkpoint::ModelRunPtr pass_with(const User& user, const checkpoint::ModelEdits& edits) {
    const RunSpec& part = part_on_screen(user);
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
    TensorId weight;
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
                                               TensorId::norm2_weight,
                                               1},
                                  {"t5_tiny",
                                   Stack::own,
                                   1,
                                   StageGroup::norm1,
                                   {TensorId::norm1_weight, {3, 0, 0, 0}},
                                   TensorId::norm1_weight,
                                   4},
                                  {"t5_tiny",
                                   Stack::cross,
                                   1,
                                   StageGroup::norm1,
                                   {TensorId::norm1_weight, {3, 0, 0, 0}},
                                   TensorId::norm1_weight,
                                   5},
                                  {"marian_tiny",
                                   Stack::cross,
                                   0,
                                   StageGroup::norm2,
                                   {TensorId::norm2_bias, {5, 0, 0, 0}},
                                   TensorId::norm2_bias,
                                   3},
                                  {"bart_tiny",
                                   Stack::cross,
                                   1,
                                   StageGroup::mlp_out,
                                   {TensorId::b_out, {5, 0, 0, 0}},
                                   TensorId::b_out,
                                   5},
                                  {"mbart_tiny",
                                   Stack::encoder,
                                   0,
                                   StageGroup::mlp_act,
                                   {TensorId::W_in, {5, 11, 0, 0}},
                                   TensorId::W_in,
                                   0},
                                  {"mbart_tiny",
                                   Stack::cross,
                                   0,
                                   StageGroup::mlp_act,
                                   {TensorId::W_out, {11, 5, 0, 0}},
                                   TensorId::W_out,
                                   3}}) {
        INFO(c.folder << " " << tensor_info(c.cell.tensor).name << " of " << static_cast<int>(c.stack));
        User user;
        open_head_grid(user, c.folder, c.stack);
        user.act(GoTo{c.page, 2, c.layer});
        user.settle();
        REQUIRE(user.view().group == c.page);
        REQUIRE(user.shown().tensor(c.cell.tensor) != nullptr);
        const TensorPtr before = logits_on_screen(user);
        const checkpoint::Model& model = *part_on_screen(user).model->model;
        const TensorPtr own = checkpoint::editable_weights(model, c.n)[c.weight];
        REQUIRE(user.shown().value(c.cell) == own->data()[own->shape().offset(c.cell.at)]);
        user.act(Select{c.cell});
        user.act(EditCell{c.cell, 1.75F});
        user.settle();
        INFO(user.program.state().error);
        REQUIRE(user.program.state().error.empty());
        auto edited = std::make_shared<Tensor>(own->shape(), own->values());
        edited->data()[own->shape().offset(c.cell.at)] = 1.75F;
        CHECK(user.shown().value(c.cell) == 1.75F);
        checkpoint::ModelEdits edits;
        edits[c.n].tensors[c.weight] = edited;
        CHECK(equal_numbers(logits_on_screen(user), pass_with(user, edits)->logits()));
        CHECK_FALSE(equal_numbers(logits_on_screen(user), before));
        CHECK(part_on_screen(user).marks.at(c.n).others == std::vector{c.cell.tensor});
        // B − A on this screen and the next ones.
        user.act(MarkBaseline{true});
        user.act(SetCompare{Compare::difference});
        user.settle();
        const TensorId main = group_info(c.page).main;
        const Comparison& compare = user.program.state().compare;
        if (c.cell.tensor != TensorId::W_out) { // W_out is after mlp_act
            REQUIRE(compare.of(main) != nullptr);
            CHECK(compare.of(main)->changed > 0);
        }
        user.act(SetCompare{Compare::now});
        user.act(ShowStack{Stack::encoder});
        user.settle();
        user.act(MoveInHistory{-1});
        user.settle();
        // Undo goes to the grid whose edit it takes back.
        CHECK(user.view().attention.stack == c.stack);
        CHECK(user.view().attention.layer == c.layer);
        CHECK(equal_numbers(logits_on_screen(user), before));
        CHECK(part_on_screen(user).edits.empty());
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
        User user;
        open_head_grid(user, name, stack);
        const CellAddress act{TensorId::mlp_act, {0, 2, 11, 0}};
        user.act(GoTo{StageGroup::mlp_act, 2, 0});
        user.act(Select{act});
        user.settle();
        const TensorPtr before = logits_on_screen(user);
        const float computed = user.shown().value(act);
        user.act(EditCell{act, 1.5F});
        user.settle();
        REQUIRE(user.program.state().error.empty());
        CHECK(user.shown().value(act) == 1.5F);
        CHECK(user.shown().block->is_set(TensorId::mlp_act, act.at));
        CHECK(screen_shows("the layer computes"));
        checkpoint::ModelEdits edits;
        edits[n].patched = {{.at = TensorId::mlp_act,
                             .first = 2,
                             .rows = std::make_shared<const Tensor>(Shape{1, 1}, 1.5F),
                             .column = 11}};
        CHECK(equal_numbers(logits_on_screen(user), pass_with(user, edits)->logits()));
        CHECK_FALSE(equal_numbers(logits_on_screen(user), before));
        user.act(ResetActivation{act});
        user.settle();
        CHECK(user.shown().value(act) == computed);
        CHECK(equal_numbers(logits_on_screen(user), before));
        CHECK(part_on_screen(user).edits.empty());
        end_recording();
    }
}

TEST_CASE("the MLP of a decoder's layer is on the board of its cross-attention", "[model][stacks]") {
    User user;
    open_head_grid(user, "t5_tiny", Stack::cross);
    user.act(GoTo{StageGroup::mlp_act, 2, 1});
    user.settle();
    CHECK(screen_shows("cross L1"));
    CHECK(screen_shows("cross.mlp_act[1]["));
    CHECK(user.shown().unit_words != nullptr);
    // The decoder's own attention has none, and nothing is set there.
    user.act(ShowStack{Stack::own});
    user.settle();
    CHECK(user.view().group == StageGroup::resid_in);
    CHECK(user.shown().block->place == checkpoint::AttentionPlace{Stack::own, 1});
    user.act(EditCell{{TensorId::mlp_act, {0, 2, 11, 0}}, 1.5F});
    CHECK(user.program.state().error.find("there is no mlp_act here") != std::string::npos);
    CHECK(part_on_screen(user).edits.empty());
    // The inputs of a cross-attention, and their sources.
    user.act(ShowStack{Stack::cross});
    user.act(GoTo{StageGroup::resid_in, 2, 0});
    user.act(Select{CellAddress{TensorId::resid_in, {0, 2, 5, 0}}});
    user.settle();
    CHECK(screen_shows("output of the self-attention"));
    CHECK(screen_shows("It is the output of the self-attention."));
    Progress progress;
    const checkpoint::RunPartPtr own = pass_with(user, {})->around(2, progress);
    CHECK(equal_numbers(user.shown().block->find(TensorId::resid_in), own->find(TensorId::resid_mid)));
    end_recording();
}

TEST_CASE("a table and a script of a stop around an attention say which attention it is", "[model][stacks]") {
    const TemporaryFolder folder;
    User user;
    open_head_grid(user, "bart_tiny", Stack::cross);
    user.act(GoTo{StageGroup::mlp_act, 2, 1});
    user.settle();
    const std::string table = folder.file("act.safetensors"), script = folder.file("layer.py");
    write_numbers({user.shown(), user.view()}, table);
    Progress progress;
    write_script({user.shown(), user.view()}, script, progress);
    const format::Safetensors file = format::Safetensors::open(table);
    CHECK(file.metadata().at("layer") == "1");
    CHECK(file.metadata().at("stack") == "cross");
    CHECK(equal_numbers(file.tensor("mlp_act"), user.shown().block->find(TensorId::mlp_act)));
    CHECK(read_file(script).find("expected_norm2") != std::string::npos);
    end_recording();
}

namespace {

/// The script that is saved at the activation of layer 0.
std::string script_at_activation(const User& user) {
    const TemporaryFolder folder;
    const std::string path = folder.file("layer.py");
    Progress progress;
    write_script({user.shown(), user.view()}, path, progress);
    return read_file(path);
}

} // namespace

TEST_CASE("a saved script of a layer has the activations that were set", "[model][stacks]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), "3 7 9 5");
    user.act(GoTo{StageGroup::mlp_act, 2, 0});
    user.act(EditCell{{TensorId::mlp_act, {0, 2, 11, 0}}, 1.75F});
    user.settle();
    REQUIRE(user.program.state().error.empty());
    CHECK(script_at_activation(user).find("\nmlp_act[:, 2:3, 11:12] = intervention_0\n") !=
          std::string::npos);
}

TEST_CASE("a saved script of a layer has its experts", "[model][stacks]") {
    User user;
    user.open(test_data("/models/mixtral_tiny"), "3 7 9 5");
    user.act(GoTo{StageGroup::mlp_act, 2, 0});
    user.settle();
    CHECK(script_at_activation(user).find("\nrouting = torch.zeros_like(router)") != std::string::npos);
}
