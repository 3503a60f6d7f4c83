#include "core/graph/ops/mlp/functions.h"

#include "core/base/in_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace headscope::graph::ops {

namespace {

double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

double gelu(double x) {
    return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2));
}

/// Hendrycks and Gimpel 2016, "Gaussian Error Linear Units", section 2.
double gelu_tanh(double x) {
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

struct FunctionRow {
    Function function;
    std::string_view name;
    double (*apply)(double x);
    std::string_view python; ///< $ stands for x
};
constexpr std::array<FunctionRow, function_count> functions{{
    {Function::gelu, "gelu", gelu, "torch.nn.functional.gelu($)"},
    {Function::gelu_tanh, "gelu_tanh", gelu_tanh, "torch.nn.functional.gelu($, approximate=\"tanh\")"},
    {Function::gelu_quick, "gelu_quick", [](double x) { return x * sigmoid(1.702 * x); },
     "$ * torch.sigmoid(1.702 * $)"},
    {Function::relu, "relu", [](double x) { return std::max(x, 0.0); }, "torch.relu($)"},
    {Function::relu6, "relu6", [](double x) { return std::clamp(x, 0.0, 6.0); },
     "torch.nn.functional.relu6($)"},
    {Function::relu_square, "relu_square", [](double x) { return std::max(x, 0.0) * std::max(x, 0.0); },
     "torch.relu($).square()"},
    {Function::leaky_relu, "leaky_relu", [](double x) { return std::max(x, 0.01 * x); },
     "torch.nn.functional.leaky_relu($, 0.01)"},
    {Function::silu, "silu", [](double x) { return x * sigmoid(x); }, "torch.nn.functional.silu($)"},
    {Function::mish, "mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); },
     "torch.nn.functional.mish($)"},
    {Function::tanh, "tanh", [](double x) { return std::tanh(x); }, "torch.tanh($)"},
    {Function::sigmoid, "sigmoid", sigmoid, "torch.sigmoid($)"},
    {Function::identity, "identity", [](double x) { return x; }, "$"},
}};
static_assert(is_in_enum_order(functions, &FunctionRow::function));

const FunctionRow& info_of(Function function) {
    return functions[static_cast<std::size_t>(function)];
}

} // namespace

double apply(Function function, double x) {
    return info_of(function).apply(x);
}

std::string_view function_name(Function function) {
    return info_of(function).name;
}

std::string function_python(Function function, const std::string& x) {
    std::string text;
    for (const char c : info_of(function).python)
        text += c == '$' ? x : std::string(1, c);
    return text;
}

} // namespace headscope::graph::ops
