#include "core/engine/cpu/machine.h"
#include "core/engine/cpu/nodes/nodes.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace headscope::cpu::nodes {

namespace {

/// Numbers of the tokens of a text that grows, those of one token after those of another.
class TokenRows final : public run::KernelState {
public:
    std::unique_ptr<run::KernelState> clone() const override {
        auto copy = std::make_unique<TokenRows>();
        copy->numbers = numbers;
        copy->width = width;
        return copy;
    }
    void truncate(std::int64_t rows) override {
        numbers.resize(std::min(numbers.size(), static_cast<std::size_t>(rows * width)));
    }
    std::int64_t rows() const { return width == 0 ? 0 : std::ssize(numbers) / width; }

    std::vector<float> numbers;
    std::int64_t width = 0; ///< numbers of a token
};

/// The state of a kernel that keeps rows of tokens; null outside of a RowRun.
TokenRows* token_rows(Values& values, std::int64_t width) {
    if (values.rows() == nullptr)
        return nullptr;
    if (values.state() == nullptr)
        values.state() = std::make_unique<TokenRows>();
    auto* const rows = static_cast<TokenRows*>(values.state().get());
    rows->width = width;
    return rows;
}

class CausalConvKernel final : public Kernel {
public:
    CausalConvKernel(NodeId id, const Node& node, std::shared_ptr<CpuMachine> machine)
        : node_(id), x_(node.inputs[0].node), W_(node.inputs[1].node), machine_(std::move(machine)) {}

    void compute(Values& values, Progress& progress) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const Tensor &x = values[x_], &W = values[W_];
        const std::int64_t B = x.shape()[0], T = x.shape()[1], C = x.shape()[2], K = W.shape()[0];
        TokenRows* const kept = token_rows(values, B * C);
        // A row of an earlier token: of this call, or one that is kept.
        const std::int64_t before = kept == nullptr ? 0 : kept->rows();
        const auto row = [&](std::int64_t b, std::int64_t i) {
            return i >= before ? x.data() + (b * T + i - before) * C : kept->numbers.data() + (i * B + b) * C;
        };
        machine_->for_tasks(progress, B * T, 2 * B * T * C * K, [&](std::int64_t task, int) {
            const std::int64_t b = task / T, i = before + task % T;
            float* const y = out->data() + task * C;
            std::fill_n(y, C, 0.0F);
            for (std::int64_t back = std::min(K - 1, i); back >= 0; --back) {
                const float *const from = row(b, i - back), *const weights = W.data() + (K - 1 - back) * C;
                for (std::int64_t c = 0; c < C; ++c)
                    y[c] += weights[c] * from[c];
            }
        });
        for (std::int64_t i = 0; kept != nullptr && i < T; ++i)
            for (std::int64_t b = 0; b < B; ++b)
                kept->numbers.insert(kept->numbers.end(), x.data() + (b * T + i) * C,
                                     x.data() + (b * T + i + 1) * C);
    }

private:
    NodeId node_, x_, W_;
    std::shared_ptr<CpuMachine> machine_;
};

class DecayKernel final : public Kernel {
public:
    DecayKernel(NodeId id, const Node& node)
        : node_(id), a_(node.inputs[0].node), A_log_(node.inputs[1].node) {}

    void compute(Values& values, Progress&) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const Tensor &a = values[a_], &A_log = values[A_log_];
        const std::int64_t H = A_log.count();
        for (std::int64_t at = 0; at < a.count(); ++at) {
            const double x = static_cast<double>(a.data()[at]),
                         rate = std::exp(static_cast<double>(A_log.data()[at % H]));
            const double softplus = x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
            out->data()[at] = static_cast<float>(std::exp(-rate * softplus));
        }
    }

private:
    NodeId node_, a_, A_log_;
};

/// The rows of one token of one head.
struct HeadToken {
    const float *q, *k, *v;
    float decay, beta;
};

/// Brings a state (dk, dv) from before a token to after it. `read`: room for dv numbers.
void write_state(const HeadToken& token, std::span<float> state, std::span<float> read) {
    const std::size_t dv = read.size(), dk = state.size() / dv;
    std::ranges::fill(read, 0.0F);
    for (std::size_t d = 0; d < dk; ++d) {
        float* const row = state.data() + d * dv;
        for (std::size_t c = 0; c < dv; ++c) {
            row[c] *= token.decay;
            read[c] += token.k[d] * row[c];
        }
    }
    for (std::size_t c = 0; c < dv; ++c)
        read[c] = token.beta * (token.v[c] - read[c]);
    for (std::size_t d = 0; d < dk; ++d) {
        float* const row = state.data() + d * dv;
        for (std::size_t c = 0; c < dv; ++c)
            row[c] += token.k[d] * read[c];
    }
}

void read_state(const HeadToken& token, std::span<const float> state, std::span<float> y) {
    const std::size_t dv = y.size(), dk = state.size() / dv;
    std::ranges::fill(y, 0.0F);
    for (std::size_t d = 0; d < dk; ++d)
        for (std::size_t c = 0; c < dv; ++c)
            y[c] += token.q[d] * state[d * dv + c];
    const float root = std::sqrt(static_cast<float>(dk));
    for (float& number : y)
        number /= root;
}

/// Computes the heads one by one, token after token. In a RowRun it keeps keys, values, decays and betas, so
/// that the state can be built again when the text was cut off.
class DeltaRuleKernel final : public Kernel {
public:
    DeltaRuleKernel(NodeId id, const Node& node, std::int64_t dk, std::shared_ptr<CpuMachine> machine)
        : node_(id), dk_(dk), dv_(node.axes[2].inner), machine_(std::move(machine)) {
        for (const graph::Reading& input : node.inputs)
            inputs_.push_back(input.node);
    }

    void compute(Values& values, Progress& progress) const override;

private:
    class State final : public run::KernelState {
    public:
        std::unique_ptr<run::KernelState> clone() const override {
            auto copy = std::make_unique<State>();
            copy->k = k;
            copy->v = v;
            copy->decay = decay;
            copy->beta = beta;
            copy->tokens = tokens;
            copy->states = states;
            return copy;
        }
        void truncate(std::int64_t rows) override {
            if (rows >= tokens)
                return;
            const auto cut = [&](std::vector<float>& numbers) {
                numbers.resize(numbers.size() / static_cast<std::size_t>(tokens) *
                               static_cast<std::size_t>(rows));
            };
            cut(k);
            cut(v);
            cut(decay);
            cut(beta);
            tokens = rows;
            states.clear(); // of tokens that are no longer there
        }
        std::vector<float> k, v, decay, beta; ///< by token: (B, Hqk dk), (B, H dv), (B, H), (B, H)
        std::int64_t tokens = 0;
        std::vector<float> states; ///< (B, H, dk, dv) after the tokens; empty: to be built again
    };

    const Tensor& input(const Values& values, std::size_t at) const { return values[inputs_[at]]; }
    /// Appends the rows of (B, T, width), token by token.
    static void append(const Tensor& rows, std::vector<float>& to);

    NodeId node_;
    std::int64_t dk_, dv_;
    std::vector<NodeId> inputs_;
    std::shared_ptr<CpuMachine> machine_;
};

void DeltaRuleKernel::append(const Tensor& rows, std::vector<float>& to) {
    const std::int64_t B = rows.shape()[0], T = rows.shape()[1], width = rows.shape()[2];
    for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t b = 0; b < B; ++b)
            to.insert(to.end(), rows.data() + (b * T + i) * width, rows.data() + (b * T + i + 1) * width);
}

void DeltaRuleKernel::compute(Values& values, Progress& progress) const {
    Tensor* const out = values.out(node_);
    if (out == nullptr)
        return;
    const Tensor &q = input(values, 0), &k = input(values, 1), &v = input(values, 2),
                 &decay = input(values, 3), &beta = input(values, 4);
    const std::int64_t B = v.shape()[0], T = v.shape()[1], H = decay.shape()[2], dk = dk_, dv = dv_,
                       keys = q.shape()[2], group = H / (keys / dk);
    State* kept = nullptr;
    if (values.rows() != nullptr) {
        if (values.state() == nullptr)
            values.state() = std::make_unique<State>();
        kept = static_cast<State*>(values.state().get());
    }
    // Moved out, so that a run that fails midway leaves no states behind.
    std::vector<float> states = kept == nullptr ? std::vector<float>() : std::exchange(kept->states, {});
    const bool again = states.empty();
    if (again)
        states.assign(static_cast<std::size_t>(B * H * dk * dv), 0.0F);
    std::vector<float> read(static_cast<std::size_t>(machine_->pool.threads() * dv));
    const std::int64_t earlier = again && kept != nullptr ? kept->tokens : 0;
    machine_->for_tasks(
        progress, B * H, 6 * B * H * (T + earlier) * dk * dv, [&](std::int64_t n, int worker) {
            const std::int64_t b = n / H, h = n % H, first = h / group * dk;
            const std::span<float> state(states.data() + n * dk * dv, static_cast<std::size_t>(dk * dv)),
                room(read.data() + worker * dv, static_cast<std::size_t>(dv));
            for (std::int64_t i = 0; i < earlier; ++i)
                write_state({.q = nullptr,
                             .k = kept->k.data() + (i * B + b) * keys + first,
                             .v = kept->v.data() + (i * B * H + n) * dv,
                             .decay = kept->decay[static_cast<std::size_t>(i * B * H + n)],
                             .beta = kept->beta[static_cast<std::size_t>(i * B * H + n)]},
                            state, room);
            for (std::int64_t i = 0; i < T; ++i) {
                const std::int64_t row = b * T + i;
                const HeadToken token{.q = q.data() + row * keys + first,
                                      .k = k.data() + row * keys + first,
                                      .v = v.data() + (row * H + h) * dv,
                                      .decay = decay.data()[row * H + h],
                                      .beta = beta.data()[row * H + h]};
                write_state(token, state, room);
                read_state(token, state,
                           out->values().subspan(static_cast<std::size_t>((row * H + h) * dv),
                                                 static_cast<std::size_t>(dv)));
            }
        });
    if (kept == nullptr)
        return;
    append(k, kept->k);
    append(v, kept->v);
    append(decay, kept->decay);
    append(beta, kept->beta);
    kept->tokens += T;
    kept->states = std::move(states);
}

/// Heads side by side, where attention does not do it on its way.
class JoinHeadsKernel final : public Kernel {
public:
    JoinHeadsKernel(NodeId id, const Node& node)
        : node_(id), heads_(node.inputs[0].node), gains_(optional_input(node, 1)) {}

    void compute(Values& values, Progress&) const override {
        Tensor* const out = values.out(node_);
        if (out == nullptr)
            return;
        const Tensor& heads = values[heads_];
        const std::int64_t H = heads.shape()[1], T = heads.shape()[2], width = heads.shape()[3];
        for (std::int64_t row = 0; row < heads.count() / width; ++row) {
            const std::int64_t b = row / (H * T), h = row / T % H, i = row % T;
            const float gain = gains_ == no_node ? 1.0F : values[gains_].data()[h];
            std::transform(heads.data() + row * width, heads.data() + (row + 1) * width,
                           out->data() + ((b * T + i) * H + h) * width,
                           [gain](float number) { return gain == 1.0F ? number : gain * number; });
        }
    }

private:
    NodeId node_, heads_, gains_;
};

} // namespace

void add_delta(StepList& list) {
    list.for_each(Op::causal_conv, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<CausalConvKernel>(id, node, list.machine())});
    });
    list.for_each(Op::decay, [&](NodeId id, const Node& node) {
        list.add_rows(id, std::make_unique<DecayKernel>(id, node));
    });
    list.for_each(Op::delta_rule, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id},
                  .kernel = std::make_unique<DeltaRuleKernel>(
                      id, node, list.node(node.inputs[0].node).axes[2].inner, list.machine())});
    });
    list.for_each(Op::join_heads, [&](NodeId id, const Node& node) {
        list.add({.nodes = {id}, .kernel = std::make_unique<JoinHeadsKernel>(id, node)});
    });
}

} // namespace headscope::cpu::nodes
