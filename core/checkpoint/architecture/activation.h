#pragma once

#include <cstdint>

namespace headscope::checkpoint {

enum class Activation : std::uint8_t {
    gelu,       ///< x Phi(x), by the error function
    gelu_tanh,  ///< its approximation by tanh: gelu_new, gelu_pytorch_tanh
    gelu_quick, ///< x sigmoid(1.702 x)
    relu,
    relu6, ///< relu, at most 6
    relu_square,
    leaky_relu, ///< 0.01 x below 0
    silu,       ///< x sigmoid(x)
    mish,       ///< x tanh(ln(1 + exp(x)))
    tanh,
    sigmoid,
    linear ///< x
};

} // namespace headscope::checkpoint
