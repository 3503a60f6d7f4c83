#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;
using checkpoint::Stack;

namespace {

constexpr Stack all_stacks[] = {Stack::encoder, Stack::own, Stack::cross};

/// Source 3 7 9 5, target (start) 12 5 30.
void open(User& user, const std::string& name) {
    user.open(test_data("/models/") + name, "3 7 9 5", "12 5 30");
    REQUIRE(user.program.state().error.empty());
    REQUIRE(user.program.state().document->is_checkpoint());
}

const ModelState& opened_model(const User& user) {
    return user.program.state().model;
}

const RunSpec& opened_run(const User& user) {
    return *user.program.state().document->part();
}

void show(User& user, Stack stack) {
    user.act(ShowStack{stack});
    user.settle();
}

/// Returns the logits of a new run.
TensorPtr logits_of_new_run(const User& user) {
    const RunSpec& part = opened_run(user);
    Progress progress;
    return checkpoint::ModelRun::compute(part.model->model, *part.inputs, part.edits, nullptr, {}, progress)
        ->logits();
}

} // namespace

// Fails when edited_table reads the tables of the decoder alone, and when undo follows a shared table into
// the encoder.
TEST_CASE("the tables of both stacks are edited on the pages before and behind their layers",
          "[model][stacks]") {
    User user;
    open(user, "bart_tiny");
    const TensorPtr unedited = opened_model(user).run->logits();
    struct Edit {
        Stack stack;
        StageGroup page;
        CellAddress cell;
        std::int64_t n; ///< attention whose edits hold it
        TensorId weight;
    };
    const std::int64_t of_source = 7, of_target = 12;
    for (const Edit& edit :
         {Edit{
              Stack::encoder, StageGroup::embedding, {TensorId::W_E, {of_source, 4, 0, 0}}, 0, TensorId::W_E},
          {Stack::encoder, StageGroup::position, {TensorId::W_P, {3, 4, 0, 0}}, 0, TensorId::W_P},
          {Stack::own, StageGroup::embedding, {TensorId::W_E, {of_target, 4, 0, 0}}, 0, TensorId::W_E},
          {Stack::cross, StageGroup::position, {TensorId::W_P, {3, 4, 0, 0}}, 2, TensorId::W_P},
          // tied
          {Stack::cross, StageGroup::logits, {TensorId::W_U, {of_target, 6, 0, 0}}, 0, TensorId::W_E}}) {
        INFO(tensor_info(edit.cell.tensor).name << " of " << static_cast<int>(edit.stack));
        show(user, edit.stack);
        user.act(GoTo{edit.page, 1});
        user.settle();
        if (edit.page == StageGroup::logits) {
            user.act(Select{CellAddress{TensorId::logits, {0, 1, of_target, 0}}});
            user.settle();
        }
        REQUIRE(user.view().group == edit.page);
        REQUIRE(user.shown().tensor(edit.cell.tensor) != nullptr);
        const float was = user.shown().value(edit.cell);
        user.act(Select{edit.cell});
        user.settle();
        user.act(EditCell{edit.cell, 1.75F});
        user.settle();
        INFO(user.program.state().error);
        REQUIRE(user.program.state().error.empty());
        CHECK(user.shown().value(edit.cell) == 1.75F);
        REQUIRE(opened_run(user).edits.contains(edit.n));
        CHECK(opened_run(user).edits.at(edit.n).rows.at(edit.weight).contains(edit.cell.at[0]));
        CHECK(std::ranges::equal(opened_model(user).run->logits()->values(),
                                 logits_of_new_run(user)->values()));
        CHECK_FALSE(std::ranges::equal(opened_model(user).run->logits()->values(), unedited->values()));
        user.act(MoveInHistory{-1});
        user.settle();
        CHECK(user.view().group == edit.page);
        CHECK(user.view().attention.stack == edit.stack);
        CHECK(user.shown().value(edit.cell) == was);
        CHECK(std::ranges::equal(opened_model(user).run->logits()->values(), unedited->values()));
        CHECK(opened_run(user).edits.empty());
    }
    end_recording();
}

TEST_CASE("the stops before and behind the layers of an encoder-decoder are those of the stack",
          "[model][stacks]") {
    User user;
    open(user, "t5_tiny");
    for (const Stack stack : all_stacks) {
        show(user, stack);
        const StepStrip& strip = user.view().step_strip;
        CHECK(strip.before == std::vector{StageGroup::embedding});
        CHECK(strip.after.front() == StageGroup::final_norm);
        CHECK(strip.after.size() == (stack == Stack::encoder ? 1U : 3U));
        for (const StageGroup step : {strip.before.front(), strip.after.front(), strip.after.back()}) {
            user.act(GoTo{step});
            user.settle();
            REQUIRE(user.shown().block != nullptr);
            CHECK(user.shown().block->T() == user.shown().dims().Tq);
            CHECK(user.shown().tensor(group_info(step).main) != nullptr);
        }
    }
    // From the decoder's probabilities to the encoder, which has none.
    user.driver.key(GLFW_KEY_E, GLFW_MOD_ALT);
    user.settle();
    CHECK(user.view().group == StageGroup::resid_in);
    CHECK(user.program.state().error.empty());
    end_recording();
}
