#include "tests/conformance/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace headscope {

namespace {

using Index64 = std::int64_t;

/// A tensor in double precision with up to four axes.
class Doubles {
public:
    explicit Doubles(const Shape& shape)
        : shape_(shape), values_(static_cast<std::size_t>(shape.count()), 0.0) {}
    explicit Doubles(const Tensor& tensor)
        : shape_(tensor.shape()), values_(tensor.values().begin(), tensor.values().end()) {}

    double& operator()(Index64 i, Index64 j = 0) {
        return values_[static_cast<std::size_t>(i * shape_.back(0) + j)];
    }
    double& operator()(Index64 i, Index64 j, Index64 k) { return (*this)(i * shape_.back(1) + j, k); }
    double& operator()(Index64 i, Index64 j, Index64 k, Index64 l) {
        return (*this)(i * shape_.back(2) + j, k, l);
    }
    double operator()(Index64 i, Index64 j) const {
        return values_[static_cast<std::size_t>(i * shape_.back(0) + j)];
    }
    double operator()(Index64 i, Index64 j, Index64 k) const { return (*this)(i * shape_.back(1) + j, k); }
    double operator()(Index64 i, Index64 j, Index64 k, Index64 l) const {
        return (*this)(i * shape_.back(2) + j, k, l);
    }
    TensorPtr rounded() const {
        Tensor out(shape_);
        std::ranges::transform(values_, out.data(), [](double value) { return static_cast<float>(value); });
        return std::make_shared<const Tensor>(std::move(out));
    }

private:
    Shape shape_;
    std::vector<double> values_;
};

/// Returns Y = X W + b for every batch entry, clipped to [-limit, limit] if limit is above 0.
Doubles project(const Tensor& x, const Tensor& W, const Tensor* b, float limit) {
    const Doubles X(x), weights(W);
    Doubles Y({x.shape()[0], x.shape()[1], W.shape()[1]});
    for (Index64 n = 0; n < x.shape()[0]; ++n)
        for (Index64 i = 0; i < x.shape()[1]; ++i)
            for (Index64 c = 0; c < W.shape()[1]; ++c) {
                double sum = b == nullptr ? 0.0 : static_cast<double>(b->at(c));
                for (Index64 d = 0; d < W.shape()[0]; ++d)
                    sum += X(n, i, d) * weights(d, c);
                const auto most = static_cast<double>(limit);
                Y(n, i, c) = limit > 0 ? std::min(std::max(sum, -most), most) : sum;
            }
    return Y;
}

/// heads[h] = Y[:, h·width : (h+1)·width].
Doubles split(const Doubles& Y, Index64 B, Index64 heads, Index64 T, Index64 width) {
    Doubles out({B, heads, T, width});
    for (Index64 b = 0; b < B; ++b)
        for (Index64 h = 0; h < heads; ++h)
            for (Index64 i = 0; i < T; ++i)
                for (Index64 c = 0; c < width; ++c)
                    out(b, h, i, c) = Y(b, i, h * width + c);
    return out;
}

/// Returns RMSNorm of every row, times a parameter.
Doubles normed(const Doubles& heads, const Tensor& weight, float eps, Index64 B, Index64 count, Index64 T) {
    const Index64 dk = weight.count();
    Doubles out({B, count, T, dk});
    for (Index64 b = 0; b < B; ++b)
        for (Index64 h = 0; h < count; ++h)
            for (Index64 i = 0; i < T; ++i) {
                double squares = 0;
                for (Index64 c = 0; c < dk; ++c)
                    squares += heads(b, h, i, c) * heads(b, h, i, c);
                const double root = std::sqrt(squares / static_cast<double>(dk) + static_cast<double>(eps));
                for (Index64 c = 0; c < dk; ++c)
                    out(b, h, i, c) = heads(b, h, i, c) / root * static_cast<double>(weight.at(c));
            }
    return out;
}

/// Returns RMSNorm over all heads of a token together, times a parameter.
Doubles joint_normed(const Doubles& heads, const Tensor& weight, float eps, Index64 B, Index64 count,
                     Index64 T, Index64 dk) {
    Doubles out({B, count, T, dk});
    for (Index64 b = 0; b < B; ++b)
        for (Index64 i = 0; i < T; ++i) {
            double squares = 0;
            for (Index64 n = 0; n < count * dk; ++n)
                squares += std::pow(heads(b, n / dk, i, n % dk), 2);
            const double root =
                std::sqrt(squares / static_cast<double>(count * dk) + static_cast<double>(eps));
            for (Index64 n = 0; n < count * dk; ++n)
                out(b, n / dk, i, n % dk) =
                    heads(b, n / dk, i, n % dk) / root * static_cast<double>(weight.at(n));
        }
    return out;
}

/// Rotates number c of a head and its partner, half a head away, by the angle of the position.
Doubles rotated(const Doubles& heads, const Rotary& rotary, Index64 B, Index64 count, Index64 T, Index64 dk) {
    Doubles out({B, count, T, dk});
    for (Index64 b = 0; b < B; ++b)
        for (Index64 h = 0; h < count; ++h)
            for (Index64 i = 0; i < T; ++i)
                for (Index64 c = 0; c < dk; ++c) {
                    const Index64 row = rotary.cos->shape()[0] == 1 ? 0 : b;
                    const double partner =
                        c < dk / 2 ? -heads(b, h, i, c + dk / 2) : heads(b, h, i, c - dk / 2);
                    out(b, h, i, c) = heads(b, h, i, c) * static_cast<double>(rotary.cos->at(row, i, c)) +
                                      partner * static_cast<double>(rotary.sin->at(row, i, c));
                }
    return out;
}

/// Returns P = R W + b: the vectors of relative positions that queries or keys read.
Doubles of_positions(const Tensor& R, const TensorPtr& W, const TensorPtr& b) {
    const Doubles rows(R), weights(*W);
    Doubles P({R.shape()[0], W->shape()[1]});
    for (Index64 r = 0; r < R.shape()[0]; ++r)
        for (Index64 c = 0; c < W->shape()[1]; ++c) {
            P(r, c) = b == nullptr ? 0.0 : static_cast<double>(b->at(c));
            for (Index64 d = 0; d < R.shape()[1]; ++d)
                P(r, c) += rows(r, d) * weights(d, c);
        }
    return P;
}

/// Returns the term of the scores that queries, or keys, have with the vectors of relative positions.
Doubles relative_term(const Doubles& heads, const Doubles& P, bool of_keys, const RelativeRows& rows,
                      const Dims& d) {
    Doubles out({d.B, d.H, d.Tq, d.Tk});
    for (Index64 b = 0; b < d.B; ++b)
        for (Index64 h = 0; h < d.H; ++h)
            for (Index64 i = 0; i < d.Tq; ++i)
                for (Index64 j = 0; j < d.Tk; ++j)
                    for (Index64 c = 0; c < d.dk; ++c)
                        out(b, h, i, j) +=
                            heads(b, h, of_keys ? j : i, c) * P(rows.row_of(i - j), h * d.dk + c);
    return out;
}

} // namespace

Trace reference_trace(const Problem& problem) {
    using enum TensorId;
    validate(problem);
    const Dims& d = problem.dims;
    const Weights& w = problem.weights;
    const Tensor& source = problem.has_source() ? *problem.x_kv : *problem.x;
    const MaskRows mask_rows(problem.mask, d);
    Trace trace{.dims = d, .stages = {}, .fully_masked = {}, .device = "reference", .seconds = 0};
    trace.parts = problem.parts();

    const Doubles Q = project(*problem.x, *w.W_Q, w.b_Q.get(), problem.qkv_limit);
    const Doubles K = project(source, *w.W_K, w.b_K.get(), problem.qkv_limit);
    const Doubles V = project(source, *w.W_V, w.b_V.get(), problem.qkv_limit);
    Doubles Qh = split(Q, d.B, d.H, d.Tq, d.dk);
    Doubles Kh = split(K, d.B, d.Hkv, d.Tk, d.dk);
    if (w.q_norm != nullptr) {
        Qh = normed(Qh, *w.q_norm, problem.norm_eps, d.B, d.H, d.Tq);
        Kh = normed(Kh, *w.k_norm, problem.norm_eps, d.B, d.Hkv, d.Tk);
    }
    if (w.q_norm_all != nullptr) {
        Qh = joint_normed(Qh, *w.q_norm_all, problem.norm_eps, d.B, d.H, d.Tq, d.dk);
        Kh = joint_normed(Kh, *w.k_norm_all, problem.norm_eps, d.B, d.Hkv, d.Tk, d.dk);
    }
    if (w.q_norm != nullptr || w.q_norm_all != nullptr) {
        trace.slot(q_normed) = Qh.rounded();
        trace.slot(k_normed) = Kh.rounded();
    }
    if (problem.rotary) {
        Qh = rotated(Qh, *problem.rotary, d.B, d.H, d.Tq, d.dk);
        Kh = rotated(Kh, *problem.rotary, d.B, d.Hkv, d.Tk, d.dk);
    }
    for (Index64 n = 0; problem.query_scale != nullptr && n < d.B * d.H * d.Tq; ++n)
        for (Index64 c = 0; c < d.dk; ++c)
            Qh(n / (d.H * d.Tq), n / d.Tq % d.H, n % d.Tq, c) *=
                static_cast<double>(problem.query_scale->at(n % d.Tq));
    Doubles of_queries({1}), of_keys({1});
    if (trace.parts.c2p) {
        const bool own = w.W_KR != nullptr;
        const Doubles P = of_positions(*problem.rel_positions, own ? w.W_KR : w.W_K, own ? w.b_KR : w.b_K);
        of_queries = relative_term(Qh, P, false, problem.relative->rows, d);
        trace.slot(pos_keys) = P.rounded();
        trace.slot(c2p) = of_queries.rounded();
    }
    if (trace.parts.p2c) {
        const bool own = w.W_QR != nullptr;
        const Doubles P = of_positions(*problem.rel_positions, own ? w.W_QR : w.W_Q, own ? w.b_QR : w.b_Q);
        of_keys = relative_term(Kh, P, true, problem.relative->rows, d);
        trace.slot(pos_queries) = P.rounded();
        trace.slot(p2c) = of_keys.rounded();
    }
    Doubles Vh = split(V, d.B, d.Hkv, d.Tk, d.dv);
    if (w.v_norm != nullptr) {
        Vh = normed(Vh, *w.v_norm, problem.norm_eps, d.B, d.Hkv, d.Tk);
        trace.slot(v_normed) = Vh.rounded();
    }
    const Doubles W_O_(*w.W_O);

    const auto made = [&](TensorId id) { return Doubles(tensor_info(id).shape(d)); };
    Doubles S = made(scores), scaled_scores = made(scaled), S_masked = made(masked),
            A = made(TensorId::weights), mean = made(weights_mean), O = made(head_out), joined = made(concat),
            C = made(contributions), Y = made(output), gates = made(gate), passed = made(head_out_gated);
    const Doubles G = w.W_G == nullptr ? Doubles({1}) : project(*problem.x, *w.W_G, w.b_G.get(), 0);
    const double scale = std::sqrt(static_cast<double>(d.dk)) * static_cast<double>(problem.temperature);
    constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

    for (Index64 b = 0; b < d.B; ++b)
        for (Index64 h = 0; h < d.H; ++h)
            for (Index64 i = 0; i < d.Tq; ++i) {
                const Index64 g = d.kv_head(h);
                const MaskRow row = mask_rows.row(b, h, i);
                double largest = minus_infinity;
                for (Index64 j = 0; j < d.Tk; ++j) {
                    double dot = 0;
                    for (Index64 c = 0; c < d.dk; ++c)
                        dot += Qh(b, h, i, c) * Kh(b, g, j, c);
                    dot += trace.parts.c2p ? of_queries(b, h, i, j) : 0.0;
                    dot += trace.parts.p2c ? of_keys(b, h, i, j) : 0.0;
                    S(b, h, i, j) = dot;
                    const auto cap = static_cast<double>(problem.score_cap);
                    const double capped = cap == 0.0 ? dot / scale : cap * std::tanh(dot / scale / cap);
                    scaled_scores(b, h, i, j) = capped;
                    const double added = row.add == nullptr ? 0.0 : static_cast<double>(row.add[j]);
                    S_masked(b, h, i, j) = mask_rows.allows(b, h, i, j) ? capped + added : minus_infinity;
                    largest = std::max(largest, S_masked(b, h, i, j));
                }
                const bool nothing_allowed = largest == minus_infinity;
                if (nothing_allowed)
                    trace.fully_masked.push_back({b, h, i});
                double sum = 0;
                if (w.sink != nullptr && !nothing_allowed) {
                    const auto sink = static_cast<double>(w.sink->at(h));
                    largest = std::max(largest, sink);
                    sum = std::exp(sink - largest);
                }
                for (Index64 j = 0; j < d.Tk; ++j)
                    sum += nothing_allowed ? 0.0 : std::exp(S_masked(b, h, i, j) - largest);
                for (Index64 j = 0; j < d.Tk; ++j) {
                    A(b, h, i, j) = nothing_allowed ? 0.0 : std::exp(S_masked(b, h, i, j) - largest) / sum;
                    mean(b, i, j) += A(b, h, i, j) / static_cast<double>(d.H);
                }
                const double gain_h = static_cast<double>(problem.gain(h));
                for (Index64 c = 0; c < d.dv; ++c) {
                    for (Index64 j = 0; j < d.Tk; ++j)
                        O(b, h, i, c) += A(b, h, i, j) * Vh(b, g, j, c);
                    passed(b, h, i, c) = O(b, h, i, c);
                    if (w.W_G != nullptr) {
                        gates(b, h, i, c) = G(b, i, h * d.dv + c);
                        passed(b, h, i, c) /= 1 + std::exp(-gates(b, h, i, c));
                    }
                    joined(b, i, h * d.dv + c) = gain_h * passed(b, h, i, c);
                }
                for (Index64 m = 0; m < d.D; ++m)
                    for (Index64 c = 0; c < d.dv; ++c)
                        C(b, h, i, m) += gain_h * passed(b, h, i, c) * W_O_(h * d.dv + c, m);
            }
    for (Index64 b = 0; b < d.B; ++b)
        for (Index64 i = 0; i < d.Tq; ++i)
            for (Index64 m = 0; m < d.D; ++m) {
                double sum = w.b_O == nullptr ? 0.0 : static_cast<double>(w.b_O->at(m));
                for (Index64 c = 0; c < d.H * d.dv; ++c)
                    sum += joined(b, i, c) * W_O_(c, m);
                Y(b, i, m) = sum;
            }

    trace.slot(x) = problem.x;
    trace.slot(q) = Q.rounded();
    trace.slot(k) = K.rounded();
    trace.slot(v) = V.rounded();
    trace.slot(q_heads) = Qh.rounded();
    trace.slot(k_heads) = Kh.rounded();
    trace.slot(v_heads) = Vh.rounded();
    trace.slot(scores) = S.rounded();
    trace.slot(scaled) = scaled_scores.rounded();
    trace.slot(masked) = S_masked.rounded();
    trace.slot(TensorId::weights) = A.rounded();
    trace.slot(weights_mean) = mean.rounded();
    trace.slot(head_out) = O.rounded();
    if (w.W_G != nullptr) {
        trace.slot(gate) = gates.rounded();
        trace.slot(head_out_gated) = passed.rounded();
    }
    trace.slot(concat) = joined.rounded();
    trace.slot(contributions) = C.rounded();
    trace.slot(output) = Y.rounded();
    return trace;
}

} // namespace headscope
