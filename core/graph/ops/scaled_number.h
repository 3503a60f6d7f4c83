#pragma once

#include "core/graph/operation.h"

#include <string>
#include <vector>

namespace headscope::graph::ops {

// The part that scale and soft_cap share: x times a factor, divided by √dk and a temperature.

Axes scale_axes(const Call& call);
std::vector<ReadSpan> scale_reads(const Call& call, const Index& at);
double scaled_number(const Call& call, const Index& at);
/// The number that multiplies x.
double scale_coefficient(const Call& call);
/// "scores ÷ √dk"
std::string scale_formula(const Call& call, const Names& names);
/// "scores / math.sqrt(dk)"
std::string scale_python(const Call& call, const Names& names);
Arithmetic scale_arithmetic(const Call& call, const Index& at);

} // namespace headscope::graph::ops
