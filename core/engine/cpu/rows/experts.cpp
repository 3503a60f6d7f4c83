#include "core/engine/cpu/rows/experts.h"

#include "core/engine/cpu/rows/layer_rows.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <vector>

namespace headscope::cpu {

namespace {

Block block_of_rows(const Tensor& rows) {
    const std::int64_t width = rows.shape().back(0);
    return {rows.data(), width, rows.count() / width, width};
}

/// Calls make(expert, tokens, made) with the tokens of each expert that has some. `make` fills `made`,
/// (tokens, D), which is added to `out` with the fractions, or as it is where experts read scaled inputs.
template<class Make>
void add_experts(const Tensor& fractions, graph::Experts how, Tensor& out, const Make& make) {
    const std::int64_t experts = fractions.shape().back(0), D = out.shape().back(0),
                       rows = fractions.count() / experts;
    std::ranges::fill(out.values(), 0.0F);
    for (std::int64_t expert = 0; expert < experts; ++expert) {
        std::vector<std::int64_t> tokens;
        for (std::int64_t token = 0; token < rows; ++token)
            if (fractions.data()[token * experts + expert] > 0.0F)
                tokens.push_back(token);
        if (tokens.empty())
            continue;
        Tensor made(Shape{std::ssize(tokens), D});
        make(expert, tokens, made);
        for (std::size_t n = 0; n < tokens.size(); ++n)
            MutableRow(out.data() + tokens[n] * D, D) +=
                (how.scaled_input ? 1.0F : fractions.data()[tokens[n] * experts + expert]) *
                ConstRow(made.data() + static_cast<std::int64_t>(n) * D, D);
    }
}

/// Copies the rows of some tokens: `width` numbers each, `stride` apart.
Tensor chosen_rows(const float* rows, std::int64_t width, std::int64_t stride,
                   const std::vector<std::int64_t>& tokens) {
    Tensor chosen(Shape{std::ssize(tokens), width});
    for (std::size_t n = 0; n < tokens.size(); ++n)
        std::copy_n(rows + tokens[n] * stride, width, chosen.data() + static_cast<std::int64_t>(n) * width);
    return chosen;
}

} // namespace

void mix_experts(CpuDense& cpu, const Tensor& x, const Tensor& fractions,
                 const std::function<Expert(std::int64_t)>& expert, const graph::Gate& gates,
                 graph::Experts how, Tensor& out, const Progress& cancel) {
    const std::int64_t D = x.shape().back(0), experts = fractions.shape().back(0);
    add_experts(fractions, how, out,
                [&](std::int64_t e, const std::vector<std::int64_t>& tokens, Tensor& made) {
                    const Expert weights = expert(e);
                    Tensor chosen = chosen_rows(x.data(), D, D, tokens);
                    for (std::size_t n = 0; how.scaled_input && n < tokens.size(); ++n)
                        MutableRow(chosen.data() + static_cast<std::int64_t>(n) * D, D) *=
                            fractions.data()[tokens[n] * experts + e];
                    Tensor gate(Shape{std::ssize(tokens), weights.gate.W.cols}), act(gate.shape());
                    cpu.multiply(block_of_rows(chosen), weights.gate.W, weights.gate.b, gate.data(), cancel);
                    cpu.multiply(block_of_rows(chosen), weights.in.W, weights.in.b, act.data(), cancel);
                    open_gates(cpu, act.values(), gate.values(), gates, cancel);
                    cpu.multiply(block_of_rows(act), weights.out.W, weights.out.b, made.data(), cancel);
                });
}

void sum_experts(CpuDense& cpu, const Tensor& activations, const Tensor& fractions,
                 const std::function<ExpertLinear(std::int64_t)>& W_out, graph::Experts how, Tensor& out,
                 const Progress& cancel) {
    const std::int64_t width = activations.shape()[3], stride = activations.shape()[2] * width;
    add_experts(fractions, how, out,
                [&](std::int64_t e, const std::vector<std::int64_t>& tokens, Tensor& made) {
                    const ExpertLinear weights = W_out(e);
                    const Tensor act = chosen_rows(activations.data() + e * width, width, stride, tokens);
                    cpu.multiply(block_of_rows(act), weights.W, weights.b, made.data(), cancel);
                });
}

} // namespace headscope::cpu
