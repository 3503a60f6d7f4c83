#include "app/commands/command.h"
#include "app/commands/notice.h"
#include "core/base/error.h"
#include "core/engine/engine.h"
#include "core/text/random_numbers.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::app;

namespace {

TensorPtr drawn(text::RandomNumbers& numbers, const Shape& shape) {
    auto tensor = std::make_shared<Tensor>(shape);
    std::ranges::generate(tensor->values(), [&] { return numbers.uniform(); });
    return tensor;
}

/// Four query heads with biases, of widths that differ for keys and values.
DocumentPtr four_heads(std::int64_t Hkv) {
    text::RandomNumbers numbers(11);
    Problem p;
    p.dims = {1, 5, 5, 6, 6, 4, Hkv, 3, 2};
    p.x = drawn(numbers, {1, 5, 6});
    p.weights = {drawn(numbers, {6, 12}),   drawn(numbers, {6, Hkv * 3}), drawn(numbers, {6, Hkv * 2}),
                 drawn(numbers, {8, 6}),    drawn(numbers, {12}),         drawn(numbers, {Hkv * 3}),
                 drawn(numbers, {Hkv * 2}), drawn(numbers, {6})};
    project::Recipe recipe;
    recipe.base = std::make_shared<const Problem>(p);
    return make_document(recipe, 1);
}

Trace document_trace(const DocumentPtr& document) {
    const auto engine = engine::make_engine("cpu");
    return static_cast<engine::Engine&>(*engine).run(document->problem);
}

float contribution(const Trace& trace, std::int64_t h) {
    return trace.stage(TensorId::contributions)->at(0, h, 3, 2);
}

float largest_difference(const Tensor& a, const Tensor& b) {
    float largest = 0;
    for (std::size_t i = 0; i < a.values().size(); ++i)
        largest = std::max(largest, std::abs(a.values()[i] - b.values()[i]));
    return largest;
}

} // namespace

TEST_CASE("swapped heads change places and the output stays, gains included") {
    DocumentPtr document = app::apply(four_heads(4), SetGain{1, 0.5F});
    const Trace before = document_trace(document);
    document = app::apply(document, SwapHeads{1, 3});
    const Trace after = document_trace(document);
    CHECK(document->problem.gain(3) == 0.5F);
    CHECK(document->problem.gain(1) == 1.0F);
    CHECK(contribution(after, 3) == contribution(before, 1));
    CHECK(contribution(after, 1) == contribution(before, 3));
    CHECK(contribution(after, 0) == contribution(before, 0));
    CHECK(largest_difference(*after.stage(TensorId::output), *before.stage(TensorId::output)) < 1e-5F);
    const DocumentPtr twice = app::apply(document, SwapHeads{3, 1});
    CHECK(std::ranges::equal(twice->problem.weights.W_V->values(),
                             four_heads(4)->problem.weights.W_V->values()));
}

TEST_CASE("a copied head does what the other does") {
    const DocumentPtr document = app::apply(four_heads(4), CopyHead{2, 0});
    const Trace trace = document_trace(document);
    for (const TensorId id : {TensorId::weights, TensorId::head_out, TensorId::contributions}) {
        const Tensor& stage = *trace.stage(id);
        const auto per_head = static_cast<std::size_t>(stage.count() / 4);
        CHECK(std::ranges::equal(stage.values().subspan(0, per_head),
                                 stage.values().subspan(2 * per_head, per_head)));
    }
}

TEST_CASE("heads that share keys and values keep them; others that change along are named") {
    const DocumentPtr document = four_heads(2);
    const auto notice_after = [&](const Command& command) {
        return notice_of(*document, command, *app::apply(document, command));
    };
    const DocumentPtr within = app::apply(document, CopyHead{0, 1});
    CHECK(within->problem.weights.W_K == document->problem.weights.W_K);
    CHECK(within->problem.weights.W_V == document->problem.weights.W_V);
    CHECK(within->problem.weights.W_Q != document->problem.weights.W_Q);
    CHECK_THAT(notice_after(CopyHead{0, 1}), Catch::Contains("read the same keys and values"));
    CHECK(name_of(*document, CopyHead{0, 1}).detail == "K, V shared: kept");
    const DocumentPtr across = app::apply(document, CopyHead{0, 2});
    CHECK(across->problem.weights.W_K->at(1, 4) == document->problem.weights.W_K->at(1, 1));
    CHECK_THAT(notice_after(CopyHead{0, 2}), Catch::Contains("W_K and W_V of 3 also changed"));
    CHECK_THAT(notice_after(SwapHeads{0, 2}), Catch::Contains("W_K and W_V of 1, 3 also changed"));
}

TEST_CASE("a head that was reset has its own weights again, the others keep their edits") {
    const DocumentPtr built = four_heads(4);
    DocumentPtr document = app::apply(built, EditBlock{{TensorId::W_Q, {}, 6, 12}, Zero{}});
    document = app::apply(document, SetGain{2, 0});
    document = app::apply(document, ResetHead{2});
    CHECK(document->problem.gain(2) == 1);
    CHECK(document->problem.weights.W_Q->at(3, 7) == built->problem.weights.W_Q->at(3, 7));
    CHECK(document->problem.weights.W_Q->at(3, 5) == 0);
    CHECK_THROWS_WITH(app::apply(document, ResetHead{4}), Catch::Contains("there is no head 4"));
    CHECK_THROWS_WITH(app::apply(document, CopyHead{1, 1}), Catch::Contains("two different heads"));
    CHECK_THROWS_WITH(app::apply(document, SwapHeads{0, -1}), Catch::Contains("there is no head -1"));
}

TEST_CASE("H and Hkv say what they did to the weights and to edits") {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    DocumentPtr document = make_document(recipe, 1);
    document = app::apply(document, EditCell{{TensorId::W_K, {0, 0, 0, 0}}, 5});
    document = app::apply(document, SetGain{0, 0.5F});
    const auto notice_after = [&](const Command& command) {
        return notice_of(*document, command, *app::apply(document, command));
    };
    CHECK_THAT(notice_after(SetHeads{4}),
               Catch::Contains("now form 4 heads of width 2 instead of 2 heads of width 4"));
    CHECK_THAT(notice_after(SetHeads{4}), Catch::Contains("All head gains are 1 again"));
    CHECK_THAT(notice_after(SetKvHeads{1}), Catch::Contains("averaged into one"));
    CHECK_THAT(notice_after(SetKvHeads{1}), Catch::Contains("Your edits of W_K"));
    CHECK(notice_after(SetGain{0, 1}).empty());
    // The edit waits and comes back.
    const DocumentPtr shared = app::apply(document, SetKvHeads{1});
    CHECK(shared->problem.weights.W_K->at(0, 0) != 5);
    CHECK(app::apply(shared, SetKvHeads{2})->problem.weights.W_K->at(0, 0) == 5);
}

TEST_CASE("the mask is painted in both directions, for one head or all, and reset") {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    recipe.mask = project::MaskChoice::causal;
    const DocumentPtr chosen = make_document(recipe, 1);
    const auto weight = [](const DocumentPtr& document, std::int64_t h, std::int64_t i, std::int64_t j) {
        return document_trace(document).stage(TensorId::weights)->at(0, h, i, j);
    };
    CHECK(weight(chosen, 0, 1, 3) == 0);
    DocumentPtr document = app::apply(chosen, PaintMask{0, 0, 1, 3, true});
    CHECK(weight(document, 0, 1, 3) > 0);
    CHECK(weight(document, 1, 1, 3) == 0);
    CHECK(weight(document, 0, 0, 1) == 0);
    document = app::apply(document, PaintMask{0, -1, 2, 0, false});
    CHECK(weight(document, 0, 2, 0) == 0);
    CHECK(weight(document, 1, 2, 0) == 0);
    CHECK(weight(document, 0, 1, 3) > 0);
    CHECK(chosen->problem.weights.W_Q == document->problem.weights.W_Q);
    const DocumentPtr reset = app::apply(document, ResetMask{});
    CHECK(weight(reset, 0, 1, 3) == 0);
    CHECK(weight(reset, 0, 2, 0) > 0);
    CHECK(app::apply(document, SetMask{project::MaskChoice::none})->problem.mask.empty());
    CHECK_THROWS_WITH(app::apply(document, PaintMask{0, 0, 4, 0, true}), Catch::Contains("[4, 0]"));
    CHECK_THROWS_WITH(app::apply(document, PaintMask{0, 2, 0, 0, true}), Catch::Contains("no head 2"));
    // Another length: the painting waits, and says so.
    const Command longer = SetSentence{"The cat sat down again"};
    const DocumentPtr other = app::apply(document, longer);
    CHECK_THAT(notice_of(*document, longer, *other), Catch::Contains("painted mask returns"));
    CHECK(weight(other, 0, 1, 3) == 0);
    CHECK(weight(app::apply(other, SetSentence{"The cat sat down"}), 0, 1, 3) > 0);
}

TEST_CASE("painting can allow what an additive mask forbids, and keeps its other numbers") {
    Problem p = four_heads(4)->problem;
    Tensor add(Shape{5, 5}, 0.25F);
    add.at(0, 1) = -INFINITY;
    p.mask = {AdditiveMask{std::make_shared<const Tensor>(std::move(add))}};
    project::Recipe recipe;
    recipe.base = std::make_shared<const Problem>(p);
    DocumentPtr document = make_document(recipe, 1);
    CHECK(document_trace(document).stage(TensorId::weights)->at(0, 0, 0, 1) == 0);
    document = app::apply(document, PaintMask{0, 0, 0, 1, true});
    const Trace trace = document_trace(document);
    CHECK(trace.stage(TensorId::weights)->at(0, 0, 0, 1) > 0);
    CHECK(trace.stage(TensorId::weights)->at(0, 1, 0, 1) == 0);
    CHECK(trace.stage(TensorId::masked)->at(0, 2, 3, 3) ==
          trace.stage(TensorId::scaled)->at(0, 2, 3, 3) + 0.25F);
}
