#include "core/graph/ops/common.h"
#include "core/graph/ops/ops.h"

#include <cmath>
#include <string>
#include <vector>

namespace headscope::graph::ops {

namespace {

/// Inputs: queries (B, Tq, Hqk·dk), keys (B, Tq, Hqk·dk), values (B, Tq, H·dv), decay (B, Tq, H) and beta
/// (B, Tq, H). The gated delta rule (Yang et al. 2025, "Gated Delta Networks: Improving Mamba2 with Delta
/// Rule"). Each head has a state S, (dk, dv), that begins with zeros. At each token
///   S = decay S,  S = S + k beta (v - k S),  result = q S / sqrt(dk).
/// Heads share queries and keys in groups. The result has the axes of the values.
class DeltaRule final : public Operation {
public:
    std::string_view name() const override { return "delta_rule"; }
    Page page(Step step) const override { return page_of(step); }

    Axes axes(const Call& call) const override {
        for (std::size_t input = 0; input < 5; ++input)
            expect_rank(call, input, 3);
        const Axes &q = call.axes_of(0), &v = call.axes_of(2);
        expect(call, 0, q[2].is_product(), "(B, Tq, Hqk·dk)");
        expect(call, 1, call.axes_of(1) == q, q.text());
        const bool fits = v[2].is_product() && v.size(0) == q.size(0) && v.size(1) == q.size(1) &&
                          v[2].outer_axis().size % q[2].outer_axis().size == 0;
        expect(call, 2, fits, "(B, Tq, H·dv)");
        const Axes per_head{v[0], v[1], v[2].outer_axis()};
        for (const std::size_t input : {3U, 4U})
            expect(call, input, call.axes_of(input).shape() == per_head.shape(), per_head.text());
        return v;
    }

    /// The query of the token; keys, values, decays and betas of all tokens up to it.
    std::vector<ReadSpan> reads(const Call& call, const Index& at) const override {
        const std::int64_t h = head(call, at), first = first_key(call, at), count = at[1] + 1;
        std::vector<ReadSpan> spans{{0, {at[0], at[1], first}, 2, dk(call)}};
        for (std::int64_t i = 0; i < count; ++i)
            spans.push_back({1, {at[0], i, first}, 2, dk(call)});
        spans.push_back({2, {at[0], 0, at[2]}, 1, count});
        // The first token has no state that could decay.
        if (at[1] > 0)
            spans.push_back({3, {at[0], 1, h}, 1, at[1]});
        spans.push_back({4, {at[0], 0, h}, 1, count});
        return spans;
    }

    std::string formula(const Call&, const Names& names) const override {
        return names.out + "[i] = " + names.in[0] + "[i] · S[i] ÷ √dk,  S[i] = " + names.in[3] +
               "[i] · S[i−1] + " + names.in[1] + "[i]ᵀ · " + names.in[4] + "[i] · (" + names.in[2] +
               "[i] − " + names.in[1] + "[i] · " + names.in[3] + "[i] · S[i−1])";
    }

    /// The read-out of the state.
    Arithmetic explain(const Call& call, const Index& at) const override {
        const std::vector<double> state = state_column(call, at);
        const std::string column = std::to_string(at[2] % call.axes[2].inner);
        Arithmetic arithmetic;
        for (std::int64_t d = 0; d < dk(call); ++d)
            arithmetic.add_term(
                {factor(call, 0, {at[0], at[1], first_key(call, at) + d}),
                 number(state[static_cast<std::size_t>(d)], "S[" + std::to_string(d) + ", " + column + "]")});
        arithmetic.then(StepKind::divided_by, number(std::sqrt(static_cast<double>(dk(call))), "√dk"));
        return arithmetic;
    }

    std::string pytorch(const Call& call, const Names& names) const override {
        const std::int64_t H = heads(call), Hqk = key_heads(call), group = H / Hqk;
        const std::string each = group == 1 ? "" : ".repeat_interleave(" + std::to_string(group) + ", dim=2)";
        const std::string &y = names.out, S = y + "_S";
        const auto split = [&](std::size_t input, std::int64_t count, std::int64_t width) {
            return names.in[input] + ".unflatten(-1, (" + std::to_string(count) + ", " +
                   std::to_string(width) + "))";
        };
        return y + "_q, " + y + "_k = " + split(0, Hqk, dk(call)) + each + ", " + split(1, Hqk, dk(call)) +
               each + "\n" + y + "_v = " + split(2, H, call.axes[2].inner) + "\n" + S + " = torch.zeros(" +
               std::to_string(call.axes.size(0)) + ", " + std::to_string(H) + ", " +
               std::to_string(dk(call)) + ", " + std::to_string(call.axes[2].inner) + ", dtype=" + y +
               "_v.dtype)\n" + y + "_rows = []\nfor i in range(" + std::to_string(call.axes.size(1)) +
               "):\n    " + S + " = " + S + " * " + names.in[3] +
               "[:, i, :, None, None]\n    read = torch.einsum(\"bhd,bhdv->bhv\", " + y + "_k[:, i], " + S +
               ")\n    " + S + " = " + S + " + torch.einsum(\"bhd,bhv->bhdv\", " + y + "_k[:, i], " +
               names.in[4] + "[:, i, :, None] * (" + y + "_v[:, i] - read))\n    " + y +
               "_rows.append(torch.einsum(\"bhd,bhdv->bhv\", " + y + "_q[:, i], " + S + ").flatten(1))\n" +
               y + " = torch.stack(" + y + "_rows, dim=1) / math.sqrt(" + std::to_string(dk(call)) + ")\n";
    }

    double cell(const Call& call, const Index& at) const override {
        return read_out(call, at, state_column(call, at));
    }

    /// Column by column, since the columns of a state do not read each other.
    void all(const Call& call, std::span<double> out) const override {
        const Shape shape = call.axes.shape();
        for (std::int64_t b = 0; b < shape[0]; ++b)
            for (std::int64_t c = 0; c < shape[2]; ++c) {
                std::vector<double> state(static_cast<std::size_t>(dk(call)));
                for (std::int64_t i = 0; i < shape[1]; ++i) {
                    const Index at{b, i, c};
                    step(call, at, call.in[2].at(at), state);
                    out[static_cast<std::size_t>(shape.offset(at))] = read_out(call, at, state);
                }
            }
    }

    bool is_linear_in(const Call&, std::size_t input) const override { return input == 0 || input == 2; }
    double coefficient(const Call& call, const Index& at, std::size_t input,
                       const Index& from) const override {
        if (input == 0)
            return state_column(call, at)[static_cast<std::size_t>(from[2] - first_key(call, at))] /
                   std::sqrt(static_cast<double>(dk(call)));
        // The result if that value alone were 1, and all others 0.
        std::vector<double> state(static_cast<std::size_t>(dk(call)));
        for (std::int64_t i = 0; i <= at[1]; ++i)
            step(call, with(at, 1, i), i == from[1] ? 1.0 : 0.0, state);
        return read_out(call, at, state);
    }

protected:
    double multiply_adds_per_cell(const Call& call) const override {
        return 4 * static_cast<double>(dk(call));
    }

private:
    static std::int64_t dk(const Call& call) { return call.axes_of(0)[2].inner; }
    static std::int64_t key_heads(const Call& call) { return call.axes_of(0)[2].outer_axis().size; }
    static std::int64_t heads(const Call& call) { return call.axes_of(2)[2].outer_axis().size; }
    static std::int64_t head(const Call& call, const Index& at) { return at[2] / call.axes_of(2)[2].inner; }
    /// The first column of the query and key that the head of a cell reads.
    static std::int64_t first_key(const Call& call, const Index& at) {
        return shared_head(head(call, at), heads(call), key_heads(call)) * dk(call);
    }
    /// Brings the state's column of the cell from before its token to after it.
    static void step(const Call& call, const Index& at, double v, std::vector<double>& state) {
        const std::int64_t h = head(call, at), first = first_key(call, at);
        const auto key = [&](std::size_t d) {
            return call.in[1].at({at[0], at[1], first + static_cast<std::int64_t>(d)});
        };
        const double decay = call.in[3].at({at[0], at[1], h}), beta = call.in[4].at({at[0], at[1], h});
        double read = 0;
        for (std::size_t d = 0; d < state.size(); ++d) {
            state[d] *= decay;
            read += key(d) * state[d];
        }
        for (std::size_t d = 0; d < state.size(); ++d)
            state[d] += key(d) * beta * (v - read);
    }
    /// The state's column of the cell after its token.
    static std::vector<double> state_column(const Call& call, const Index& at) {
        std::vector<double> state(static_cast<std::size_t>(dk(call)));
        for (std::int64_t i = 0; i <= at[1]; ++i)
            step(call, with(at, 1, i), call.in[2].at(with(at, 1, i)), state);
        return state;
    }
    static double read_out(const Call& call, const Index& at, const std::vector<double>& state) {
        double sum = 0;
        for (std::size_t d = 0; d < state.size(); ++d)
            sum +=
                call.in[0].at({at[0], at[1], first_key(call, at) + static_cast<std::int64_t>(d)}) * state[d];
        return sum / std::sqrt(static_cast<double>(dk(call)));
    }
};

} // namespace

const Operation& delta_rule() {
    static const DeltaRule operation;
    return operation;
}

} // namespace headscope::graph::ops
