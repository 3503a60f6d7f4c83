#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <algorithm>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr const char* ids_typed = "3 1 4 1 5 9 2 6";

void select(User& user, const CellAddress& cell) {
    const figure::Point at = middle_of(user.program.canvas(), cell);
    user.driver.click(at.x, at.y);
    user.settle();
    REQUIRE(user.view().selected == cell);
}

/// Types over the selected number.
void type_number(User& user, const std::string& number) {
    REQUIRE(user.driver.click_item("##number"));
    user.settle();
    user.driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    user.driver.type(number);
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
}

std::vector<float> logits_of(const User& user) {
    const TensorPtr logits = user.program.state().model.run->logits();
    return {logits->values().begin(), logits->values().end()};
}

/// The logits of a pass of its own.
std::vector<float> logits_with(const std::string& folder, const checkpoint::ModelEdits& edits) {
    const auto model = std::make_shared<const checkpoint::Model>(checkpoint::Model::open(folder));
    checkpoint::ModelInputs inputs;
    inputs.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    inputs.T = 8;
    Progress progress;
    const TensorPtr logits =
        checkpoint::ModelRun::compute(model, inputs, edits, nullptr, {}, progress)->logits();
    return {logits->values().begin(), logits->values().end()};
}

/// Computes the logits with one number of a parameter changed.
std::vector<float> expected_logits(const std::string& folder, std::int64_t n, TensorId weight,
                                   std::int64_t place, float value) {
    const auto model = std::make_shared<const checkpoint::Model>(checkpoint::Model::open(folder));
    checkpoint::ModelEdits edits;
    if (is_table(weight)) {
        const checkpoint::EditedTable table(*model, {}, weight, n);
        const auto in_row = std::ssize(table.row(0));
        auto row =
            std::make_shared<Tensor>(checkpoint::row_shape(table.own().shape()), table.row(place / in_row));
        row->data()[place % in_row] = value;
        edits[n].rows[weight][place / in_row] = row;
    } else {
        const TensorPtr own = checkpoint::editable_weights(*model, n)[weight];
        auto edited = std::make_shared<Tensor>(own->shape(), own->values());
        edited->data()[place] = value;
        edits[n].tensors[weight] = edited;
    }
    return logits_with(folder, edits);
}

/// Without thousands of numbers in the report.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return a == b;
}

struct Edited {
    const char* folder;
    StageGroup page;
    std::int64_t layer; ///< the layer that is open
    CellAddress cell;
    std::int64_t n; ///< attention whose edits hold it
    TensorId weight;
    std::int64_t place;
};

} // namespace

// Fails when edit_model_document files an edit of the final norm under the open layer: check_edits refuses
// it.
TEST_CASE("a number of a norm or of the MLP is selected, typed over, followed everywhere, and undone",
          "[model]") {
    const std::vector<Edited> cases{
        {"gpt2_tiny",
         StageGroup::norm1,
         1,
         {TensorId::norm1_weight, {3, 0, 0, 0}},
         1,
         TensorId::norm1_weight,
         3},
        {"gpt2_tiny",
         StageGroup::norm2,
         0,
         {TensorId::norm2_bias, {30, 0, 0, 0}},
         0,
         TensorId::norm2_bias,
         30},
        {"gpt2_tiny", StageGroup::mlp_out, 0, {TensorId::b_out, {5, 0, 0, 0}}, 0, TensorId::b_out, 5},
        {"gpt2_tiny",
         StageGroup::final_norm,
         0,
         {TensorId::final_norm_weight, {7, 0, 0, 0}},
         1,
         TensorId::final_norm_weight,
         7},
        // Token 5 of the text is 9.
        {"gpt2_tiny", StageGroup::embedding, 1, {TensorId::W_E, {9, 4, 0, 0}}, 0, TensorId::W_E, 9 * 32 + 4},
        {"gpt2_tiny", StageGroup::position, 1, {TensorId::W_P, {5, 8, 0, 0}}, 0, TensorId::W_P, 5 * 32 + 8},
        // Without token types given, every token has type 0.
        {"bert_tiny", StageGroup::embedding, 1, {TensorId::W_type, {0, 8, 0, 0}}, 0, TensorId::W_type, 8},
        {"gemma2_tiny",
         StageGroup::attn_out,
         2,
         {TensorId::norm1_after_weight, {7, 0, 0, 0}},
         2,
         TensorId::norm1_after_weight,
         7},
    };
    for (const Edited& c : cases) {
        INFO(c.folder << " " << tensor_info(c.cell.tensor).name);
        const std::string folder = test_data("/models/") + c.folder;
        User user;
        user.open(folder, ids_typed);
        user.act(GoTo{c.page, 5, c.layer});
        const std::vector<float> before = logits_of(user);
        const checkpoint::RunPartPtr block = user.shown().block;
        select(user, c.cell);
        type_number(user, "1.75");
        REQUIRE(user.program.state().error.empty());
        CHECK(user.shown().value(c.cell) == 1.75F);
        CHECK(same(logits_of(user), expected_logits(folder, c.n, c.weight, c.place, 1.75F)));
        CHECK(user.program.state().document->part()->marks.at(c.n).others == std::vector{c.cell.tensor});
        CHECK(user.program.state().history.size() == 2);
        user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(same(logits_of(user), before));
        CHECK(user.program.state().document->part()->edits.empty());
        CHECK(user.shown().value(c.cell) == block->value(c.cell.tensor, c.cell.at));
        user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
        user.settle();
        CHECK(user.shown().value(c.cell) == 1.75F);
    }
}

TEST_CASE("the weights of the selected unit stand on the MLP's pages and are edited there", "[model]") {
    const std::string folder = test_data("/models/llama_tiny_untied");
    for (const auto& [tensor, weight, first] : {std::tuple{TensorId::W_in, TensorId::W_in, true},
                                                {TensorId::W_gate, TensorId::W_gate, true},
                                                {TensorId::W_out, TensorId::W_out, false}}) {
        INFO(tensor_info(tensor).name);
        User user;
        user.open(folder, ids_typed);
        user.act(GoTo{StageGroup::mlp_act, 5, 0});
        user.act(Select{CellAddress{TensorId::mlp_act, {0, 5, 11, 0}}});
        CHECK(user.shown().unit_words->unit == 11);
        const CellAddress cell{tensor, first ? Index{6, 11, 0, 0} : Index{11, 6, 0, 0}};
        select(user, cell);
        CHECK(current_unit(user.shown(), user.view()) == 11);
        type_number(user, "-2.5");
        REQUIRE(user.program.state().error.empty());
        const std::int64_t place = first ? 6 * 96 + 11 : 11 * 64 + 6;
        CHECK(same(logits_of(user), expected_logits(folder, 0, weight, place, -2.5F)));
        // Enter moved on in the row of the unit.
        CHECK(user.view().selected == CellAddress{tensor, first ? Index{7, 11, 0, 0} : Index{11, 7, 0, 0}});
        // A drag is one step.
        const std::size_t steps = user.program.state().history.size();
        const CellAddress dragged{tensor, first ? Index{9, 11, 0, 0} : Index{11, 9, 0, 0}};
        const figure::Point at = middle_of(user.program.canvas(), dragged);
        const float was = user.shown().value(dragged);
        // The pages of a unit follow a worker: the drag begins once the number is under the mouse.
        user.driver.move(at.x, at.y);
        REQUIRE(user.driver.wait_until([&] { return user.view().hover == dragged; }));
        user.driver.drag(at.x, at.y, at.x + 60, at.y);
        user.settle();
        CHECK(user.shown().value(dragged) == Approx(was + 0.6F).margin(0.02));
        CHECK(user.program.state().history.size() == steps + 1);
    }
}

TEST_CASE("an edit before the attention reaches it, and B − A tells of every page behind it", "[model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    user.act(GoTo{StageGroup::norm1, 5, 1});
    const Trace before = *user.shown().trace;
    user.act(EditCell{{TensorId::norm1_weight, {3, 0, 0, 0}}, 4.0F});
    const auto differ = [](const Tensor& a, const Tensor& b) {
        return !std::ranges::equal(a.values(), b.values());
    };
    CHECK(differ(*user.shown().trace->stage(TensorId::q), *before.stage(TensorId::q)));
    CHECK(differ(*user.shown().trace->stage(TensorId::weights), *before.stage(TensorId::weights)));
    user.act(MarkBaseline{true});
    user.settle();
    user.act(SetCompare{Compare::difference});
    const Comparison& compare = user.program.state().compare;
    CHECK(std::ranges::equal(compare.baseline().trace->stage(TensorId::q)->values(),
                             before.stage(TensorId::q)->values()));
    for (const auto& [page, id, changes] : {std::tuple{StageGroup::resid_in, TensorId::resid_in, false},
                                            {StageGroup::norm1, TensorId::norm1, true},
                                            {StageGroup::mlp_act, TensorId::mlp_act, true},
                                            {StageGroup::resid_out, TensorId::resid_out, true},
                                            {StageGroup::final_norm, TensorId::final_norm, true},
                                            {StageGroup::logits, TensorId::logits, true},
                                            {StageGroup::probabilities, TensorId::probabilities, true}}) {
        INFO(tensor_info(id).name);
        user.act(GoTo{page, 5, 1});
        user.settle();
        REQUIRE(compare.of(id) != nullptr);
        CHECK((compare.of(id)->changed > 0) == changes);
        const std::vector<CellAddress>& largest = compare.difference(page).largest;
        REQUIRE(largest.empty() != changes);
        for (const CellAddress& cell : largest)
            CHECK(compare.change_at(cell) == compare.now().value(cell) - compare.baseline().value(cell));
    }
}

// The row of W_U is that of the token that is selected among the logits. Fails when logits_of reads the
// model's own table.
TEST_CASE("a token's row of W_U is edited below its logit, and of a tied model it is its row of W_E",
          "[model]") {
    for (const auto& [name, n, weight, kept_as] :
         {std::tuple{"llama_tiny_untied", std::int64_t{1}, TensorId::W_U, TensorId::W_U},
          std::tuple{"phi_tiny", std::int64_t{1}, TensorId::W_U, TensorId::W_U},
          std::tuple{"gpt2_tiny", std::int64_t{0}, TensorId::W_E, TensorId::W_E}}) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        User user;
        user.open(folder, ids_typed);
        user.act(GoTo{StageGroup::logits, 5});
        user.act(Select{CellAddress{TensorId::logits, {0, 5, 17, 0}}});
        const std::int64_t D = user.shown().dims().D;
        const CellAddress cell{TensorId::W_U, {17, 6, 0, 0}};
        const float logit = user.shown().value({TensorId::logits, {0, 5, 17, 0}});
        select(user, cell);
        type_number(user, "-2.5");
        REQUIRE(user.program.state().error.empty());
        CHECK(same(logits_of(user), expected_logits(folder, n, weight, 17 * D + 6, -2.5F)));
        CHECK(user.shown().value({TensorId::logits, {0, 5, 17, 0}}) != logit);
        CHECK(user.shown().value(cell) == -2.5F);
        CHECK(user.program.state().document->part()->marks.at(n).others == std::vector{kept_as});
        // Only the row is copied.
        const auto& rows = user.program.state().document->part()->edits.at(n).rows.at(weight);
        CHECK(rows.size() == 1);
        CHECK(rows.at(17)->count() == D);
        if (kept_as == TensorId::W_E)
            CHECK(user.shown().value({TensorId::W_E, {17, 6, 0, 0}}) == -2.5F);
        user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(user.shown().value({TensorId::logits, {0, 5, 17, 0}}) == logit);
        CHECK(user.program.state().document->part()->edits.empty());
    }
}

TEST_CASE("the router's weights stand below a mixture of experts, those of the expert that is chosen",
          "[model]") {
    const std::string folder = test_data("/models/gpt_oss_tiny");
    User user;
    user.open(folder, ids_typed);
    user.act(GoTo{StageGroup::mlp_out, 5, 1});
    const auto shares = [&] { return user.shown().tensor(TensorId::routing)->values(); };
    std::int64_t expert = 0; // that the token uses, not the first of all
    for (std::int64_t e = 1; e < 4; ++e)
        if (shares()[static_cast<std::size_t>(5 * 4 + e)] > 0)
            expert = e;
    user.press("expert " + std::to_string(expert));
    CHECK(user.view().selected == CellAddress{TensorId::W_router, {0, expert, 0, 0}});
    select(user, {TensorId::W_router, {7, expert, 0, 0}});
    type_number(user, "3.5");
    CHECK(same(logits_of(user), expected_logits(folder, 1, TensorId::W_router, 7 * 4 + expert, 3.5F)));
    user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    user.settle();
    select(user, {TensorId::b_router, {expert, 0, 0, 0}});
    type_number(user, "-2.5");
    CHECK(same(logits_of(user), expected_logits(folder, 1, TensorId::b_router, expert, -2.5F)));
}

// Fails when mixture reads layer[experts_in] in place of layer.row(experts_in, expert).
TEST_CASE("the weights of a unit of the chosen expert stand below the router's and are edited there",
          "[model]") {
    const std::string folder = test_data("/models/gpt_oss_tiny");
    User user("first-lesson", "", 1600, 1900); // the page is high
    user.open(folder, ids_typed);
    user.act(GoTo{StageGroup::mlp_out, 5, 1});
    const std::vector<float> before = logits_of(user);
    const auto share = [&](std::int64_t e) { return user.shown().value({TensorId::routing, {0, 5, e, 0}}); };
    std::int64_t e = 1;
    for (const std::int64_t other : {2, 3})
        e = share(other) > share(e) ? other : e;
    REQUIRE(share(e) > 0);
    user.act(Select{CellAddress{TensorId::W_router, {0, e, 0, 0}}});
    user.settle();
    REQUIRE(user.shown().expert != nullptr);
    CHECK(user.shown().expert->expert == e);
    CHECK(user.shown().expert->token == 5);
    const std::vector<float>& adds = user.shown().expert->adds;
    const std::int64_t k = std::ranges::max_element(adds) - adds.begin();
    constexpr std::int64_t D = 40, d_ff = 24;
    for (const auto& [cell, weight, place] :
         {std::tuple{CellAddress{TensorId::expert_W_gate, {e, 7, k, 0}}, TensorId::expert_W_gate,
                     (e * D + 7) * d_ff + k},
          {CellAddress{TensorId::expert_b_gate, {e, k, 0, 0}}, TensorId::expert_b_gate, e * d_ff + k},
          {CellAddress{TensorId::expert_W_in, {e, 7, k, 0}}, TensorId::expert_W_in, (e * D + 7) * d_ff + k},
          {CellAddress{TensorId::expert_b_in, {e, k, 0, 0}}, TensorId::expert_b_in, e * d_ff + k},
          {CellAddress{TensorId::expert_W_out, {e, k, 9, 0}}, TensorId::expert_W_out, (e * d_ff + k) * D + 9},
          {CellAddress{TensorId::expert_b_out, {e, 9, 0, 0}}, TensorId::expert_b_out, e * D + 9}}) {
        INFO(tensor_info(cell.tensor).name);
        const float was = user.shown().value(cell);
        user.act(Select{CellAddress{TensorId::expert_W_out, {e, k, 0, 0}}});
        select(user, cell);
        type_number(user, "1.75");
        REQUIRE(user.program.state().error.empty());
        CHECK(user.shown().value(cell) == 1.75F);
        CHECK(same(logits_of(user), expected_logits(folder, 1, weight, place, 1.75F)));
        CHECK_FALSE(same(logits_of(user), before));
        const RunSpec& part = *user.program.state().document->part();
        CHECK(part.marks.at(1).others == std::vector{cell.tensor});
        // Only what the expert has is copied.
        CHECK(part.edits.at(1).rows.at(weight).size() == 1);
        CHECK(part.edits.at(1).rows.at(weight).contains(e));
        user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(user.shown().value(cell) == was);
        CHECK(same(logits_of(user), before));
        CHECK(user.program.state().document->part()->edits.empty());
    }
    // Another unit of the list, a block of its column, and then B − A.
    const std::int64_t other = k == 3 ? 4 : 3;
    user.act(MarkBaseline{true});
    user.act(Select{CellAddress{TensorId::expert_W_out, {e, other, 0, 0}}});
    user.settle();
    const CellAddress cell{TensorId::expert_W_in, {e, 7, other, 0}},
        next{TensorId::expert_W_in, {e, 8, other, 0}};
    const float was = user.shown().value(cell), next_was = user.shown().value(next);
    user.act(EditBlock{{TensorId::expert_W_in, cell.at, 1, 2}, ScaleBy{2}});
    user.settle();
    CHECK(user.shown().value(cell) == 2 * was);
    CHECK(user.shown().value(next) == 2 * next_was);
    user.act(SetCompare{Compare::difference});
    user.settle();
    REQUIRE(user.program.state().compare.of(TensorId::mlp_out) != nullptr);
    CHECK(user.program.state().compare.of(TensorId::mlp_out)->changed > 0);
    user.act(EditCell{{TensorId::expert_W_in, {4, 0, 0, 0}}, 1});
    CHECK_FALSE(user.program.state().error.empty());
}

TEST_CASE("a block of a table's row is worked on like every block, and taken back by hand it is no edit",
          "[model]") {
    User user;
    user.open(test_data("/models/gpt2_tiny"), ids_typed);
    user.act(GoTo{StageGroup::embedding, 5});
    const CellAddress cell{TensorId::W_E, {9, 4, 0, 0}};
    const float was = user.shown().value(cell), next = user.shown().value({TensorId::W_E, {9, 5, 0, 0}});
    user.act(EditBlock{{TensorId::W_E, {9, 4, 0, 0}, 1, 2}, ScaleBy{2}});
    CHECK(user.shown().value(cell) == 2 * was);
    CHECK(user.shown().value({TensorId::W_E, {9, 5, 0, 0}}) == 2 * next);
    user.act(EditCell{cell, was});
    user.act(EditCell{{TensorId::W_E, {9, 5, 0, 0}}, next});
    CHECK(user.program.state().document->part()->edits.empty());
    CHECK(user.program.state().document->part()->marks.empty());
    user.act(EditBlock{{TensorId::W_E, {9, 4, 0, 0}, 2, 2}, Zero{}});
    CHECK(user.program.state().error == "one row of W_E is changed at a time; select numbers of one row");
}

// Fails when the note of mlp() gets a copy, and when with_activation keeps the patch that it replaces.
TEST_CASE("the point on the activation curve is dragged, what comes after follows, and a double click takes "
          "it back",
          "[model]") {
    for (const char* const name : {"gpt2_tiny", "llama_tiny_untied"}) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        User user;
        user.open(folder, ids_typed);
        const CellAddress act{TensorId::mlp_act, {0, 5, 11, 0}};
        user.act(GoTo{StageGroup::mlp_act, 5, 0});
        user.act(Select{act});
        const std::vector<float> before = logits_of(user);
        const float computed = user.shown().value(act);
        const auto point = [&] {
            for (const MatrixGrid& grid : user.program.canvas().grids)
                if (grid.change_per_pixel != 0)
                    return figure::Point{grid.area.x + grid.area.w / 2, grid.area.y + grid.area.h / 2};
            FAIL("there is no point to drag");
            return figure::Point{};
        };
        const figure::Point at = point();
        const std::size_t steps = user.program.state().history.size();
        user.driver.move(at.x, at.y);
        REQUIRE(user.driver.wait_until([&] { return user.view().hover == act; }));
        user.driver.drag(at.x, at.y, at.x, at.y - 30);
        user.settle();
        const float set = user.shown().value(act);
        CHECK(set != computed);
        CHECK(user.shown().block->is_set(TensorId::mlp_act, act.at));
        CHECK(user.program.state().history.size() == steps + 1);
        checkpoint::ModelEdits edits;
        edits[0].patched = {{.at = TensorId::mlp_act,
                             .first = 5,
                             .rows = std::make_shared<const Tensor>(Shape{1, 1}, set),
                             .column = 11}};
        CHECK(same(logits_of(user), logits_with(folder, edits)));
        CHECK_FALSE(same(logits_of(user), before));
        // The rows of other tokens and units stay, and mlp_out changes by the row of W_out alone.
        const checkpoint::RunPart& block = *user.shown().block;
        const Tensor& acts = *block.find(TensorId::mlp_act);
        for (std::int64_t i = 0; i < acts.count(); ++i) {
            const double of_layer = block.explain(block.node(TensorId::mlp_act), acts.shape().index(i)).total;
            CHECK((static_cast<double>(acts.data()[i]) == Approx(of_layer).margin(1e-5)) ==
                  (i != 5 * acts.shape().back(0) + 11));
        }
        type_number(user, "1.5");
        CHECK(user.shown().value(act) == 1.5F);
        CHECK(user.program.state().document->part()->edits.at(0).patched.size() == 1);
        user.act(Select{act});
        const figure::Point now = point();
        user.driver.double_click(now.x, now.y);
        user.settle();
        CHECK(user.shown().value(act) == computed);
        CHECK(same(logits_of(user), before));
        CHECK(user.program.state().document->part()->edits.empty());
        user.driver.key(GLFW_KEY_Z, GLFW_MOD_CONTROL);
        user.settle();
        CHECK(user.shown().value(act) == 1.5F);
        // It belongs to the text.
        user.act(TypePrompt{"3 1 4"});
        user.settle();
        CHECK(user.program.state().document->part()->edits.empty());
    }
}
