#include "app/commands/command.h"
#include "app/commands/history.h"
#include "core/base/error.h"
#include "core/project/same_bits.h"
#include "tests/app/support/documents.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace headscope;
using namespace headscope::app;
using headscope::test::first_lesson;

namespace {

CellAddress W_O_cell(std::int64_t row, std::int64_t col) {
    return {TensorId::W_O, {row, col, 0, 0}};
}

void check_refused(const std::string& text, const char* names) {
    try {
        parse_edit({W_O_cell(0, 0), text});
        FAIL("\"" << text << "\" was taken for a number");
    } catch (const Error& fault) {
        CHECK(fault.kind() == ErrorKind::input);
        CHECK_THAT(fault.what(), Catch::Contains(names));
    }
}

} // namespace

TEST_CASE("an edit changes one number and shares every other tensor") {
    const DocumentPtr before = first_lesson();
    const DocumentPtr after = app::apply(before, EditCell{W_O_cell(5, 1), 1.7F});
    CHECK(after->problem.weights.W_O->at(5, 1) == 1.7F);
    CHECK(after->problem.weights.W_Q == before->problem.weights.W_Q);
    CHECK(after->problem.x == before->problem.x);
    CHECK(before->problem.weights.W_O->at(5, 1) != 1.7F);
    const auto differing = [&] {
        const auto a = before->problem.weights.W_O->values(), b = after->problem.weights.W_O->values();
        return std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::not_equal_to<>());
    }();
    CHECK(differing == 1);
    CHECK(is_edited(*after, TensorId::W_O, 5 * 8 + 1));
    CHECK_FALSE(is_edited(*after, TensorId::W_O, 0));
    CHECK_FALSE(is_edited(*before, TensorId::W_O, 5 * 8 + 1));
}

TEST_CASE("a sentence typed over a problem from a file is shown with the preset") {
    project::Recipe recipe = first_lesson()->recipe;
    recipe.base = std::make_shared<const Problem>(first_lesson()->problem);
    const DocumentPtr after = app::apply(make_document(recipe, 1), SetSentence{"A dog"});
    CHECK(after->problem.tokens == std::vector<std::string>{"A", "dog"});
}

TEST_CASE("weights that were edited stay for another sentence; an edited x does not") {
    DocumentPtr document = app::apply(first_lesson(), EditCell{W_O_cell(0, 0), 9});
    document = app::apply(document, EditCell{{TensorId::x, {0, 1, 2, 0}}, 7});
    CHECK(document->problem.x->at(0, 1, 2) == 7);
    document = app::apply(document, SetSentence{"A dog ran home"});
    CHECK(document->problem.weights.W_O->at(0, 0) == 9);
    CHECK(document->problem.x->at(0, 1, 2) != 7);
    document = app::apply(document, ResetEdits{});
    CHECK(document->problem.weights.W_O->values()[0] == first_lesson()->problem.weights.W_O->values()[0]);
}

TEST_CASE("W_O as identity hides its edits and gives them back") {
    DocumentPtr document = app::apply(first_lesson(), EditCell{W_O_cell(0, 1), 3});
    document = app::apply(document, SetIdentityOutput{true});
    CHECK(document->problem.weights.W_O->at(0, 1) == 0);
    CHECK(document->problem.weights.W_O->at(1, 1) == 1);
    document = app::apply(document, SetIdentityOutput{false});
    CHECK(document->problem.weights.W_O->at(0, 1) == 3);
}

TEST_CASE("numbers that are brought back by hand leave no edit") {
    const DocumentPtr built = first_lesson();
    const auto unchanged = [&](const DocumentPtr& document) {
        return project::same_bits(document->recipe, built->recipe);
    };
    const float own = built->problem.weights.W_O->at(0, 1);
    CHECK(unchanged(app::apply(built, EditCell{W_O_cell(0, 1), own})));
    const DocumentPtr edited = app::apply(built, EditCell{W_O_cell(0, 1), own + 1});
    CHECK_FALSE(unchanged(edited));
    CHECK(unchanged(app::apply(edited, EditCell{W_O_cell(0, 1), own})));
    CHECK(unchanged(app::apply(edited, ResetHead{0})));
    CHECK(unchanged(app::apply(app::apply(built, SetGain{1, 0.25F}), SetGain{1, 1})));

    DocumentPtr identity = app::apply(edited, SetIdentityOutput{true});
    identity = app::apply(identity, EditCell{W_O_cell(0, 1), 0}); // with its current number
    CHECK(identity->recipe.identity_W_O);
    CHECK(app::apply(identity, SetIdentityOutput{false})->problem.weights.W_O->at(0, 1) == own + 1);
}

TEST_CASE("gains and temperature reach the problem; a head that does not exist is refused") {
    DocumentPtr document = app::apply(first_lesson(), SetGain{1, 0.25F});
    document = app::apply(document, SetTemperature{2});
    CHECK(document->problem.gain(0) == 1);
    CHECK(document->problem.gain(1) == 0.25F);
    CHECK(document->problem.temperature == 2);
    CHECK_THROWS_AS(app::apply(document, SetGain{2, 1}), Error);
    CHECK_THROWS_AS(app::apply(document, SetTemperature{0}), Error);
    CHECK_THROWS_AS(app::apply(document, EditCell{W_O_cell(0, 0), NAN}), Error);
    CHECK_THROWS_AS(app::apply(document, EditCell{{TensorId::weights, {0, 0, 0, 0}}, 1}), Error);
}

TEST_CASE("typed numbers") {
    CHECK(parse_edit({W_O_cell(0, 0), " 1.5 "}).value == 1.5F);
    CHECK(parse_edit({W_O_cell(0, 0), "−2"}).value == -2.0F);
    CHECK(parse_edit({W_O_cell(0, 0), "+1e-3"}).value == 1e-3F);
    check_refused("abc", "“abc” is not a number");
    check_refused("", "is not a number");
    check_refused("1.5x", "“1.5x” is not a number");
    check_refused("1e999", "float32's range");
    check_refused("nan", "range");
    check_refused("inf", "range");
}

TEST_CASE("one gesture is one step, and its detail tells where it began and ended") {
    DocumentPtr document = first_lesson();
    History history(document);
    for (const float value : {1.0F, 1.5F, 1.7F}) {
        const Command command = EditCell{W_O_cell(5, 1), value};
        CommandName name = name_of(*document, command);
        const ChangeId change = change_of(*document, command);
        document = app::apply(document, command);
        history.push({document, name.label, name.detail, change, 7});
    }
    REQUIRE(history.states().size() == 2);
    CHECK(history.states()[1].label == "edit W_O[5, 1]");
    CHECK(history.states()[1].detail == "0.70 → 1.70");
    CHECK(history.move(-1)->problem.weights.W_O->at(5, 1) == first_lesson()->problem.weights.W_O->at(5, 1));
    CHECK(history.position() + 1 < history.states().size());
    CHECK(history.move(1)->problem.weights.W_O->at(5, 1) == 1.7F);
}

TEST_CASE("undo and redo follow a list of values, whatever is done in whatever order") {
    std::mt19937 random(20261121);
    DocumentPtr document = first_lesson();
    History history(document);
    std::vector<float> model{document->problem.weights.W_O->at(2, 3)};
    std::size_t position = 0;
    for (std::uint64_t step = 1; step <= 3000; ++step) {
        const auto action = random() % 5;
        if (action < 3) {
            const float value = static_cast<float>(random() % 1000) / 100;
            const Command command = EditCell{W_O_cell(2, 3), value};
            CommandName name = name_of(*document, command);
            const ChangeId change = change_of(*document, command);
            document = app::apply(document, command);
            history.push({document, name.label, name.detail, change, step});
            model.resize(position + 1);
            model.push_back(value);
            ++position;
        } else {
            const bool back = action == 3;
            document = history.move(back ? -1 : 1);
            if (back && position > 0)
                --position;
            if (!back && position + 1 < model.size())
                ++position;
        }
        REQUIRE(document->problem.weights.W_O->at(2, 3) == model[position]);
    }
}

TEST_CASE("history keeps its byte budget and never loses the current state") {
    DocumentPtr document = first_lesson();
    constexpr std::size_t budget = 64 * 1024;
    History history(document, budget);
    for (std::uint64_t step = 1; step <= 10000; ++step) {
        document = app::apply(document, EditCell{W_O_cell(0, 0), static_cast<float>(step)});
        history.push({document, "edit W_O[0, 0]", {}, {}, step});
    }
    // It is kept within the budget at every 64th state; one state of the lesson adds 256 bytes.
    CHECK(history.bytes() <= budget + 64 * 256);
    CHECK(history.states()[history.position()].document->problem.weights.W_O->at(0, 0) == 10000);
    CHECK(history.states().size() > 40); // of 64 in the quarter that is kept of small ones
}
