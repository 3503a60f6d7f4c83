#include "app/commands/command.h"
#include "app/commands/history.h"
#include "core/base/error.h"
#include "tests/catch.h"

#include <cstring>
#include <rapidcheck.h>

using namespace headscope;
using namespace headscope::app;

namespace {

/// Every number that decides the run, as bytes.
std::string bits(const Problem& problem) {
    std::string out = problem.x->shape().text();
    const Weights& w = problem.weights;
    for (const TensorPtr& tensor : {problem.x, problem.x_kv, w.W_Q, w.W_K, w.W_V, w.W_O})
        if (tensor != nullptr)
            out.append(reinterpret_cast<const char*>(tensor->data()),
                       static_cast<std::size_t>(tensor->count()) * sizeof(float));
    for (const float gain : problem.gains)
        out += std::to_string(gain) + " ";
    out += std::to_string(problem.temperature) + " " + std::to_string(problem.dims.H) + " " +
           std::to_string(problem.dims.Hkv);
    const MaskRows mask(problem.mask, problem.dims);
    for (std::int64_t h = 0; h < problem.dims.H; ++h)
        for (std::int64_t i = 0; i < problem.dims.Tq; ++i)
            for (std::int64_t j = 0; j < problem.dims.Tk; ++j)
                out += mask.allows(0, h, i, j) ? '1' : '0';
    return out;
}

rc::Gen<std::int64_t> small() {
    return rc::gen::inRange<std::int64_t>(-1, 9);
}

/// Any command, sensible or not.
Command any_command() {
    const auto number = [] { return static_cast<float>(*rc::gen::inRange(-400, 400)) / 100; };
    const auto tensor = *rc::gen::element(TensorId::x, TensorId::x_kv, TensorId::W_Q, TensorId::W_K,
                                          TensorId::W_V, TensorId::W_O, TensorId::b_Q, TensorId::output);
    const CellAddress cell{tensor, {*small(), *small(), *small(), 0}};
    const Block block{tensor, cell.at, *small(), *small()};
    const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(0, 5));
    switch (*rc::gen::inRange(0, 20)) {
    case 0:
        return EditBlock{block, SetTo{number()}};
    case 1:
        return EditBlock{block, ScaleBy{number()}};
    case 2:
        return EditBlock{block, Zero{}};
    case 3:
        return EditBlock{block, AddNoise{number(), seed}};
    case 4:
        return EditBlock{block, Randomize{app::Distribution::xavier_uniform, 1, seed}};
    case 5:
        return EditBlock{block, Randomize{app::Distribution::normal, number(), seed}};
    case 6:
        return EditBlock{block, MakeIdentity{}};
    case 7:
        return PasteBlock{cell, {2, 2, {number(), number(), number(), number()}}};
    case 8:
        return CopyHead{*small(), *small()};
    case 9:
        return SwapHeads{*small(), *small()};
    case 10:
        return ResetHead{*small()};
    case 11:
        return PaintMask{0, *small(), *small(), *small(), *rc::gen::arbitrary<bool>()};
    case 12:
        return ResetMask{};
    case 13:
        return SetHeads{*small()};
    case 14:
        return SetKvHeads{*small()};
    case 15:
        return SetGain{*small(), number()};
    case 16:
        return SetTemperature{number()};
    case 17:
        return SetKvSentence{*rc::gen::element<std::string>("A dog ran", "", "Le chat")};
    case 18:
        return SetKvSentence{};
    default:
        return EditCell{cell, number()};
    }
}

} // namespace

TEST_CASE("after any commands, undo leads through every state back to the first bit for bit") {
    const bool held = rc::check([] {
        project::Recipe recipe;
        recipe.sentence = "The cat sat down";
        DocumentPtr document = make_document(recipe, 1);
        History history(document);
        std::vector<std::string> model{bits(document->problem)};
        const int steps = *rc::gen::inRange(1, 25);
        for (int step = 1; step <= steps; ++step) {
            const Command command = any_command();
            try {
                CommandName name = name_of(*document, command);
                DocumentPtr next = app::apply(document, command);
                history.push({next, name.label, name.detail, change_of(*document, command),
                              static_cast<std::uint64_t>(step)});
                document = next;
                model.push_back(bits(document->problem));
            } catch (const Error& fault) {
                RC_ASSERT(fault.kind() == ErrorKind::input);
            }
            // Neither a command nor a refusal touches the state that was.
            RC_ASSERT(bits(history.states().front().document->problem) == model.front());
        }
        RC_ASSERT(history.states().size() == model.size());
        for (std::size_t i = model.size(); i-- > 0;) {
            RC_ASSERT(bits(history.states()[history.position()].document->problem) == model[i]);
            history.move(-1);
        }
        for (std::size_t i = 0; i < model.size(); ++i) {
            RC_ASSERT(bits(history.states()[history.position()].document->problem) == model[i]);
            history.move(1);
        }
    });
    CHECK(held);
}

TEST_CASE("ten thousand edits of a large matrix stay within the byte budget") {
    Problem problem;
    problem.dims = {1, 2, 2, 128, 128, 8, 8, 16, 16};
    problem.x = std::make_shared<const Tensor>(Shape{1, 2, 128}, 1.0F);
    const auto matrix = std::make_shared<const Tensor>(Shape{128, 128}, 0.5F);
    problem.weights = {matrix, matrix, matrix, matrix, nullptr, nullptr, nullptr, nullptr};
    project::Recipe recipe;
    recipe.base = std::make_shared<const Problem>(problem);
    DocumentPtr document = make_document(recipe, 1);
    constexpr std::size_t one = 128 * 128 * sizeof(float);
    struct Kept {
        std::size_t budget, least, most; ///< in states
    };
    // A quarter of the budget, the steps that are always kept, and all of a budget that is less than those.
    for (const Kept& kept :
         {Kept{256, 48, 64}, Kept{40, History::min_undo_steps, History::min_undo_steps + 1}, Kept{8, 5, 8}}) {
        History history(document, kept.budget * one);
        std::size_t most = 0;
        for (std::uint64_t step = 1; step <= 3'000; ++step) {
            document =
                app::apply(document, EditCell{{TensorId::W_O, {3, 4, 0, 0}}, static_cast<float>(step)});
            history.push({document, "edit", {}, {}, step});
            most = std::max(most, history.bytes());
        }
        INFO(kept.budget);
        CHECK(most <= (kept.budget + 2) * one);
        CHECK(history.states().size() >= kept.least);
        CHECK(history.states().size() <= kept.most);
    }
}

TEST_CASE("ten thousand edits of the lesson are undone to the first state bit for bit") {
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    DocumentPtr document = make_document(recipe, 1);
    const std::string first = bits(document->problem);
    History history(document);
    for (std::uint64_t step = 1; step <= 10'000; ++step) {
        const auto at = static_cast<std::int64_t>(step % 8);
        document = app::apply(
            document, EditCell{{TensorId::W_O, {at, 7 - at, 0, 0}}, 0.001F * static_cast<float>(step)});
        history.push({document, "edit", {}, {}, step});
    }
    CHECK(history.states().size() == 10'001);
    CHECK(bits(history.move(-10'000)->problem) == first);
    CHECK(bits(history.move(10'000)->problem) == bits(document->problem));
}
