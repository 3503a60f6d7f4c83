#pragma once

#include "core/graph/operation.h"

#include <string>

namespace headscope::graph::ops {

// The rows of each head, (B, heads, T, width), in the first input of an operation: it has these axes already,
// or it has the columns of all heads side by side, (B, T, heads·width), and head h has the columns [h width,
// (h+1) width). The operations on queries and keys accept both.

/// The axes of the rows. Throws Error(input) for an input that has neither form.
Axes head_rows(const Call& call);
/// The cell of the input that holds number c = at[3] of a head's row.
Index head_row_cell(const Call& call, const Index& at);
/// The whole row of a head in the input.
ReadSpan head_row_span(const Call& call, const Index& at);
/// "q[:, h·dk : (h+1)·dk]", or "q_normed[h]"
std::string head_rows_formula(const Call& call, const Names& names);
/// "q.unflatten(-1, (H, dk)).transpose(1, 2)", or "q_normed"
std::string head_rows_python(const Call& call, const Names& names);

} // namespace headscope::graph::ops
