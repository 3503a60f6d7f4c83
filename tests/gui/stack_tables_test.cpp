#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
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
void open(Desk& desk, const std::string& name) {
    desk.open(test_data("/models/") + name, "3 7 9 5", "12 5 30");
    REQUIRE(desk.program.state().error.empty());
    REQUIRE(desk.program.state().document->is_checkpoint());
}

const ModelState& opened_model(const Desk& desk) {
    return desk.program.state().model;
}

const RunSpec& opened_run(const Desk& desk) {
    return *desk.program.state().document->part();
}

void show(Desk& desk, Stack stack) {
    desk.act(ShowStack{stack});
    desk.settle();
}

/// Returns the logits of a new run.
TensorPtr logits_of_new_run(const Desk& desk) {
    const RunSpec& part = opened_run(desk);
    Progress progress;
    return checkpoint::ModelRun::compute(part.model->model, *part.inputs, part.edits, nullptr, {}, progress)
        ->logits();
}

} // namespace

// Fails when edited_table reads the tables of the decoder alone, and when undo follows a shared table into
// the encoder.
TEST_CASE("the tables of both stacks are edited on the pages before and behind their layers",
          "[model][stacks]") {
    Desk desk;
    open(desk, "bart_tiny");
    const TensorPtr unedited = opened_model(desk).run->logits();
    struct Edit {
        Stack stack;
        StageGroup page;
        CellAddress cell;
        std::int64_t n; ///< attention whose edits hold it
        checkpoint::WeightId weight;
    };
    const std::int64_t of_source = 7, of_target = 12;
    for (const Edit& edit : {Edit{Stack::encoder,
                                  StageGroup::embedding,
                                  {TensorId::W_E, {of_source, 4, 0, 0}},
                                  0,
                                  checkpoint::WeightId::word_table},
                             {Stack::encoder,
                              StageGroup::position,
                              {TensorId::W_P, {3, 4, 0, 0}},
                              0,
                              checkpoint::WeightId::position_table},
                             {Stack::own,
                              StageGroup::embedding,
                              {TensorId::W_E, {of_target, 4, 0, 0}},
                              0,
                              checkpoint::WeightId::word_table},
                             {Stack::cross,
                              StageGroup::position,
                              {TensorId::W_P, {3, 4, 0, 0}},
                              2,
                              checkpoint::WeightId::position_table},
                             // tied
                             {Stack::cross,
                              StageGroup::logits,
                              {TensorId::W_U, {of_target, 6, 0, 0}},
                              0,
                              checkpoint::WeightId::word_table}}) {
        INFO(tensor_info(edit.cell.tensor).name << " of " << static_cast<int>(edit.stack));
        show(desk, edit.stack);
        desk.act(GoTo{edit.page, 1});
        desk.settle();
        if (edit.page == StageGroup::logits) {
            desk.act(Select{CellAddress{TensorId::logits, {0, 1, of_target, 0}}});
            desk.settle();
        }
        REQUIRE(desk.view().group == edit.page);
        REQUIRE(desk.shown().tensor(edit.cell.tensor) != nullptr);
        const float was = desk.shown().value(edit.cell);
        desk.act(Select{edit.cell});
        desk.settle();
        desk.act(EditCell{edit.cell, 1.75F});
        desk.settle();
        INFO(desk.program.state().error);
        REQUIRE(desk.program.state().error.empty());
        CHECK(desk.shown().value(edit.cell) == 1.75F);
        REQUIRE(opened_run(desk).edits.contains(edit.n));
        CHECK(opened_run(desk).edits.at(edit.n).rows.at(edit.weight).contains(edit.cell.at[0]));
        CHECK(std::ranges::equal(opened_model(desk).run->logits()->values(),
                                 logits_of_new_run(desk)->values()));
        CHECK_FALSE(std::ranges::equal(opened_model(desk).run->logits()->values(), unedited->values()));
        desk.act(MoveInHistory{-1});
        desk.settle();
        CHECK(desk.view().group == edit.page);
        CHECK(desk.view().attention.stack == edit.stack);
        CHECK(desk.shown().value(edit.cell) == was);
        CHECK(std::ranges::equal(opened_model(desk).run->logits()->values(), unedited->values()));
        CHECK(opened_run(desk).edits.empty());
    }
    end_recording();
}

TEST_CASE("the stops before and behind the layers of an encoder-decoder are those of the stack",
          "[model][stacks]") {
    Desk desk;
    open(desk, "t5_tiny");
    for (const Stack stack : all_stacks) {
        show(desk, stack);
        const StepStrip& strip = desk.view().step_strip;
        CHECK(strip.before == std::vector{StageGroup::embedding});
        CHECK(strip.after.front() == StageGroup::final_norm);
        CHECK(strip.after.size() == (stack == Stack::encoder ? 1U : 3U));
        for (const StageGroup step : {strip.before.front(), strip.after.front(), strip.after.back()}) {
            desk.act(GoTo{step});
            desk.settle();
            REQUIRE(desk.shown().block != nullptr);
            CHECK(desk.shown().block->T() == desk.shown().dims().Tq);
            CHECK(desk.shown().tensor(group_info(step).main) != nullptr);
        }
    }
    // From the decoder's probabilities to the encoder, which has none.
    desk.driver.key(GLFW_KEY_E, GLFW_MOD_ALT);
    desk.settle();
    CHECK(desk.view().group == StageGroup::resid_in);
    CHECK(desk.program.state().error.empty());
    end_recording();
}
