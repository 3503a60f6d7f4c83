#include "core/attention/regroup.h"
#include "core/engine/cpu/cpu_engine.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>
#include <rapidcheck/catch.h>

using namespace headscope;
using namespace headscope::engine;

namespace {

enum class Masks { none, any };

/// A small problem; RapidCheck draws the sizes and the seed of the numbers.
Problem any_problem(Masks masks = Masks::any) {
    Dims d;
    d.B = *rc::gen::inRange<std::int64_t>(1, 4);
    d.Tq = *rc::gen::inRange<std::int64_t>(1, 9);
    d.Tk = *rc::gen::inRange<std::int64_t>(1, 9);
    d.D = *rc::gen::inRange<std::int64_t>(1, 10);
    d.Dkv = *rc::gen::inRange<std::int64_t>(1, 10);
    d.Hkv = *rc::gen::inRange<std::int64_t>(1, 4);
    d.H = d.Hkv * *rc::gen::inRange<std::int64_t>(1, 4);
    d.dk = *rc::gen::inRange<std::int64_t>(1, 5);
    d.dv = *rc::gen::inRange<std::int64_t>(1, 5);
    Numbers numbers(*rc::gen::arbitrary<std::uint64_t>());
    const Features features{.biases = *rc::gen::arbitrary<bool>(), .gains = *rc::gen::arbitrary<bool>()};
    Problem problem = generate(d, features, numbers, true);
    if (masks == Masks::any)
        for (const int kind : *rc::gen::container<std::vector<int>>(2, rc::gen::inRange(0, rule_kinds)))
            problem.mask.push_back(generate_rule(kind, d, numbers));
    return problem;
}

Trace cpu_trace(const Problem& problem, int threads = 1) {
    return cpu::CpuEngine(threads).run(problem);
}

/// `part` of every axis-0 slice [first, first + count) of a tensor.
TensorPtr slice(const TensorPtr& tensor, std::int64_t first, std::int64_t count) {
    const Shape& s = tensor->shape();
    const std::int64_t size = tensor->count() / s[0];
    const Shape shape = s.rank() == 3 ? Shape{count, s[1], s[2]} : Shape{count, s[1], s[2], s[3]};
    return make_tensor(shape, tensor->values().subspan(static_cast<std::size_t>(first * size),
                                                       static_cast<std::size_t>(count * size)));
}

/// The rule with its tensors cut down to what batch entry b sees, as (H, Tq, Tk) of one entry.
Mask mask_of_entry(const Problem& problem, std::int64_t b) {
    const Dims& d = problem.dims;
    const MaskRows rows(problem.mask, d);
    BoolTensor allowed{{1, d.H, d.Tq, d.Tk}, {}};
    Tensor add({1, d.H, d.Tq, d.Tk}, 0.0F);
    for (std::int64_t h = 0; h < d.H; ++h)
        for (std::int64_t i = 0; i < d.Tq; ++i)
            for (std::int64_t j = 0; j < d.Tk; ++j) {
                allowed.values.push_back(rows.allows(b, h, i, j) ? 1 : 0);
                if (const MaskRow row = rows.row(b, h, i); row.add != nullptr)
                    add.at(0, h, i, j) = row.add[j];
            }
    return {ExplicitMask{std::make_shared<const BoolTensor>(std::move(allowed))},
            AdditiveMask{std::make_shared<const Tensor>(std::move(add))}};
}

/// Repeats each block of `width` columns `group` times. A bias is a tensor of one row.
TensorPtr repeat_blocks(const TensorPtr& tensor, std::int64_t width, std::int64_t group) {
    if (tensor == nullptr)
        return nullptr;
    const bool bias = tensor->shape().rank() == 1;
    const std::int64_t rows = bias ? 1 : tensor->shape()[0], cols = tensor->shape().back(0);
    Tensor out(bias ? Shape{cols * group} : Shape{rows, cols * group});
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols * group; ++c)
            out.data()[r * cols * group + c] =
                tensor->data()[r * cols + c / (width * group) * width + c % width];
    return std::make_shared<const Tensor>(std::move(out));
}

/// One key/value head per query head, equal within a group.
Problem with_repeated_heads(const Problem& problem) {
    Problem out = problem;
    const Dims& d = problem.dims;
    const std::int64_t group = d.H / d.Hkv;
    out.dims.Hkv = d.H;
    out.weights.W_K = repeat_blocks(problem.weights.W_K, d.dk, group);
    out.weights.b_K = repeat_blocks(problem.weights.b_K, d.dk, group);
    out.weights.W_V = repeat_blocks(problem.weights.W_V, d.dv, group);
    out.weights.b_V = repeat_blocks(problem.weights.b_V, d.dv, group);
    return out;
}

} // namespace

TEST_CASE("laws of multi-head attention: keys, batches and heads") {
    rc::prop("permuting the keys permutes the weights and leaves the output", [] {
        Problem problem = any_problem(Masks::none);
        const Dims& d = problem.dims;
        std::vector<std::int64_t> from(static_cast<std::size_t>(d.Tk));
        std::iota(from.begin(), from.end(), 0);
        std::shuffle(from.begin(), from.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
        const Trace before = cpu_trace(problem);
        Tensor moved(problem.x_kv->shape());
        for (std::int64_t b = 0; b < d.B; ++b)
            for (std::int64_t j = 0; j < d.Tk; ++j)
                for (std::int64_t c = 0; c < d.Dkv; ++c)
                    moved.at(b, j, c) = problem.x_kv->at(b, from[static_cast<std::size_t>(j)], c);
        problem.x_kv = std::make_shared<const Tensor>(std::move(moved));
        const Trace after = cpu_trace(problem);
        const Tensor& A = *before.stage(TensorId::weights);
        Tensor expected(A.shape());
        for (std::int64_t row = 0; row < A.count() / d.Tk; ++row)
            for (std::int64_t j = 0; j < d.Tk; ++j)
                expected.data()[row * d.Tk + j] = A.data()[row * d.Tk + from[static_cast<std::size_t>(j)]];
        RC_ASSERT(difference(after.stage(TensorId::weights), expected) == "");
        RC_ASSERT(difference(after.stage(TensorId::output), *before.stage(TensorId::output)) == "");
    });

    rc::prop("a batch gives what its entries give one by one", [] {
        const Problem problem = any_problem();
        const Trace whole = cpu_trace(problem);
        for (std::int64_t b = 0; b < problem.dims.B; ++b) {
            Problem entry = problem;
            entry.dims.B = 1;
            entry.x = slice(problem.x, b, 1);
            entry.x_kv = slice(problem.x_kv, b, 1);
            entry.mask = mask_of_entry(problem, b);
            const Trace alone = cpu_trace(entry);
            for (const TensorInfo& info : stages_of())
                RC_ASSERT(difference(alone.stage(info.id),
                                     *slice(whole.stages[static_cast<std::size_t>(info.id)], b, 1)) == "");
        }
    });

    rc::prop("grouped queries equal key/value heads that are repeated", [] {
        const Problem problem = any_problem();
        const Trace grouped = cpu_trace(problem), repeated = cpu_trace(with_repeated_heads(problem));
        for (const TensorId id : {TensorId::masked, TensorId::weights, TensorId::head_out, TensorId::output})
            RC_ASSERT(difference(grouped.stage(id), *repeated.stage(id)) == "");
    });

    rc::prop("averaging key/value heads that are equal brings the grouped problem back", [] {
        const Problem grouped = any_problem();
        const Problem back = with_kv_head_count(with_repeated_heads(grouped), grouped.dims.Hkv);
        RC_ASSERT(back.dims == grouped.dims);
        RC_ASSERT(bitwise_difference(cpu_trace(back), cpu_trace(grouped)) == "");
    });

    rc::prop("dealing the weights to other heads keeps them, and dealing back restores the trace", [] {
        Problem problem = with_repeated_heads(any_problem());
        problem.mask.clear();
        problem.gains.clear();
        const Problem one = with_head_count(problem, 1);
        RC_ASSERT(one.weights.W_Q == problem.weights.W_Q);
        RC_ASSERT(one.weights.W_K == problem.weights.W_K);
        RC_ASSERT(one.weights.W_V == problem.weights.W_V);
        RC_ASSERT(one.weights.W_O == problem.weights.W_O);
        const Trace before = cpu_trace(problem), merged = cpu_trace(one);
        RC_ASSERT(bitwise_difference(cpu_trace(with_head_count(one, problem.dims.H)), before) == "");
        // Q, K and V do not know about heads.
        RC_ASSERT(difference(merged.stage(TensorId::q), *before.stage(TensorId::q)) == "");
        RC_ASSERT(merged.stage(TensorId::scores)->shape()[1] == 1);
    });
}

TEST_CASE("laws of multi-head attention: sums, gains and masks") {
    rc::prop("the contributions and b_O add up to the output", [] {
        const Problem problem = any_problem();
        const Dims& d = problem.dims;
        const Trace trace = cpu_trace(problem);
        const Tensor& C = *trace.stage(TensorId::contributions);
        Tensor sum({d.B, d.Tq, d.D}, 0.0F);
        for (std::int64_t b = 0; b < d.B; ++b)
            for (std::int64_t i = 0; i < d.Tq; ++i)
                for (std::int64_t m = 0; m < d.D; ++m) {
                    sum.at(b, i, m) = problem.weights.b_O == nullptr ? 0.0F : problem.weights.b_O->at(m);
                    for (std::int64_t h = 0; h < d.H; ++h)
                        sum.at(b, i, m) += C.at(b, h, i, m);
                }
        RC_ASSERT(difference(trace.stage(TensorId::output), sum) == "");
    });

    rc::prop("a gain of 0 equals zeroing the head's rows of W_O", [] {
        Problem gated = any_problem(), zeroed = gated;
        const Dims& d = gated.dims;
        const auto h = *rc::gen::inRange<std::int64_t>(0, d.H);
        gated.gains.resize(static_cast<std::size_t>(d.H), 1.0F);
        zeroed.gains = gated.gains;
        gated.gains[static_cast<std::size_t>(h)] = 0.0F;
        zeroed.gains[static_cast<std::size_t>(h)] = 1.0F;
        Tensor W_O(gated.weights.W_O->shape(), gated.weights.W_O->values());
        std::fill_n(W_O.data() + h * d.dv * d.D, d.dv * d.D, 0.0F);
        zeroed.weights.W_O = std::make_shared<const Tensor>(std::move(W_O));
        const Trace a = cpu_trace(gated), b = cpu_trace(zeroed);
        RC_ASSERT(difference(a.stage(TensorId::output), *b.stage(TensorId::output)) == "");
        RC_ASSERT(difference(a.stage(TensorId::contributions), *b.stage(TensorId::contributions)) == "");
    });

    rc::prop("rows of weights sum to 1, or to 0 where nothing is allowed",
             [] { RC_ASSERT(broken_invariant(cpu_trace(any_problem())) == ""); });

    rc::prop("under a causal mask a prefix of the tokens gives the prefix of the result", [] {
        Problem whole = any_problem(Masks::none);
        whole.dims.Tk = whole.dims.Tq;
        whole.dims.Dkv = whole.dims.D;
        Numbers numbers(*rc::gen::arbitrary<std::uint64_t>());
        whole = generate(whole.dims, {.biases = true}, numbers);
        whole.dims.B = 1;
        whole.x = slice(whole.x, 0, 1);
        whole.mask = {CausalMask{}};
        Problem part = whole;
        part.dims.Tq = part.dims.Tk = *rc::gen::inRange<std::int64_t>(1, whole.dims.Tq + 1);
        const auto kept = static_cast<std::size_t>(part.dims.Tq * part.dims.D);
        part.x = make_tensor({1, part.dims.Tq, part.dims.D}, whole.x->values().first(kept));
        const Trace all = cpu_trace(whole), some = cpu_trace(part);
        RC_ASSERT(difference(some.stage(TensorId::output),
                             *make_tensor({1, part.dims.Tq, part.dims.D},
                                          all.stage(TensorId::output)->values().first(kept))) == "");
    });
}

TEST_CASE("a run's numbers depend neither on the stages wanted nor on the threads") {
    rc::prop("some stages are the same bits as all stages, and no others come", [] {
        const Problem problem = any_problem();
        const Trace all = cpu_trace(problem);
        StageSet wanted;
        for (const TensorInfo& info : stages_of())
            if (*rc::gen::arbitrary<bool>())
                wanted = wanted.with(info.id);
        Progress progress;
        Trace some = cpu::CpuEngine(1).run(problem, wanted, progress);
        for (const TensorInfo& info : stages_of())
            RC_ASSERT((some.stage(info.id) != nullptr) == wanted.has(info.id));
        if (some.fully_masked.empty())
            some.fully_masked = all.fully_masked; // counted only when a stage from scores on is wanted
        RC_ASSERT(bitwise_difference(all, some) == "");
    });

    // Above the size from which work is shared, in several row tiles.
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        constexpr Dims large{
            .B = 2, .Tq = 150, .Tk = 131, .D = 40, .Dkv = 24, .H = 6, .Hkv = 3, .dk = 7, .dv = 5};
        Numbers numbers(seed);
        Problem problem = generate(large, {.biases = true, .gains = true}, numbers, true);
        problem.mask = {CausalMask{}, generate_rule(1, large, numbers)};
        const Trace one = cpu_trace(problem, 1);
        CHECK(bitwise_difference(cpu_trace(problem, 2), one) == "");
        CHECK(bitwise_difference(cpu_trace(problem, 3), one) == "");
    }
}
