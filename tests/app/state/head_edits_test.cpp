#include "app/state/head_edits.h"

#include "app/commands/command.h"
#include "app/state/document.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace headscope;
using namespace headscope::app;

namespace {

LayerMarks marks_after(const Problem& unedited, TensorId tensor, Index at, float by) {
    Problem now = unedited;
    const Tensor& before = *now.input(tensor);
    auto edited = std::make_shared<Tensor>(before.shape());
    std::ranges::copy(before.values(), edited->values().begin());
    edited->data()[edited->shape().offset(at)] += by;
    *now.input_slot(tensor) = edited;
    return marks_of(now, unedited);
}

/// Returns the heads that are marked for that tensor, and checks that marks name no other heads.
std::set<std::int64_t> marked(const LayerMarks& marks, TensorId tensor) {
    std::set<std::int64_t> heads;
    for (std::size_t h = 0; h < marks.heads.size(); ++h) {
        CHECK(marks.heads[h].gain == 1.0F);
        if (marks.heads[h].any()) {
            CHECK(marks.heads[h].tensors == std::vector<TensorId>{tensor});
            heads.insert(static_cast<std::int64_t>(h));
        }
    }
    return heads;
}

Problem with_shared_keys() {
    Problem problem;
    problem.dims = {.B = 1, .Tq = 2, .Tk = 2, .D = 6, .Dkv = 6, .H = 4, .Hkv = 2, .dk = 3, .dv = 2};
    const auto zeros = [](const Shape& shape) { return std::make_shared<const Tensor>(shape, 0.0F); };
    problem.x = zeros(Shape{1, 2, 6});
    problem.weights.W_Q = zeros(Shape{6, 12});
    problem.weights.W_K = zeros(Shape{6, 6});
    problem.weights.W_V = zeros(Shape{6, 4});
    problem.weights.W_O = zeros(Shape{8, 6});
    problem.weights.b_V = zeros(Shape{4});
    problem.weights.b_O = zeros(Shape{6});
    return problem;
}

} // namespace

TEST_CASE("an edited number marks the heads that it belongs to") {
    using Heads = std::set<std::int64_t>;
    const Problem problem = with_shared_keys();
    CHECK(marked(marks_after(problem, TensorId::W_Q, {5, 8, 0, 0}, 1), TensorId::W_Q) == Heads{2});
    CHECK(marked(marks_after(problem, TensorId::W_O, {7, 0, 0, 0}, 1), TensorId::W_O) == Heads{3});
    CHECK(marked(marks_after(problem, TensorId::W_O, {0, 5, 0, 0}, 1), TensorId::W_O) == Heads{0});
    // Two query heads read each key/value head.
    CHECK(marked(marks_after(problem, TensorId::W_K, {0, 3, 0, 0}, 1), TensorId::W_K) == Heads{2, 3});
    CHECK(marked(marks_after(problem, TensorId::W_V, {1, 1, 0, 0}, 1), TensorId::W_V) == Heads{0, 1});
    CHECK(marked(marks_after(problem, TensorId::b_V, {2, 0, 0, 0}, 1), TensorId::b_V) == Heads{2, 3});

    SECTION("one that was set to what it was is no edit") {
        CHECK(marked(marks_after(problem, TensorId::W_Q, {5, 8, 0, 0}, 0), TensorId::W_Q).empty());
    }
    SECTION("the bias of the output is no head's") {
        const LayerMarks marks = marks_after(problem, TensorId::b_O, {4, 0, 0, 0}, 1);
        CHECK(marks.others == std::vector{TensorId::b_O});
        CHECK(marked(marks, TensorId::b_O).empty());
        CHECK(marks_after(problem, TensorId::W_Q, {0, 0, 0, 0}, 1).others.empty());
    }
    SECTION("gains") {
        Problem now = problem;
        now.gains = {1, 0, 0.5F, 1};
        const LayerMarks marks = marks_of(now, problem);
        CHECK_FALSE(marks.heads[0].any());
        CHECK((marks.heads[1].ablated() && !marks.heads[1].scaled()));
        CHECK((marks.heads[2].scaled() && !marks.heads[2].ablated()));
    }
}
