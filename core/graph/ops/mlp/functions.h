#pragma once

#include "core/graph/attributes.h"

#include <string>
#include <string_view>

namespace headscope::graph::ops {

// The activation functions of activation and gate.

double apply(Function function, double x);
/// "gelu"
std::string_view function_name(Function function);
/// The function of a variable of Python.
std::string function_python(Function function, const std::string& x);

} // namespace headscope::graph::ops
