#include "tests/conformance/generate.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace headscope {

TensorPtr Numbers::tensor(const Shape& shape, float scale) {
    Tensor out(shape);
    for (float& v : out.values())
        v = real() * scale;
    return std::make_shared<const Tensor>(std::move(out));
}

TensorPtr Numbers::whole_tensor(const Shape& shape, float scale) {
    Tensor out(shape);
    for (float& v : out.values())
        v = static_cast<float>(whole(-2, 2)) * scale;
    return std::make_shared<const Tensor>(std::move(out));
}

BoolTensorPtr Numbers::bools(const Shape& shape, int percent) {
    BoolTensor out{shape, {}};
    for (std::int64_t i = 0; i < shape.count(); ++i)
        out.values.push_back(chance(percent) ? 1 : 0);
    return std::make_shared<const BoolTensor>(std::move(out));
}

Problem generate(const Dims& dims, const Features& features, Numbers& numbers, bool cross) {
    Problem problem;
    problem.dims = dims;
    const auto make = [&](TensorId id, float scale) {
        const Shape shape = tensor_info(id).shape(dims);
        return features.whole_numbers ? numbers.whole_tensor(shape, 1.0F) : numbers.tensor(shape, scale);
    };
    const auto token_scale = features.whole_numbers ? std::ldexp(1.0F, features.exponent) : 2.0F;
    const auto tokens = [&](TensorId id) {
        const Shape shape = tensor_info(id).shape(dims);
        return features.whole_numbers ? numbers.whole_tensor(shape, token_scale)
                                      : numbers.tensor(shape, token_scale);
    };
    const auto width = [](std::int64_t extent) { return 1.5F / std::sqrt(static_cast<float>(extent)); };
    problem.x = tokens(TensorId::x);
    if (cross || dims.Tq != dims.Tk || dims.D != dims.Dkv)
        problem.x_kv = tokens(TensorId::x_kv);
    Weights& w = problem.weights;
    w.W_Q = make(TensorId::W_Q, width(dims.D));
    w.W_K = make(TensorId::W_K, width(dims.Dkv));
    w.W_V = make(TensorId::W_V, width(dims.Dkv));
    w.W_O = make(TensorId::W_O, width(dims.H * dims.dv));
    if (features.biases) {
        w.b_Q = make(TensorId::b_Q, 0.5F);
        w.b_K = make(TensorId::b_K, 0.5F);
        w.b_V = make(TensorId::b_V, 0.5F);
        w.b_O = make(TensorId::b_O, 0.5F);
    }
    if (features.gains)
        for (std::int64_t h = 0; h < dims.H; ++h)
            problem.gains.push_back(h == 1 ? 0.0F : 1.5F * numbers.real());
    problem.temperature = features.temperature;
    problem.qkv_limit = features.qkv_limit;
    if (features.joint_norm) {
        w.q_norm_all = make(TensorId::q_norm_all, 1);
        w.k_norm_all = make(TensorId::k_norm_all, 1);
        problem.norm_eps = 0.01F;
    }
    if (features.value_norm) {
        w.v_norm = make(TensorId::v_norm, 1);
        problem.norm_eps = 0.01F;
    }
    if (features.query_scale)
        problem.query_scale = make(TensorId::query_scale, 2);
    if (features.sink)
        w.sink = make(TensorId::sink, 3);
    if (features.gate) {
        w.W_G = make(TensorId::W_G, 2 * width(dims.D));
        if (features.biases)
            w.b_G = make(TensorId::b_G, 0.5F);
    }
    if (features.relative) {
        problem.relative = features.relative;
        problem.rel_positions = make(TensorId::rel_positions, 1);
        const std::pair<bool, std::array<TensorId, 2>> terms[] = {
            {features.relative->c2p, {TensorId::W_KR, TensorId::b_KR}},
            {features.relative->p2c, {TensorId::W_QR, TensorId::b_QR}}};
        for (const auto& [is_there, weights] : terms)
            if (is_there && features.own_positions) {
                *problem.input_slot(weights[0]) = make(weights[0], width(dims.D));
                if (features.biases)
                    *problem.input_slot(weights[1]) = make(weights[1], 0.5F);
            }
    }
    return problem;
}

MaskRule generate_rule(int kind, const Dims& d, Numbers& numbers) {
    const auto additive = [&](const Shape& shape) {
        Tensor add(shape);
        for (float& v : add.values())
            v = numbers.chance(25) ? -std::numeric_limits<float>::infinity() : 3.0F * numbers.real();
        return AdditiveMask{std::make_shared<const Tensor>(std::move(add))};
    };
    switch (kind) {
    case 0:
        return CausalMask{};
    case 1:
        return KeyPaddingMask{numbers.bools({numbers.chance(50) ? d.B : 1, d.Tk}, 70)};
    case 2:
        return SlidingWindowCausalMask{numbers.whole(1, d.Tk + 1)};
    case 3:
        return SlidingWindowSymmetricMask{numbers.whole(0, d.Tk)};
    case 4:
        return ExplicitMask{numbers.bools({d.Tq, d.Tk}, 60)};
    case 5:
        return ExplicitMask{numbers.bools({d.B, 1, d.Tk}, 60)};
    case 6:
        return ExplicitMask{numbers.bools({d.B, d.H, d.Tq, d.Tk}, 60)};
    case 7:
        return additive({d.H, d.Tq, d.Tk});
    case 9:
        return ChunkedCausalMask{numbers.whole(1, d.Tk + 1)};
    default:
        return additive({d.B, 1, 1, d.Tk});
    }
}

} // namespace headscope
